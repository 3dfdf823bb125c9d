/** Converts a size in pixels to an aspect ratio and a named resolution, for vendors that use those. */
import type { VideoRequest } from '../../wire/video.ts'
import { unsupportedValue } from '../unsupported.ts'
import type { VideoShapes } from '../video.ts'

export interface Shape {
  /** Such as `16:9`. */
  readonly aspectRatio: string
  /** Such as `720p`. */
  readonly resolution: string
}

/** Undefined for a request without a size. Throws a 400 for a size that the vendor does not support. */
export function shapeOf({ model, size }: VideoRequest, { ratios, resolutions }: VideoShapes): Shape | undefined {
  if (size === undefined) return undefined
  const [width = 0, height = 0] = size.split('x').map(Number)
  const aspectRatio = ratioOf(size, ratios)
  const resolution = resolutions.get(Math.min(width, height))
  if (aspectRatio !== undefined && resolution !== undefined) return { aspectRatio, resolution }
  const sides = [...resolutions.keys()].join(', ')
  const why = `its ratio must be one of ${ratios.join(', ')}, and its shorter side one of ${sides} pixels.`
  throw unsupportedValue({ publicModel: model }, 'size', why)
}

/** The ratios with a name of their own. */
export const usualRatios: readonly string[] = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21']

/** The ratio of a size, if it is one of these. Approximate, because 480p at 16:9 has 854 pixels instead of 853⅓. */
export function ratioOf(size: string, ratios: readonly string[]): string | undefined {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return ratios.find((ratio) => {
    const [across = 0, down = 0] = ratio.split(':').map(Number)
    return Math.abs(Math.log((width / height) * (down / across))) < 0.025
  })
}
