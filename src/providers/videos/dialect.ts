/** Vendors of videos over HTTP differ in paths, fields and words. A dialect says how; the rest is the same for all. */
import { GatewayError } from '../../errors.ts'
import type { Json } from '../../wire/json.ts'
import { readJsonObject, requireSuccess } from '../answer.ts'
import type { Client, VendorRequest } from '../client.ts'
import { unavailable } from '../failure.ts'
import type { VideoCall, VideoContent, VideoProvider, VideoStatus } from '../video.ts'

type Ask = Omit<VendorRequest, 'signal' | 'body'> & { readonly body?: object }

export interface VideoDialect {
  /** See `VideoProvider.submit`. */
  readonly submit: VideoProvider['submit']
  readonly start: (call: VideoCall) => Ask
  /** The job's id in the answer to a submission; undefined where it holds none. */
  readonly idOf: (answer: Answer) => string | undefined
  /** `id` is encoded already. */
  readonly check: (id: string) => Ask
  readonly statusOf: (answer: Answer, httpStatus: number) => VideoStatus
  readonly cancel?: (id: string) => Ask
  readonly content?: (id: string) => Ask
}

export type Answer = Readonly<Record<string, unknown>>

const answerBytes = 1024 * 1024

export function httpVideo(open: () => Client, dialect: VideoDialect): VideoProvider {
  const send = async (ask: Ask, signal: AbortSignal) => {
    const { body, headers, ...rest } = ask
    const sent = body && {
      body: Buffer.from(JSON.stringify(body)),
      headers: { 'content-type': 'application/json', ...headers },
    }
    return open().send({ ...rest, ...(headers && { headers }), ...sent, signal })
  }
  const { cancel, content } = dialect
  return {
    submit: dialect.submit,
    async start(call) {
      const ask = dialect.start(call)
      const headers = dialect.submit === 'token' ? { ...ask.headers, 'idempotency-key': call.token } : ask.headers
      const transfer = await send({ ...ask, ...(headers && { headers }) }, call.signal)
      if (transfer.status !== 202) await requireSuccess(transfer)
      const { value } = await readJsonObject(transfer, answerBytes)
      const id = dialect.idOf(value as Answer)
      if (id === undefined || id === '') throw unavailable('next', new Error('the vendor gave the job no id'))
      return { id }
    },
    async check(operation, { signal }) {
      const transfer = await send(dialect.check(idIn(operation)), signal)
      // A job that is gone is not the same as a vendor that cannot be asked.
      if (transfer.status === 404 || transfer.status === 410) throw transfer.fail(new GatewayError('not_found'))
      if (transfer.status !== 202) await requireSuccess(transfer)
      const { value } = await readJsonObject(transfer, answerBytes)
      return dialect.statusOf(value as Answer, transfer.status)
    },
    ...(cancel && {
      async cancel(operation: Json, { signal }: { signal: AbortSignal }) {
        const transfer = await send(cancel(idIn(operation)), signal)
        transfer.fail(new Error('the answer is of no interest'))
      },
    }),
    ...(content && {
      async content(
        operation: Json,
        { signal, range }: { signal: AbortSignal; range?: string },
      ): Promise<VideoContent> {
        const ask = content(idIn(operation))
        const transfer = await send({ ...ask, headers: { ...ask.headers, ...(range && { range }) } }, signal)
        if (transfer.status === 404 || transfer.status === 410) throw transfer.fail(new GatewayError('not_found'))
        if (transfer.status !== 206 && transfer.status !== 416) await requireSuccess(transfer)
        const headers: Record<string, string> = {}
        for (const name of ['content-type', 'content-length', 'content-range', 'accept-ranges']) {
          const value = transfer.header(name)
          if (value !== undefined) headers[name] = value
        }
        return { status: transfer.status, headers, body: transfer }
      },
    }),
  }
}

/** Ids come from the vendor and go into its URLs: never as more than one segment. */
function idIn(operation: Json): string {
  const { id } = Object(operation) as { id?: unknown }
  if (typeof id !== 'string') throw new GatewayError('not_found')
  return encodeURIComponent(id)
}

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
  unknown: 'failed',
}

/** Why a vendor failed, in our own words: the reasons that a client can do something about. */
export function failedStatus(error: unknown): VideoStatus {
  const said = JSON.stringify(error ?? '').toLowerCase()
  if (/moderat|safety|policy|sensitive|violat|inappropriate|prohibited/.test(said)) {
    return {
      state: 'failed',
      code: 'content_policy_violation',
      error: 'The video was refused by the safety system. Change the prompt.',
    }
  }
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
