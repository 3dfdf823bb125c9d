import { GatewayError } from '../../errors.ts'
import type { Reply } from '../../http/exchange.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { Observer } from '../../observe/observe.ts'
import type { Guard } from '../../records/guard.ts'
import type { IdempotencyStart, IdempotencyStore, IdempotencyVerdict, IdempotentAnswer } from './contract.ts'
import type { Cancellation } from '../../http/cancellation.ts'
import type { OpenCall } from '../../http/open-calls.ts'
import { EventNumbers, unknownEvent, positionAfter } from './event-ids.ts'
import { Recording } from './recording.ts'

export interface IdempotencySettings {
  readonly store: IdempotencyStore
  readonly guard: Guard
  readonly keepMs: number
  readonly leaseMs: number
  readonly maxBytes: number
  /** Milliseconds for which a stream whose client has gone is read on, so that the client can take it up. 0: none. */
  readonly resumeMs: number
  readonly observer: Observer
  /** What is kept of a receipt, as headers beside the response. Default: nothing, and failures that cost something are kept. */
  readonly headersOf?: (receipt: Receipt) => Readonly<Record<string, string>>
  /** Headers of the first response alone. Default: none. */
  readonly firstHeaders?: Readonly<Record<string, string>>
}

/** The outcome for requests that waited for this one; undefined if one of them must try again. */
export type KeyedOutcome = { readonly answer: IdempotentAnswer } | { readonly error: GatewayError } | undefined

/** A request with an `Idempotency-Key`: claims the key, and stores the response for replay. */
export class KeyedRequest {
  readonly #ended: () => void
  readonly #waiting = new Set<(outcome: KeyedOutcome) => void>()
  readonly #start: IdempotencyStart
  readonly #settings: IdempotencySettings
  #renewal: NodeJS.Timeout | undefined
  #renewing: Promise<unknown> | undefined
  #call: OpenCall | undefined
  #more: Readonly<Record<string, string>> | undefined
  #stream: { readonly recording: Recording; readonly head: Pick<Reply, 'status' | 'headers'> } | undefined

  /** `ended` is called once the store has the outcome. After that, `wait` must not be called. */
  constructor(start: IdempotencyStart, settings: IdempotencySettings, ended: () => void) {
    this.#start = start
    this.#settings = settings
    this.#ended = ended
  }

  get digest(): string {
    return this.#start.digest
  }

  /** Claims the key. If successful, renews its lease until the request ends. Rejects with a 503. */
  async claim(): Promise<IdempotencyVerdict> {
    const verdict = await this.#ask()
    if (verdict.outcome !== 'begun') return verdict
    this.#renewal = setInterval(() => this.#renew(), this.#start.leaseMs / 3)
    this.#renewal.unref()
    return verdict
  }

