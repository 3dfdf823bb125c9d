/** What vendors say of a job, and what it means. */
import type { VideoStatus } from '../video.ts'

/**
 * What a vendor's word means. A word that nobody has listed is an end if there is a video, a failure if it sounds like
 * one, and work in progress otherwise: a task must not hang on a new word, nor fail for one.
 */
export function stateOf(word: unknown, hasVideo: boolean): 'pending' | 'processing' | 'completed' | 'failed' {
  const name = typeof word === 'string' ? word.toLowerCase() : ''
  const known = states[name]
  if (known !== undefined) return known
  if (hasVideo) return 'completed'
  return /fail|error|cancel|expire|reject|abort|moderat/.test(name) ? 'failed' : 'processing'
}

const states: Readonly<Record<string, 'pending' | 'processing' | 'completed' | 'failed'>> = {
  pending: 'pending',
  queued: 'pending',
  submitted: 'pending',
  created: 'pending',
  starting: 'pending',
  throttled: 'pending',
  in_queue: 'pending',
  processing: 'processing',
  in_progress: 'processing',
  running: 'processing',
  dreaming: 'processing',
  completed: 'completed',
  complete: 'completed',
  succeeded: 'completed',
  succeed: 'completed',
  success: 'completed',
  done: 'completed',
  ready: 'completed',
  failed: 'failed',
  fail: 'failed',
  failure: 'failed',
  cancelled: 'failed',
  canceled: 'failed',
  expired: 'failed',
  error: 'failed',
  incomplete: 'failed',
  budget_exceeded: 'failed',
  requires_action: 'failed',
  unknown: 'failed',
}

export const refusedStatus: VideoStatus = {
  state: 'failed',
  code: 'content_policy_violation',
  error: 'The video was refused by the safety system. Change the prompt.',
}

/** Whether a vendor speaks of its rules for content. */
export function isPolicy(said: string): boolean {
  return /moderat|safety|policy|sensitive|violat|inappropriate|prohibited|responsible ai/i.test(said)
}

/** Why a vendor failed, in our own words: the reasons that a client can do something about. */
export function failedStatus(error: unknown): VideoStatus {
  const said = JSON.stringify(error ?? '').toLowerCase()
  if (isPolicy(said)) return refusedStatus
  if (/cancel/.test(said)) return { state: 'failed', code: 'cancelled', error: 'The generation was cancelled.' }
  if (/expire/.test(said)) return { state: 'failed', code: 'expired', error: 'The generation took too long.' }
  return { state: 'failed', error: 'The generation failed. Change the prompt and submit it again.' }
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function progressOf(value: unknown): { progress?: number } {
  return typeof value === 'number' && value >= 0 && value <= 100 ? { progress: Math.round(value) } : {}
}
