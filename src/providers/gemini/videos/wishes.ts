/** What a client wants of a video beside its words, read alike for all of Google's video models. */
import type { VideoRequest } from '../../../wire/video.ts'
import { readDataUrl, type InlineData } from '../../data-url.ts'
import { unsupportedValue } from '../../unsupported.ts'
import { readWishes, withShape, type Picture, type Settings } from '../../videos/wishes.ts'

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
  const shape = request.size === undefined ? {} : shapeOf(request, request.size)
  return { ...(image && { image }), parameters: withShape(request, settings, shape) }
}

function pictureOf({ model }: VideoRequest, { field, url }: Picture): InlineData {
  const picture = readDataUrl(url)
  if (picture?.mediaType.startsWith('image/')) return picture
  const why = 'send the picture as a data URL, such as "data:image/png;base64,…".'
  throw unsupportedValue({ publicModel: model }, field, why)
}

const resolutions = new Map([
  [360, '360p'],
  [720, '720p'],
  [1080, '1080p'],
  [2160, '4k'],
])

/** `1280x720` → 16:9 in 720p. */
function shapeOf({ model }: VideoRequest, size: string): { aspectRatio: string; resolution: string } {
  const [width = 0, height = 0] = size.split('x').map(Number)
  const aspectRatio = width * 9 === height * 16 ? '16:9' : width * 16 === height * 9 ? '9:16' : undefined
  const resolution = resolutions.get(Math.min(width, height))
  if (aspectRatio !== undefined && resolution !== undefined) return { aspectRatio, resolution }
  const why = 'it must be 1280x720, 1920x1080 or 3840x2160, or one of these upright.'
  throw unsupportedValue({ publicModel: model }, 'size', why)
}
