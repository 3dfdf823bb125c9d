/** The handling of a request with an `Idempotency-Key`, from its claim on the key to what is kept of it. */
import { GatewayError } from '../errors.ts'
import { refuse } from '../http/answers.ts'
import type { Reply } from '../http/exchange.ts'
import { publishFailure } from '../observe.ts'
import type { Guard } from '../store-access/guard.ts'
import type { IdempotencyStart, IdempotencyStore, IdempotencyVerdict, IdempotentAnswer } from './contract.ts'
import { recording } from './recording.ts'
import { notKept } from './refusals.ts'

export interface AttemptParts {
  readonly store: IdempotencyStore
  readonly guard: Guard
  readonly keepMs: number
  readonly maxBytes: number
}

/** What those get who have waited for it; undefined: nothing, somebody else has to try. */
export type Ending = { readonly reply: Reply } | { readonly error: GatewayError } | undefined

export class Attempt {
  readonly #over: () => void
  readonly #waiting = new Set<(ending: Ending) => void>()
  readonly #start: IdempotencyStart
  readonly #parts: AttemptParts
  #renewal: NodeJS.Timeout | undefined
  #renewing: Promise<unknown> | undefined

  /** `over` is called as soon as the store knows what has become of it; nobody may wait for it any more. */
  constructor(start: IdempotencyStart, parts: AttemptParts, over: () => void) {
    this.#start = start
    this.#parts = parts
    this.#over = over
  }

  get digest(): string {
    return this.#start.digest
  }

  /** Claims the key. If it is had, it is held until the attempt ends. Rejects with 503. */
  async claim(): Promise<IdempotencyVerdict> {
    const verdict = await this.#ask()
    if (verdict.outcome !== 'begun') return verdict
    this.#renewal = setInterval(() => this.#renew(), this.#start.leaseMs / 3)
    this.#renewal.unref()
    return verdict
  }

  /** What becomes of it. Rejects with 499 when the client leaves, of whom then nothing is held any more. */
  wait(client: AbortSignal): Promise<Ending> {
    return new Promise((resolve, reject) => {
      const told = (ending: Ending) => {
        client.removeEventListener('abort', leave)
        resolve(ending)
      }
      const leave = () => {
        this.#waiting.delete(told)
        reject(new GatewayError('client_closed', { cause: client.reason }))
      }
      if (client.aborted) return leave()
      client.addEventListener('abort', leave, { once: true })
      this.#waiting.add(told)
    })
  }

  /** Nothing has come of the claim but this. */
  yield(ending: Ending): void {
    this.#end(ending)
  }

  /** The reply, which is kept before it is given; one that is made over time when it has come to its end. */
  async keep(reply: Reply): Promise<Reply> {
    const { status, headers, body } = reply
    if (typeof body === 'string' || body instanceof Uint8Array) {
      const bytes = Buffer.from(body)
      await this.#finish({ status, headers, body: bytes })
      return reply
    }
    const recorded = recording(body, this.#parts.maxBytes, (whole, bytes) => {
      if (!whole) void this.#forget(undefined)
      else if (bytes === undefined) void this.#finish(undefined)
      else void this.#finish({ status, headers, body: bytes })
    })
    return { status, headers, body: recorded }
  }

  /**
   * No answer. Only one after which the vendor may have begun work that costs each time is kept, so that nobody pays for
   * a second; every other failure leaves the key to the next attempt.
   */
  async fail(thrown: unknown): Promise<void> {
    const error = GatewayError.from(thrown)
    const { status, headers, body } = refuse(error)
    if (error.status >= 500 && error.shouldRetry === false)
      await this.#finish({ status, headers, body: Buffer.from(body as string) })
    else await this.#forget(error.code === 'client_closed' ? undefined : { error })
  }

  async #finish(answer: IdempotentAnswer | undefined): Promise<void> {
    const { store, keepMs, maxBytes } = this.#parts
    const kept = answer !== undefined && answer.body.length <= maxBytes ? answer : undefined
    // It is held until the store has all of the answer, which may be large.
    await this.#tell(() => store.finish({ ...this.#start, keepMs, ...(kept && { answer: kept }) }))
    await this.#letGo()
    this.#end(kept === undefined ? { error: notKept() } : { reply: again(kept) })
  }

  async #forget(ending: Ending): Promise<void> {
    // A sign of life that comes after it would hold the key again.
    await this.#letGo()
    await this.#tell(() => this.#parts.store.forget(this.#start))
    this.#end(ending)
  }

  /** If the store cannot be told, the lease ends by itself. */
  async #tell(tell: () => Promise<void> | void): Promise<void> {
    try {
      await this.#parts.guard.call(tell)
    } catch (error) {
      publishFailure({ id: this.#start.attempt, error })
    }
  }

  /** No sign of life is given any more, nor on its way. */
  async #letGo(): Promise<void> {
    clearInterval(this.#renewal)
    await this.#renewing
  }

  #end(ending: Ending): void {
    this.#over()
    for (const told of this.#waiting) told(ending)
    this.#waiting.clear()
  }

  #renew(): void {
    this.#renewing ??= this.#ask().then(
      () => (this.#renewing = undefined),
      () => (this.#renewing = undefined),
    )
  }

  async #ask(): Promise<IdempotencyVerdict> {
    return this.#parts.guard.call(() => this.#parts.store.begin(this.#start))
  }
}

/** The answer as a repetition gets it. */
export function again({ status, headers, body }: IdempotentAnswer): Reply {
  return { status, headers: { ...headers, 'idempotent-replayed': 'true' }, body }
}
