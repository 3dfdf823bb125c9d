/**
 * The dialects. Sources: OpenAI's OpenAPI document (Video), the specification of this service, and the published video
 * clients of xAI and ByteDance in the AI SDK.
 */
import type { VideoRequest } from '../../wire/video.ts'
import type { VideoStatus } from '../video.ts'
import type { Answer, VideoDialect } from './dialect.ts'
import { failedStatus, progressOf, stateOf, textOf } from './states.ts'

/** OpenAI's `/v1/videos`: the result is fetched through the API, with its key. */
export const openaiVideos: VideoDialect = {
  submit: 'none',
  start: ({ request, model }) => {
    const { duration, model: _, ...rest } = request
    const { input_reference: picture } = rest
    const named = typeof picture === 'string' && { input_reference: { image_url: picture } }
    return { path: '/videos', body: { ...rest, ...named, model, seconds: String(duration) } }
  },
  idOf: ({ id }) => textOf(id),
  check: (id) => ({ method: 'GET', path: `/videos/${id}` }),
  statusOf: ({ status, progress, error }) => {
    const state = stateOf(status, false)
    if (state === 'failed') return failedStatus(error ?? status)
    return state === 'completed' ? { state } : { state, ...progressOf(progress) }
  },
  cancel: (id) => ({ method: 'DELETE', path: `/videos/${id}` }),
  content: (id) => ({ method: 'GET', path: `/videos/${id}/content` }),
}

/** `/v1/videos/generations` as this service speaks it, so that one gateway can stand behind another. */
export const gatewayVideos: VideoDialect = {
  submit: 'token',
  start: ({ request, model }) => ({ path: '/videos/generations', body: { ...request, model, async: true } }),
  idOf: ({ id, task_id: taskId }) => textOf(id) ?? textOf(taskId),
  check: (id) => ({ method: 'GET', path: `/videos/generations/${id}` }),
  statusOf: ({ status, progress, error, video_url: url }) =>
    ended(stateOf(status, url !== undefined), url, error, progress),
}

/** xAI: the same path for the submission, another one for the poll, which answers 202 while there is no video. */
export const xaiVideos: VideoDialect = {
  submit: 'none',
  start: ({ request, model }) => {
    const { input_reference: _, ...rest } = request
    const url = pictureOf(request)
    const picture = url === undefined ? {} : { image: { url } }
    return { path: '/videos/generations', body: { ...picture, ...rest, model } }
  },
  idOf: ({ request_id: id }) => textOf(id),
  check: (id) => ({ method: 'GET', path: `/videos/${id}` }),
  statusOf: ({ status, video, error, progress }, httpStatus) => {
    const { url, duration, respect_moderation: clean } = Object(video) as Answer
    if (clean === false) return failedStatus('moderation')
    if (httpStatus === 202 && status === undefined) return { state: 'processing' }
    const told = ended(stateOf(status, url !== undefined), url, error ?? status, progress)
    return told.state === 'completed' && typeof duration === 'number' ? { ...told, seconds: duration } : told
  },
}

/** Seedance, of Volcengine and BytePlus: the prompt is a list of parts, the job a task. */
export const seedanceVideos: VideoDialect = {
  submit: 'none',
  start: ({ request, model }) => {
    const { prompt, model: _, image_url: image = pictureOf(request), input_reference: __, size, ...rest } = request
    const parts = [
      { type: 'text', text: prompt },
      ...(image === undefined ? [] : [{ type: 'image_url', image_url: { url: image } }]),
    ]
    return { path: '/contents/generations/tasks', body: { ...rest, model, content: parts, ...ratioOf(size) } }
  },
  idOf: ({ id }) => textOf(id),
  check: (id) => ({ method: 'GET', path: `/contents/generations/tasks/${id}` }),
  statusOf: ({ status, content, error }) => {
    const { video_url: url } = Object(content) as Answer
    return ended(stateOf(status, url !== undefined), url, error ?? status, undefined)
  },
  cancel: (id) => ({ method: 'DELETE', path: `/contents/generations/tasks/${id}` }),
}

/** The URL of the picture to begin with. */
function pictureOf({ input_reference: picture }: VideoRequest): unknown {
  return typeof picture === 'string' ? picture : (Object(picture) as Answer)['image_url']
}

function ended(state: ReturnType<typeof stateOf>, url: unknown, error: unknown, progress: unknown): VideoStatus {
  if (state === 'failed') return failedStatus(error)
  if (state !== 'completed') return { state, ...progressOf(progress) }
  const found = textOf(url)
  return found === undefined ? failedStatus('no video') : { state, url: found }
}

/** `1280x720` → `16:9`: Seedance takes ratios. */
function ratioOf(size: string | undefined): { ratio?: string } {
  const [width, height] = (size ?? '').split('x').map(Number)
  if (!width || !height) return {}
  return { ratio: width > height ? '16:9' : width < height ? '9:16' : '1:1' }
}
