/**
 * The video APIs of vendors. Sources: OpenAI's OpenAPI document (Video), the specification of this service, and the video
 * clients of xAI and ByteDance in the AI SDK.
 */
import type { VideoRequest } from '../../wire/video.ts'
import { unsupportedValue } from '../unsupported.ts'
import type { VideoShapes } from '../video.ts'
import type { VideoDialect } from './dialect.ts'
import { shapeOf } from './aspect-ratio.ts'
import { endedStatus, failedStatus, progressOf, stateOf, nonEmptyText } from './states.ts'
import { withShape } from './video-options.ts'
import type { Fields } from '../../wire/json.ts'

/** OpenAI's `/v1/videos`: the result is downloaded through the API, with its key. */
export const openaiVideos: VideoDialect = {
  submit: 'none',
  start: ({ request, model }) => {
    const { duration, model: _, ...rest } = request
    const { input_reference: picture } = rest
    const reference = typeof picture === 'string' && { input_reference: { image_url: picture } }
    return { path: '/videos', body: { ...rest, ...reference, model, seconds: String(duration) } }
  },
  idOf: ({ id }) => nonEmptyText(id),
  check: (id) => ({ method: 'GET', path: `/videos/${id}` }),
  statusOf: ({ status, progress, error }) => {
    const state = stateOf(status, false)
    if (state === 'failed') return failedStatus(error ?? status)
    return state === 'completed' ? { state } : { state, ...progressOf(progress) }
  },
  cancel: (id) => ({ method: 'DELETE', path: `/videos/${id}` }),
  content: (id) => ({ method: 'GET', path: `/videos/${id}/content` }),
  limits: () => ({ frames: ['first_frame'] }),
}

/** This gateway's own `/v1/videos/generations`, so that one gateway can use another. */
export const gatewayVideos: VideoDialect = {
  submit: 'token',
  start: ({ request, model }) => ({ path: '/videos/generations', body: { ...request, model, async: true } }),
  idOf: ({ id, task_id: taskId }) => nonEmptyText(id) ?? nonEmptyText(taskId),
  check: (id) => ({ method: 'GET', path: `/videos/generations/${id}` }),
  statusOf: ({ status, progress, error, video_url: url }) =>
    endedStatus(stateOf(status, url !== undefined), url, error, progress),
  limits: () => ({}),
}

/** xAI: as the gateway's, except for polling, which has another path and returns 202 until the video is finished. */
export const xaiVideos: VideoDialect = {
  submit: 'none',
  sized: true,
  start: ({ request, model }) => {
    const { input_reference: _, size: __, ...rest } = request
    const url = pictureOf(request)
    const picture = url === undefined ? {} : { image: { url } }
    const shape = consistentShape(request, 'aspect_ratio', xaiShapes)
    return { path: '/videos/generations', body: { ...picture, ...rest, ...shape, model } }
  },
  idOf: ({ request_id: id }) => nonEmptyText(id),
  check: (id) => ({ method: 'GET', path: `/videos/${id}` }),
  statusOf: ({ status, video, error, progress }, httpStatus) => {
    const { url, duration, respect_moderation: clean } = Object(video) as Fields
    if (clean === false) return failedStatus('moderation')
    if (httpStatus === 202 && status === undefined) return { state: 'processing' }
    const result = endedStatus(stateOf(status, url !== undefined), url, error ?? status, progress)
    return result.state === 'completed' && typeof duration === 'number' ? { ...result, seconds: duration } : result
  },
  limits: () => ({ shapes: xaiShapes, frames: ['first_frame'] }),
}

/** Seedance on Volcengine and BytePlus: the prompt is a list of parts. */
export const seedanceVideos: VideoDialect = {
  submit: 'none',
  sized: true,
  start: ({ request, model }) => {
    const { prompt, model: _, image_url: image = pictureOf(request), input_reference: __, size: ___, ...rest } = request
    refuseCommands(request)
    const shape = consistentShape(request, 'ratio', seedanceShapes)
    const parts = [
      { type: 'text', text: prompt },
      ...(image === undefined ? [] : [{ type: 'image_url', image_url: { url: image } }]),
    ]
    return { path: '/contents/generations/tasks', body: { ...rest, model, content: parts, ...shape } }
  },
  idOf: ({ id }) => nonEmptyText(id),
  check: (id) => ({ method: 'GET', path: `/contents/generations/tasks/${id}` }),
  statusOf: ({ status, content, error }) => {
    const { video_url: url } = Object(content) as Fields
    return endedStatus(stateOf(status, url !== undefined), url, error ?? status, undefined)
  },
  cancel: (id) => ({ method: 'DELETE', path: `/contents/generations/tasks/${id}` }),
  limits: () => ({ shapes: seedanceShapes, frames: ['first_frame'] }),
}

/** The URL of the first frame. */
function pictureOf({ input_reference: picture }: VideoRequest): unknown {
  return typeof picture === 'string' ? picture : (Object(picture) as Fields)['image_url']
}

const usualResolutions = new Map([
  [480, '480p'],
  [720, '720p'],
  [1080, '1080p'],
])

const xaiShapes: VideoShapes = {
  ratios: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'],
  resolutions: usualResolutions,
}

const seedanceShapes: VideoShapes = {
  ratios: ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'],
  resolutions: usualResolutions,
}

/** The ratio and resolution of the size. Throws a 400 if the request has a ratio or resolution that contradicts it. */
function consistentShape(request: VideoRequest, ratioField: string, rules: VideoShapes): Record<string, string> {
  const found = shapeOf(request, rules)
  if (found === undefined) return {}
  const shape = { [ratioField]: found.aspectRatio, resolution: found.resolution }
  // A resolution in pixels equals the size, because the size was read from it.
  const given = Object.entries(request).filter(([, value]) => value !== request.size && value !== null)
  withShape(request, Object.fromEntries(given), shape)
  return shape
}

/** Commands that the vendor executes in the prompt. Some of them cost more than the request's fields. */
const command =
  /(?:^|\s)--(?:rs|resolution|rt|ratio|dur|duration|frames|fps|framespersecond|seed|cf|camerafixed|wm|watermark)(?=[\s=]|$)/i

function refuseCommands({ model, prompt }: VideoRequest): void {
  const [found] = command.exec(prompt) ?? []
  if (found === undefined) return
  const why = `remove "${found.trim()}" and send it as a field of the request.`
  throw unsupportedValue({ publicModel: model }, 'prompt', why)
}
