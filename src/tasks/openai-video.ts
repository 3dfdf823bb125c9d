import type { StoredTask } from './task.ts'

/** A task as OpenAI's `Video` object, for its clients and for webhooks. */
export function openaiVideo(task: StoredTask): Record<string, unknown> {
  const { state, request, progress = 0, error, finishedAt } = task.data
  const status = {
    submitting: 'queued',
    pending: 'queued',
    processing: 'in_progress',
    completed: 'completed',
    failed: 'failed',
  }
  return {
    id: task.id,
    object: 'video',
    model: request.model,
    status: status[state],
    progress,
    created_at: seconds(task.createdAt),
    completed_at: state === 'completed' && finishedAt !== undefined ? seconds(finishedAt) : null,
    expires_at: seconds(task.expiresAt),
    prompt: request.prompt,
    size: request.size ?? null,
    seconds: String(request.duration),
    remixed_from_video_id: null,
    error: error === undefined ? null : error,
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