  /** Waits for the outcome. Rejects with a 499 if the client disconnects, and then keeps no reference to it. */
  wait(client: AbortSignal): Promise<KeyedOutcome> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: KeyedOutcome) => {
        client.removeEventListener('abort', disconnect)
        resolve(outcome)
      }
      const disconnect = () => {
        this.#waiting.delete(settle)
        reject(new GatewayError('client_closed', { cause: client.reason }))
      }
      if (client.aborted) return disconnect()
      client.addEventListener('abort', disconnect, { once: true })
      this.#waiting.add(settle)
    })
  }

  /** The call whose reply is kept, which goes on for whoever takes up its stream. */
  serves(call: OpenCall): void {
    this.#call = call
  }

  /** See `IdempotencySettings.resumeMs`. */
  get resumeMs(): number {
    return this.#settings.resumeMs
  }

  /** The receipt of the call, which comes before the end of the reply. */
  receives(receipt: Receipt): void {
    this.#more = this.#settings.headersOf?.(receipt)
  }

  /**
   * The rest of the stream after an event, for the client that has lost its connection; the former connection ends. Undefined if
   * there is no such stream, or not any more: then `wait` for the outcome.
   */
  resume(event: number, client: Cancellation): Reply | undefined {
    if (this.#stream === undefined || this.#call === undefined) return undefined
    const { recording, head } = this.#stream
    const body = recording.after(event)
    if (body === undefined) return undefined
    this.#call.follow(client)
    return { status: head.status, headers: { ...head.headers, 'idempotent-replayed': 'true' }, body }
  }

  /** Returns the key unused. */
  async giveBack(): Promise<void> {
    await this.#forget(undefined)
  }

  /** Ends a request that did not get the key. */
  yield(outcome: KeyedOutcome): void {
    this.#end(outcome)
  }

  /** Stores the reply and returns it. A streamed reply is recorded and stored at its end. */
  async keep(reply: Reply): Promise<Reply> {
    const { status, body } = reply
    const headers = this.#identified(reply)
    if (typeof body === 'string' || body instanceof Uint8Array) {
      const bytes = Buffer.from(body)
      await this.#finish({ status, headers, body: bytes })
      return this.#first(reply)
    }
    const { maxBytes, resumeMs } = this.#settings
    const isResumable = resumeMs > 0 && isEventStream(reply)
    const recording = new Recording(body, maxBytes, isResumable ? new EventNumbers() : undefined, (whole, bytes) => {
      if (!whole) void this.#forget(undefined)
      else if (bytes === undefined) void this.#finish(undefined)
      else void this.#finish({ status, headers: { ...headers, ...this.#more }, body: bytes })
    })
    if (isResumable) this.#stream = { recording, head: { status, headers } }
    return this.#first({ status, headers: reply.headers, body: recording.body })
  }

  #first(reply: Reply): Reply {
    const { firstHeaders } = this.#settings
    return firstHeaders === undefined ? reply : { ...reply, headers: { ...reply.headers, ...firstHeaders } }
  }

  /**
   * Ends a failed request. Its reply is stored only if the vendor may have started work that would be charged again;
   * after any other failure the next request can use the key.
   */
  async fail(thrown: unknown, reply: Reply): Promise<void> {
    const { status, body } = reply
    const headers = this.#identified(reply)
    const error = GatewayError.from(thrown)
    if (error.status >= 500 && error.shouldRetry === false && this.#settings.headersOf === undefined)
      await this.#finish({ status, headers, body: Buffer.from(body as string) })
    else await this.#forget(error.code === 'client_closed' ? undefined : { error })
  }

  /** The headers that are stored: with the id of this request, to which the responses that repeat it lead. */
  #identified({ headers }: Reply): Reply['headers'] {
    return { ...headers, ...this.#more, 'x-request-id': this.#start.attempt }
  }

  async #finish(answer: IdempotentAnswer | undefined): Promise<void> {
    const { store, keepMs, maxBytes } = this.#settings
    const kept = answer !== undefined && answer.body.length <= maxBytes ? answer : undefined
    // The lease is renewed until the store has the whole response, which may be large.
    await this.#update(() => store.finish({ ...this.#start, keepMs, ...(kept && { answer: kept }) }))
    await this.#stopRenewal()
    this.#end(kept === undefined ? { error: notKept() } : { answer: kept })
  }

  async #forget(outcome: KeyedOutcome): Promise<void> {
    // A renewal that arrives after `forget` would claim the key again.
    await this.#stopRenewal()
    await this.#update(() => this.#settings.store.forget(this.#start))
    this.#end(outcome)
  }

  /** Does not reject: if the store fails, the lease expires. */
  async #update(update: () => Promise<void> | void): Promise<void> {
    try {
      await this.#settings.guard.call(update)
    } catch (error) {
      this.#settings.observer.failure({ id: this.#start.attempt, error })
    }
  }

  /** Resolves when no renewal is scheduled or in progress. */
  async #stopRenewal(): Promise<void> {
    clearInterval(this.#renewal)
    await this.#renewing
  }

  #end(outcome: KeyedOutcome): void {
    this.#call = this.#stream = undefined
    this.#ended()
    for (const settle of this.#waiting) settle(outcome)
    this.#waiting.clear()
  }

  #renew(): void {
    this.#renewing ??= this.#ask().then(
      () => (this.#renewing = undefined),
      () => (this.#renewing = undefined),
    )
  }

  async #ask(): Promise<IdempotencyVerdict> {
    return this.#settings.guard.call(() => this.#settings.store.begin(this.#start))
  }
}

/**
 * The response to a replayed request. `x-request-id` is that of the first one. `event`: the last one of a stream that its client
 * has got. Throws 400 if the stream has no such event.
 */
export function replayed({ status, headers, body }: IdempotentAnswer, event: number = 0): Reply {
  const reply = { status, headers: { ...headers, 'idempotent-replayed': 'true' }, body }
  if (event === 0 || !isEventStream(reply)) return reply
  const position = positionAfter(body, event)
  if (position === undefined) throw unknownEvent(event)
  return { ...reply, body: body.subarray(position) }
}

function isEventStream({ headers }: Pick<Reply, 'headers'>): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true
}

export function streamLost(): GatewayError {
  return new GatewayError('conflict', {
    message:
      'The stream that "Last-Event-ID" belongs to was lost, or has ended with an error. Send the request without "Last-Event-ID" to run it again.',
    shouldRetry: false,
  })
}

export function anotherRequest(): GatewayError {
  return new GatewayError('conflict', {
    message: 'This "Idempotency-Key" was used for another request. Use a new key for a new request.',
    shouldRetry: false,
  })
}

export function inProgress(): GatewayError {
  return new GatewayError('conflict', {
    message: 'A request with this "Idempotency-Key" is in progress. Retry after it has ended.',
    shouldRetry: true,
    retryAfterMs: 1_000,
  })
}

export function notKept(): GatewayError {
  return new GatewayError('conflict', {
    message:
      'The request with this "Idempotency-Key" has completed, but its response was too large to be stored. Use a new key to send it again.',
    shouldRetry: false,
  })
}
