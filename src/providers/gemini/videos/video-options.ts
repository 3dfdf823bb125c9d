/** What a client wants of a video beside its words, read alike for all of Google's video models. */
import type { VideoRequest } from '../../../wire/video.ts'
import { readDataUrl, type InlineData } from '../../data-url.ts'
import { unsupportedValue } from '../../unsupported.ts'
import { shapeOf, type ShapeRules } from '../../videos/shape.ts'
import { readWishes, withShape, type Picture, type Settings } from '../../videos/video-options.ts'

/** Google's own names for what a client may set, and what each takes. */
const kinds = {
  aspectRatio: 'string',
  resolution: 'string',
  negativePrompt: 'string',
  personGeneration: 'string',
  seed: 'number',
  generateAudio: 'boolean',
} as const

export type Parameter = keyof typeof kinds

export interface Wishes {
  readonly image?: InlineData
  readonly parameters: Settings<Parameter>
}

/** `taken`: what the model takes. Throws 400 for everything else, unless the host lets it fall. */
export function wishesIn(request: VideoRequest, taken: readonly Parameter[], ignored?: readonly string[]): Wishes {
  const own = Object.fromEntries(taken.map((name) => [name, kinds[name]])) as typeof kinds
  const { settings, picture } = readWishes(request, own, ignored)
  const image = picture && pictureOf(request, picture)
  return { ...(image && { image }), parameters: withShape(request, settings, { ...shapeOf(request, shapes) }) }
}

function pictureOf({ model }: VideoRequest, { field, url }: Picture): InlineData {
  const picture = readDataUrl(url)
  if (picture?.mediaType.startsWith('image/')) return picture
  const why = 'send the picture as a data URL, such as "data:image/png;base64,…".'
  throw unsupportedValue({ publicModel: model }, field, why)
}

/** Upright or across, by Google's names for the shorter side. */
const shapes: ShapeRules = {
  ratios: ['16:9', '9:16'],
  resolutions: new Map([
    [360, '360p'],
    [720, '720p'],
    [1080, '1080p'],
    [2160, '4k'],
  ]),
}
