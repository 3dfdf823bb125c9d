/** Video tasks in the shapes of the specification and of xAI; for OpenAI's see `tasks/shape.ts`. */
import type { Reply } from '../../http/exchange.ts'
import { jsonReply } from '../../http/answers.ts'
import { openaiVideo } from '../../tasks/openai-video.ts'
import { isFinal, type StoredTask } from '../../tasks/task.ts'
import type { VideoTaskObject } from '../../wire/video.ts'

/** The poll interval in milliseconds that the specification advises for a video of `duration` seconds. */
export function pollMs(duration: number): number {
  return duration <= 10 ? 5_000 : 15_000
}

/** A reply about a task, with headers for the poll interval unless the task is finished. */
export function taskReply(task: StoredTask, body: object, status = 200): Reply {
  const reply = jsonReply(body, status)
  if (isFinal(task.data)) return reply
  const waitMs = pollMs(task.data.request.duration)
  const headers = { 'retry-after': String(waitMs / 1000), 'openai-poll-after-ms': String(waitMs) }
  return { ...reply, headers: { ...reply.headers, ...headers } }
}

/** The specification's shape. `contentUrl`: the gateway's download URL, for vendors whose own requires credentials. */
export function specificationShape(task: StoredTask, contentUrl: string): VideoTaskObject {
  const { state, request, progress, url, error } = task.data
  return {
    id: task.id,
    task_id: task.id,
    request_id: task.id,
    object: 'video.generation',
    model: request.model,
    status: state === 'submitting' ? 'pending' : state,
    created_at: seconds(task.createdAt),
    expires_at: seconds(task.expiresAt),
    ...(progress !== undefined && { progress }),
    ...(state === 'completed' && { video_url: url ?? contentUrl }),
    ...(state === 'failed' && { error: error?.message ?? 'The generation failed.' }),
  }
}

/** xAI's shape at `/v1/videos/{id}`: OpenAI's, with xAI's status values and the URL of the video. */
export function xaiShape(task: StoredTask, contentUrl: string): object {
  const { state, request, url, seconds: length = request.duration } = task.data
  const status = state === 'completed' ? 'done' : state === 'failed' ? 'failed' : 'pending'
  const video = { url: url ?? contentUrl, duration: length, respect_moderation: true }
  return { ...openaiVideo(task), request_id: task.id, status, ...(state === 'completed' && { video }) }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
