/**
 * Runway. Source: its API reference, version 2024-11-06 (text_to_video, image_to_video, tasks), as its client has it. A size is a
 * `ratio` of pixels there.
 */
import type { VideoRequest } from '../../wire/video.ts'
import { itemsOf } from '../../wire/json.ts'
import { unsupportedValue } from '../unsupported.ts'
import type { VideoAbilities } from '../video.ts'
import { ratioOf } from './aspect-ratio.ts'
import type { VideoDialect } from './dialect.ts'
import { pictureUrl } from './picture.ts'
import { endedStatus, nonEmptyText, stateOf } from './states.ts'
import { abilitiesOf, readVideoOptions, type Setting } from './video-options.ts'

export const runwayVersion = '2024-11-06'

const kinds = {
  ratio: 'string',
  aspectRatio: 'string',
  resolution: 'string',
  seed: 'number',
  audio: 'boolean',
} as const

export const runwayVideos: VideoDialect = {
  submit: 'none',
  sized: true,
  start({ request, model }) {
    const { settings, picture } = readVideoOptions(request, kinds)
    const { ratio, aspectRatio, resolution, ...rest } = settings
    const size = sizeOf(request, { ratio, aspectRatio, resolution })
    const body = {
      ...rest,
      model,
      promptText: request.prompt,
      duration: request.duration,
      ratio: size.replace('x', ':'),
    }
    if (picture === undefined) return { path: '/text_to_video', body }
    return { path: '/image_to_video', body: { ...body, promptImage: pictureUrl(request, picture, true) } }
  },
  idOf: ({ id }) => nonEmptyText(id),
  check: (id) => ({ method: 'GET', path: `/tasks/${id}` }),
  statusOf({ status, output, failureCode, progress }) {
    const [url] = itemsOf(output)
    // Such as `SAFETY.INPUT.TEXT`.
    const percent = typeof progress === 'number' ? progress * 100 : undefined
    return endedStatus(stateOf(status, url !== undefined), url, failureCode ?? status, percent)
  },
  cancel: (id) => ({ method: 'DELETE', path: `/tasks/${id}` }),
  limits: runwayLimits,
}

/** The size in pixels. Throws a 400 for a ratio or a resolution that contradicts it, or that would choose it. */
function sizeOf({ model, size }: VideoRequest, asked: Readonly<Record<string, Setting | undefined>>): string {
  for (const [name, value] of Object.entries(asked)) {
    if (value === undefined) continue
    const [pixels] = /^\d+(?=p$)/.exec(String(value)) ?? []
    const sides = size?.split('x').map(Number) ?? []
    const agrees =
      name === 'resolution'
        ? Number(pixels) === Math.min(...sides) || value === size
        : size !== undefined && ratioOf(size, [String(value)]) !== undefined
    if (agrees) continue
    const field = name === 'aspectRatio' ? 'aspect_ratio' : name
    throw unsupportedValue({ publicModel: model }, field, size === undefined ? 'send "size".' : `the size is ${size}.`)
  }
  return size ?? '1280x720'
}

function runwayLimits(model: string): VideoAbilities {
  const sizes = ['1280x720', '720x1280']
  const read = abilitiesOf(kinds)
  if (!model.startsWith('veo')) return { durations: [5, 10], sizes, ...read }
  return { durations: model === 'veo3' ? [8] : [4, 6, 8], sizes: [...sizes, '1920x1080', '1080x1920'], ...read }
}
