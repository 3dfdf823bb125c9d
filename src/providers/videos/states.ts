/** Translates vendors' states and errors of a video job. */
import { entryIn } from '../../wire/json.ts'
import type { VideoStatus } from '../video.ts'

/**
 * The state of a job. An unknown word means completed if there is a video, failed if it sounds like a failure, and
 * processing otherwise, so that a new state makes a task neither hang nor fail.
 */
export function stateOf(word: unknown, hasVideo: boolean): 'pending' | 'processing' | 'completed' | 'failed' {
  const name = typeof word === 'string' ? word.toLowerCase() : ''
  const known = entryIn(states, name)
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
  error: 'The safety system of the model rejected the video. Change the prompt.',
}

/** Whether an error message is about a vendor's content policy. */
export function isPolicy(message: string): boolean {
  return /moderat|safety|policy|sensitive|violat|inappropriate|prohibited|responsible ai/i.test(message)
}

/** The status for a vendor's error, in our own words: it distinguishes the reasons that a client can act on. */
export function failedStatus(error: unknown): VideoStatus {
  const text = JSON.stringify(error ?? '').toLowerCase()
  if (isPolicy(text)) return refusedStatus
  if (/cancel/.test(text)) return { state: 'failed', code: 'cancelled', error: 'The generation was cancelled.' }
  if (/expire/.test(text))
    return { state: 'failed', code: 'expired', error: 'The generation expired. Submit it again.' }
  return { state: 'failed', error: 'The generation failed. Change the prompt and submit it again.' }
}

/** The status of a job whose result is a URL. */
export function endedStatus(
  state: ReturnType<typeof stateOf>,
  url: unknown,
  error: unknown,
  progress: unknown,
): VideoStatus {
  if (state === 'failed') return failedStatus(error)
  if (state !== 'completed') return { state, ...progressOf(progress) }
  const found = nonEmptyText(url)
  return found === undefined ? failedStatus('no video') : { state, url: found }
}

export function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function progressOf(value: unknown): { progress?: number } {
  return typeof value === 'number' && value >= 0 && value <= 100 ? { progress: Math.round(value) } : {}
}
