/** A task as clients of the specification see it; `tasks/shape.ts` has it as OpenAI's clients do. */
import type { Reply } from '../../http/exchange.ts'
import { jsonReply } from '../../http/answers.ts'
import { openaiShape } from '../../tasks/shape.ts'
import { isFinal, type StoredTask } from '../../tasks/task.ts'
import type { VideoTaskObject } from '../../wire/video.ts'

/** When to ask again, as the specification advises: 5 s for videos of up to 10 s, 15 s for longer ones. */
export function pollMs(duration: number): number {
  return duration <= 10 ? 5_000 : 15_000
}

export function taskReply(task: StoredTask, body: object, status = 200): Reply {
  const reply = jsonReply(body, status)
  if (isFinal(task.data)) return reply
  const waitMs = pollMs(task.data.request.duration)
  const headers = { 'retry-after': String(waitMs / 1000), 'openai-poll-after-ms': String(waitMs) }
  return { ...reply, headers: { ...reply.headers, ...headers } }
}

/** `contentUrl`: where the gateway itself gives the video out, for vendors whose own URL needs credentials. */
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

/** What xAI's clients poll at `/v1/videos/{id}`: OpenAI's shape with their word for the end, and where the video is. */
export function xaiShape(task: StoredTask, contentUrl: string): object {
  const { state, request, url, seconds: made = request.duration } = task.data
  const status = state === 'completed' ? 'done' : state === 'failed' ? 'failed' : 'pending'
  const video = { url: url ?? contentUrl, duration: made, respect_moderation: true }
  return { ...openaiShape(task), request_id: task.id, status, ...(state === 'completed' && { video }) }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
