/** What one call came to: measured while it runs, and told exactly once when it ends. */
import type { Caller } from '../auth/contract.ts'
import type { GatewayError, ErrorCode } from '../errors.ts'
import type { Provider } from '../providers/contract.ts'
import type { ChargeBasis } from '../usage/contract.ts'
import type { Usage } from '../wire/usage.ts'
import { usageOf } from '../wire/usage.ts'
import { estimateTokens } from '../wire/counts.ts'

export interface Receipt {
  /** The request id, as in `x-request-id`. One receipt for each id. */
  readonly id: string
  /** The endpoint, such as `chat.completions`. */
  readonly endpoint: string
  /** `completed`: the whole answer was handed to the client. `cancelled`: the client left, or its key ended. `failed`: see `code`. */
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
  /** The client left when the vendor had been sent the question and had answered nothing: `usage` holds the question. */
  readonly unanswered?: true
  /** What was made or heard, where tokens do not tell it. */
  readonly units?: Units
  /** What the vendor has counted, where no such call can have used as much: `usage` and `units` were cut to what it can. */
  readonly implausible?: { readonly usage: Usage; readonly units?: Units }
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
  readonly basis: ChargeBasis
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
  /** Bytes of the answer's text in UTF-8, as far as it was produced. */
  textBytes: number
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
  /** Milliseconds since the request came, by a clock that no change of the date moves. */
  readonly elapsedMs: () => number
  readonly deliver: (receipt: Receipt) => void
}

/** Counts one call. Everything may be called at any time; after the end nothing changes any more. */
export class Meter implements Tally {
  usage: Usage | undefined
  textBytes = 0
  /** What the answer holds beside text, as far as it is known. */
  units: Units | undefined
  readonly #options: MeterOptions
  #provider: { name: string; model: string } | undefined
  /** The part of the request that the provider asked last has been sent, up to 1. */
  #sent = 0
  #attempts = 0
  #firstByteMs: number | undefined
  #ended = false

  constructor(options: MeterOptions) {
    this.#options = options
  }

  get ended(): boolean {
    return this.#ended
  }

  /** A provider is about to be asked. What an earlier one counted before it failed is not the caller's. */
  attempt({ name, reportsSent }: Pick<Provider, 'name' | 'reportsSent'>, model: string): void {
    this.#attempts++
    this.#sent = reportsSent === true ? 0 : 1
    this.usage = undefined
    this.textBytes = 0
    this.units = undefined
    this.#provider = { name, model }
  }

  /** A part of the request, by default all of it, is with the vendor. */
  sent(share: number = 1): void {
    this.#sent = Math.min(1, this.#sent + share)
  }

  /** The attempt failed by itself: the vendor did not work for the caller. */
  attemptFailed(): void {
    this.#sent = 0
  }

  /** The first byte of content is about to be handed to the client. */
  firstByte(): void {
    this.#firstByteMs ??= this.#options.elapsedMs()
  }

  /** The end. Only the first call counts. */
  end(outcome: Receipt['outcome'], error?: GatewayError): void {
    if (this.#ended) return
    this.#ended = true
    const { id, endpoint, caller, model, streamed, startedAt, estimatedPromptTokens, elapsedMs, deliver } =
      this.#options
    const answered =
      outcome === 'completed' || this.textBytes > 0 || this.usage !== undefined || this.units !== undefined
    const unanswered = outcome === 'cancelled' && !answered && this.#sent > 0
    // A call that no provider answered has cost nothing, unless its client did not wait for the answer.
    const share = outcome === 'completed' || this.#sent === 0 ? 1 : this.#sent
    const prompt =
      outcome === 'completed' || this.textBytes > 0 || unanswered ? Math.ceil(estimatedPromptTokens() * share) : 0
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
      usage: this.usage ?? usageOf(prompt, estimateTokens(this.textBytes)),
      usageSource: this.usage === undefined ? 'estimated' : 'reported',
      ...(error !== undefined && this.#delivered()),
      ...(unanswered && { unanswered }),
      ...(this.units !== undefined && { units: this.units }),
      startedAt,
      ...(this.#firstByteMs !== undefined && { firstByteMs: this.#firstByteMs }),
      totalMs: elapsedMs(),
    })
  }
  /** Some vendors count the question at the beginning and the answer at its end, which this answer never came to. */
  #delivered(): Pick<Receipt, 'delivered'> {
    const told = this.usage
    const completion = estimateTokens(this.textBytes)
    if (told === undefined || told.completion_tokens >= completion) return {}
    return { delivered: { ...told, ...usageOf(told.prompt_tokens, completion) } }
  }
}
