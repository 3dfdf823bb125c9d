/** Reads the options of a video request, for all of Google's video models. */
import type { VideoRequest } from '../../../wire/video.ts'
import type { VideoAbilities, VideoShapes } from '../../video.ts'
import { readDataUrl, type InlineData } from '../../data-url.ts'
import { unsupportedValue } from '../../unsupported.ts'
import { shapeOf } from '../../videos/aspect-ratio.ts'
import { abilitiesOf, readVideoOptions, withShape, type Picture, type Settings } from '../../videos/video-options.ts'

/** Google's name and type of each option. */
const kinds = {
  aspectRatio: 'string',
  resolution: 'string',
  negativePrompt: 'string',
  personGeneration: 'string',
  seed: 'number',
  generateAudio: 'boolean',
} as const

export type Parameter = keyof typeof kinds

export interface GoogleVideoOptions {
  readonly image: InlineData | undefined
  readonly parameters: Settings<Parameter>
}

/** Throws a 400 for every option that is not `supported`, except for those that the host ignores. */
export function videoOptionsOf(
  request: VideoRequest,
  supported: readonly Parameter[],
  ignored?: readonly string[],
): GoogleVideoOptions {
  const { settings, picture } = readVideoOptions(request, kindsOf(supported), ignored)
  const image = picture && pictureOf(request, picture)
  return { image, parameters: withShape(request, settings, { ...shapeOf(request, shapes) }) }
}

/** What `videoOptionsOf` accepts. */
export function abilitiesWith(supported: readonly Parameter[]): VideoAbilities {
  return abilitiesOf(kindsOf(supported), shapes)
}

function kindsOf(supported: readonly Parameter[]): typeof kinds {
  return Object.fromEntries(supported.map((name) => [name, kinds[name]])) as typeof kinds
}

function pictureOf({ model }: VideoRequest, { field, url }: Picture): InlineData {
  const picture = readDataUrl(url)
  if (picture?.mediaType.startsWith('image/')) return picture
  const why = 'send the image as a data URL, such as "data:image/png;base64,…".'
  throw unsupportedValue({ publicModel: model }, field, why)
}

/** Portrait or landscape; the resolutions are keyed by the pixels of the shorter side. */
const shapes: VideoShapes = {
  ratios: ['16:9', '9:16'],
  resolutions: new Map([
    [360, '360p'],
    [720, '720p'],
    [1080, '1080p'],
    [2160, '4k'],
  ]),
}
