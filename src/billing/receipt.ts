import type { Caller } from '../auth/contract.ts'
import type { GatewayError, ErrorCode } from '../errors.ts'
import type { Provider } from '../providers/contract.ts'
import type { Usage } from '../wire/usage.ts'
import { usageOf } from '../wire/usage.ts'
import { estimateTokens } from '../wire/counts.ts'

/** The outcome, usage and cost of one request, delivered exactly once when it ends. */
export interface Receipt {
  /** The request id, as in `x-request-id`. One receipt per id. */
  readonly id: string
  /** The endpoint, such as `chat.completions`. */
  readonly endpoint: string
  /** `completed`: the response was sent completely. `cancelled`: the client disconnected, or its key ended. `failed`: see `code`. */
  readonly outcome: 'completed' | 'failed' | 'cancelled'
  /** Error code of a failed request. */
  readonly code?: ErrorCode
  /** The account of the caller, which pays. */
  readonly account: string
  /** The group of the caller. */
  readonly group: string
  /** Public id of the key. Absent for a caller of `authenticate`. */
  readonly key?: string
  /** Model name in the request. */
  readonly model: string
  /** The provider of the last attempt. Absent if there was no attempt. */
  readonly provider?: string
  /** That provider's name for the model. */
  readonly providerModel?: string
  /** Number of attempts, including retries. */
  readonly attempts: number
  /** Whether the response was streamed. */
  readonly stream: boolean
  /** Tokens used. */
  readonly usage: Usage
  /** `reported` by the vendor, or `estimated` by the gateway from the size of prompt and response. */
  readonly usageSource: 'reported' | 'estimated'
  /** Of an interrupted response: an estimate of the tokens received, if the vendor had reported fewer by then. */
  readonly delivered?: Usage
  /** The client disconnected after the request was sent and before the vendor responded. `usage` holds the prompt. */
  readonly unanswered?: true
  /** Images and seconds, if the endpoint is measured in them. */
  readonly units?: Units
  /** The vendor's counts, if they exceed what the request can have used. `usage` and `units` hold the reduced values. */
  readonly implausible?: {
    /** The tokens as reported. */
    readonly usage: Usage
    /** The images and seconds as reported. */
    readonly units?: Units
  }
  /** What the account pays. Present only with `billing`. */
  readonly charge?: Charge
  /** When the request arrived. Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds until the first content; absent if there was none. */
  readonly firstByteMs?: number
  /** Milliseconds until the end. */
  readonly totalMs: number
}

/**
 * What a charge is based on: tokens `reported` by the vendor; `estimated` by the gateway for a complete response;
 * `delivered`: estimated for what a client received before it disconnected; `sent`: estimated for the prompt of a client
 * that disconnected before it received anything; `none`: nothing was charged.
 */
export type ChargeBasis = 'reported' | 'estimated' | 'delivered' | 'sent' | 'none'

/** An amount charged, in decimal strings. */
export interface Charge {
  readonly cost: string
  /** The part of `cost` that exceeded the hold. */
  readonly overage: string
  readonly currency: string
  readonly basis: ChargeBasis
}

/** Usage that is not measured in tokens. */
export interface Units {
  /** Number of images generated. */
  readonly images?: number
  /** Seconds of audio or video. Estimated from the length of the transcript if the vendor does not report them. */
  readonly seconds?: number
  /** Size of the images, such as `1024x1024`. */
  readonly size?: string
  /** Quality of the images, such as `hd`. */
  readonly quality?: string
}

/** The usage of a response so far. */
export interface Tally {
  /** The totals that the vendor reported last. */
  usage: Usage | undefined
  /** Bytes of the response's text so far, in UTF-8. */
  textBytes: number
}

export interface MeterOptions {
  readonly id: string
  readonly endpoint: string
  readonly caller: Caller
  readonly model: string
  readonly streamed: () => boolean
  readonly startedAt: number
  /** An estimate of the prompt tokens, used if the vendor does not report them. */
  readonly estimatedPromptTokens: () => number
  /** Milliseconds since the request arrived, by a monotonic clock. */
  readonly elapsedMs: () => number
  readonly deliver: (receipt: Receipt) => void
}

/** Measures one request. Methods may be called at any time; after `end` they have no effect on the receipt. */
export class Meter implements Tally {
  usage: Usage | undefined
  textBytes = 0
  /** Images and seconds of the response, if known. */
  units: Units | undefined
  readonly #options: MeterOptions
  #provider: { name: string; model: string } | undefined
  /** The fraction of the request sent to the provider in the current attempt, 0 to 1. */
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

  /** Starts an attempt. Discards the usage of earlier attempts, which failed. */
  attempt({ name, reportsSent }: Pick<Provider, 'name' | 'reportsSent'>, model: string): void {
    this.#attempts++
    this.#sent = reportsSent === true ? 0 : 1
    this.usage = undefined
    this.textBytes = 0
    this.units = undefined
    this.#provider = { name, model }
  }

  /** Records that a fraction of the request, by default all of it, was sent to the vendor. */
  sent(share: number = 1): void {
    this.#sent = Math.min(1, this.#sent + share)
  }

  /** Records that the attempt failed for another reason than a disconnect, so that the caller pays nothing for it. */
  attemptFailed(): void {
    this.#sent = 0
  }

  /** Records the time of the first content. */
  firstByte(): void {
    this.#firstByteMs ??= this.#options.elapsedMs()
  }

  /** Ends the measurement and delivers the receipt. Further calls do nothing. */
  end(outcome: Receipt['outcome'], error?: GatewayError): void {
    if (this.#ended) return
    this.#ended = true
    const { id, endpoint, caller, model, streamed, startedAt, estimatedPromptTokens, elapsedMs, deliver } =
      this.#options
    const answered =
      outcome === 'completed' || this.textBytes > 0 || this.usage !== undefined || this.units !== undefined
    const unanswered = outcome === 'cancelled' && !answered && this.#sent > 0
    // Without a response the prompt costs nothing, unless the client disconnected while the vendor was working.
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

  /** Some vendors report completion tokens only at the end of a stream, which an interrupted response did not reach. */
  #delivered(): Pick<Receipt, 'delivered'> {
    const reported = this.usage
    const completion = estimateTokens(this.textBytes)
    if (reported === undefined || reported.completion_tokens >= completion) return {}
    return { delivered: { ...reported, ...usageOf(reported.prompt_tokens, completion) } }
  }
}
