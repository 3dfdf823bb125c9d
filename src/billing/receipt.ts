/** What one call came to: measured while it runs, and told exactly once when it ends. */
import type { Caller } from '../auth/contract.ts'
import type { GatewayError, ErrorCode } from '../errors.ts'
import type { Basis } from '../usage/contract.ts'
import type { Usage } from '../wire/usage.ts'
import { usageOf } from '../wire/usage.ts'

export interface Receipt {
  /** The request id, as in `x-request-id`. One receipt for each id. */
  readonly id: string
  /** The endpoint, such as `chat.completions`. */
  readonly endpoint: string
  /** `completed`: the whole answer was handed to the client. `cancelled`: the client left. `failed`: see `code`. */
  readonly outcome: 'completed' | 'failed' | 'cancelled'
  /** Why it failed. */
  readonly code?: ErrorCode
  readonly account: string
  readonly group: string
  readonly key?: string
  /** The name the client used. */
  readonly model: string
  /** Who answered last, and its name for the model. Absent when nobody was asked. */
  readonly provider?: string
  readonly providerModel?: string
  /** Calls made to providers, retries included. */
  readonly attempts: number
  readonly stream: boolean
  readonly usage: Usage
  /** `reported` by the vendor, or `estimated` by the gateway from the size of question and answer. */
  readonly usageSource: 'reported' | 'estimated'
  /** Of an answer that was cut: the tokens that had come, estimated, where the vendor had told less by then. */
  readonly delivered?: Usage
  /** What was made or heard, where tokens do not tell it. */
  readonly units?: Units
  /** What the account pays for it. Only with `billing`. */
  readonly charge?: Charge
  /** When the request came, milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds to the first byte of the answer's content; absent when there was none. */
  readonly firstByteMs?: number
  /** Milliseconds to the end. */
  readonly totalMs: number
}

/** A price paid, in decimal strings. */
export interface Charge {
  readonly cost: string
  /** The part of the cost that was not held beforehand. */
  readonly overage: string
  readonly currency: string
  readonly basis: Basis
}

/** Counts of an answer that is not text. */
export interface Units {
  /** Images made. */
  readonly images?: number
  /** Seconds of sound or video. Where the vendor tells none, estimated from the length of the transcript. */
  readonly seconds?: number
  /** Of the images, such as `1024x1024`. */
  readonly size?: string
  /** Of the images, such as `hd`. */
  readonly quality?: string
}

/** What an answer has taken so far. */
export interface Tally {
  /** Totals as the vendor reported them last. */
  usage: Usage | undefined
  /** Tokens of the answer as far as it was produced, estimated. */
  estimatedCompletionTokens: number
}

export interface MeterOptions {
  readonly id: string
  readonly endpoint: string
  readonly caller: Caller
  readonly model: string
  readonly streamed: () => boolean
  readonly startedAt: number
  /** Tokens of the question, for the case that the vendor does not count them. */
  readonly estimatedPromptTokens: () => number
  readonly now: () => number
  readonly deliver: (receipt: Receipt) => void
}

/** Counts one call. Everything may be called at any time; after the end nothing changes any more. */
export class Meter implements Tally {
  usage: Usage | undefined
  estimatedCompletionTokens = 0
  /** What the answer holds beside text, as far as it is known. */
  units: Units | undefined
  readonly #options: MeterOptions
  #provider: { name: string; model: string } | undefined
  #attempts = 0
  #firstByteAt: number | undefined
  #ended = false

  constructor(options: MeterOptions) {
    this.#options = options
  }

  get ended(): boolean {
    return this.#ended
  }

  /** A provider is about to be asked. What an earlier one counted before it failed is not the caller's. */
  attempt(provider: string, model: string): void {
    this.#attempts++
    this.usage = undefined
    this.estimatedCompletionTokens = 0
    this.units = undefined
    this.#provider = { name: provider, model }
  }

  /** The first byte of content is about to be handed to the client. */
  firstByte(): void {
    this.#firstByteAt ??= this.#options.now()
  }

  /** The end. Only the first call counts. */
  end(outcome: Receipt['outcome'], error?: GatewayError): void {
    if (this.#ended) return
    this.#ended = true
    const { id, endpoint, caller, model, streamed, startedAt, estimatedPromptTokens, now, deliver } = this.#options
    // A call that no provider answered has cost nothing.
    const prompt = this.estimatedCompletionTokens > 0 || outcome === 'completed' ? estimatedPromptTokens() : 0
    deliver({
      id,
      endpoint,
      outcome,
      ...(error !== undefined && { code: error.code }),
      account: caller.account,
      group: caller.group,
      ...(caller.key !== undefined && { key: caller.key }),
      model,
      ...(this.#provider && { provider: this.#provider.name, providerModel: this.#provider.model }),
      attempts: this.#attempts,
      stream: streamed(),
      usage: this.usage ?? usageOf(prompt, this.estimatedCompletionTokens),
      usageSource: this.usage === undefined ? 'estimated' : 'reported',
      ...(error !== undefined && this.#delivered()),
      ...(this.units !== undefined && { units: this.units }),
      startedAt,
      ...(this.#firstByteAt !== undefined && { firstByteMs: this.#firstByteAt - startedAt }),
      totalMs: now() - startedAt,
    })
  }
  /** Some vendors count the question at the beginning and the answer at its end, which this answer never came to. */
  #delivered(): Pick<Receipt, 'delivered'> {
    const told = this.usage
    if (told === undefined || told.completion_tokens >= this.estimatedCompletionTokens) return {}
    return { delivered: { ...told, ...usageOf(told.prompt_tokens, this.estimatedCompletionTokens) } }
  }
}
