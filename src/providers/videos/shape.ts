/** What a size says to vendors that take the ratio of the sides and a resolution by name. */
import type { VideoRequest } from '../../wire/video.ts'
import { unsupportedValue } from '../unsupported.ts'

export interface Shape {
  /** Such as `16:9`. */
  readonly aspectRatio: string
  /** Such as `720p`. */
  readonly resolution: string
}

export interface ShapeRules {
  /** The ratios that the vendor takes. */
  readonly ratios: readonly string[]
  /** Its name for a resolution, by the pixels of the shorter side. */
  readonly resolutions: ReadonlyMap<number, string>
}

/** Undefined for a request without a size. Throws 400 for a size that the vendor has no name for. */
export function shapeOf({ model, size }: VideoRequest, { ratios, resolutions }: ShapeRules): Shape | undefined {
  if (size === undefined) return undefined
  const [width = 0, height = 0] = size.split('x').map(Number)
  const aspectRatio = ratioOf(size, ratios)
  const resolution = resolutions.get(Math.min(width, height))
  if (aspectRatio !== undefined && resolution !== undefined) return { aspectRatio, resolution }
  const why = `its sides must be as ${ratios.join(', ')}, the shorter one of ${[...resolutions.keys()].join(', ')} pixels.`
  throw unsupportedValue({ publicModel: model }, 'size', why)
}

/** The ratio of a size, where it is one of these: what is called 480p has 854 pixels for 853⅓. */
export function ratioOf(size: string, ratios: readonly string[]): string | undefined {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return ratios.find((ratio) => {
    const [across = 0, down = 0] = ratio.split(':').map(Number)
    return Math.abs(Math.log((width / height) * (down / across))) < 0.025
  })
}
