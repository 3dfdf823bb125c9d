import type { GatewayError, ErrorCode } from '../errors.ts'
import type { Usage } from '../wire/usage.ts'
import type { Tally } from './tally.ts'
import { usageOf } from '../wire/usage.ts'
import { estimateTokens } from '../wire/counts.ts'
import { AttemptLog, type AttemptEnd, type AttemptRecord } from './attempt-log.ts'
import type { PriceSource } from './price-source.ts'
import type { ChargeLine } from './sum.ts'

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
  /** The person behind the request: named by the host, or by the request itself. */
  readonly user?: string
  /** The session that the client says the request belongs to. */
  readonly session?: string
  /**
   * The agent within the session, such as a sub-agent of Claude Code, by the header `x-claude-code-agent-id`. Only with
   * `session`.
   */
  readonly agent?: string
  /** The tags of the key or caller. */
  readonly tags?: readonly string[]
  /** Model name in the request. */
  readonly model: string
  /** The provider of the last attempt. Absent if there was no attempt. */
  readonly provider?: string
  /** That provider's name for the model. */
  readonly providerModel?: string
  /** Number of attempts, including retries. */
  readonly attempts: number
  /** Each attempt, in order, at most 100. Present only if usage is recorded and there was an attempt. */
  readonly attemptLog?: readonly AttemptRecord[]
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
  /** The request failed, but the vendor bills the answer, which was of no use: it is charged. */
  readonly billed?: true
  /** Images, seconds and characters, if the endpoint is measured in them. */
  readonly units?: Units
  /**
   * The vendor's service tier, such as `flex`: as reported, otherwise as requested. Absent if neither names one.
   */
  readonly serviceTier?: string
  /** The vendor's counts, if they exceed what the request can have used. `usage` and `units` hold the reduced values. */
  readonly implausible?: {
    /** The tokens as reported. */
    readonly usage: Usage
    /** The images and seconds as reported. */
    readonly units?: Units
  }
  /**
   * The parts of the request that the provider did not get: fields, and tools by their type, that change the cost and are
   * not allowed, or that the vendor does not have.
   */
  readonly omitted?: readonly string[]
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
  /** The amounts of `lines` and `rounding` add up to it exactly. */
  readonly cost: string
  /** The part of `cost` that exceeded the hold. */
  readonly overage: string
  /** The currency of the amounts. */
  readonly currency: string
  /** What the charge is based on. */
  readonly basis: ChargeBasis
  /** Each part of the cost. Computed when it is read, and for JSON; a copy by spreading does not have it. */
  readonly lines: readonly ChargeLine[]
  /** What rounding up to a millionth added, less than `0.000001`. Computed like `lines`. */
  readonly rounding: string
  /** The price table that the price is from. Absent for a price in the options. */
  readonly prices?: PriceSource
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
  /** Characters of text that were spoken. */
  readonly characters?: number
}

/** Bounds of `Receipt.omitted`, because clients choose the names of tools. */
const mostOmitted = 20
const longestOmitted = 64

/** A request whose usage is measured. */
export interface Metered {
  readonly id: string
  readonly caller: Pick<Receipt, 'account' | 'group' | 'key'>
  readonly attribution: Pick<Receipt, 'user' | 'session' | 'agent' | 'tags'>
  /** `promptTokens`: an estimate, used if the vendor does not report them. */
  readonly order: {
    readonly model: string
    readonly stream: boolean
    readonly promptTokens: number
    readonly omitted?: readonly string[]
  }
  readonly startedAt: number
  /** Milliseconds since the request arrived, by a monotonic clock. */
  readonly elapsedMs: () => number
  readonly deliver: (receipt: Receipt) => void
  readonly watch?: Tally['watch']
  /** Whether the receipt has the log of the attempts. */
  readonly logsAttempts?: boolean
}

/** A deployment, as far as a receipt names it. */
interface Tried {
  readonly provider: { readonly name: string; readonly reportsSent?: boolean | undefined }
  readonly model: string
}

/** Measures one request. Methods may be called at any time; after `end` they have no effect on the receipt. */
export class Meter implements Tally {
  usage: Usage | undefined
  textBytes = 0
  /** Images and seconds of the response, if known. */
  units: Units | undefined
  serviceTier: string | undefined
  /** See `Receipt.omitted`. */
  omitted: readonly string[] | undefined
  readonly #endpoint: string
  readonly #request: Metered
  #deployment: Tried | undefined
  /** The fraction of the request sent to the provider in the current attempt, 0 to 1. */
  #sent = 0
  #attempts = 0
  readonly #log: AttemptLog | undefined
  #firstByteMs: number | undefined
  #isBilled = false
  #ended = false

  /** `endpoint`: its name in the receipt. */
  constructor(endpoint: string, request: Metered) {
    this.#endpoint = endpoint
    this.#request = request
    this.omitted = request.order.omitted
    this.#log = request.logsAttempts === true ? new AttemptLog() : undefined
  }

  get ended(): boolean {
    return this.#ended
  }

  get watch(): Tally['watch'] {
    return this.#request.watch
  }

  /** Starts an attempt. Discards the usage of earlier attempts, which failed. `serviceTier`: as requested. */
  attempt(deployment: Tried, serviceTier?: string): void {
    this.#attempts++
    this.#sent = deployment.provider.reportsSent === true ? 0 : 1
    this.usage = undefined
    this.textBytes = 0
    this.units = undefined
    this.serviceTier = serviceTier
    this.omitted = this.#request.order.omitted
    this.#deployment = deployment
    this.#log?.start(this.#request.elapsedMs())
  }

  /** Records how the current attempt ended. */
  attemptEnded(end: AttemptEnd): void {
    if (this.#deployment !== undefined) this.#log?.end(this.#deployment, end)
  }

  omit(name: string): void {
    this.omitted = withOmission(this.omitted ?? [], name)
  }

  /** Records that a fraction of the request, by default all of it, was sent to the vendor. */
  sent(share: number = 1): void {
    this.#sent = Math.min(1, this.#sent + share)
  }

  /** Records that the attempt failed for another reason than a disconnect, so that the caller pays nothing for it. */
  attemptFailed(): void {
    this.#sent = 0
  }

  /** Records that the vendor bills the last attempt although it failed. `usage`: as reported, if not before. */
  bill(usage: Usage | undefined): void {
    this.#isBilled = true
    this.usage = usage ?? this.usage
  }

  /** Records the time of the first content. */
  firstByte(): void {
    this.#firstByteMs ??= this.#request.elapsedMs()
  }

  /** Ends the measurement and delivers the receipt. Further calls do nothing. */
  end(outcome: Receipt['outcome'], error?: GatewayError): void {
    if (this.#ended) return
    this.#ended = true
    const { id, caller, order, startedAt } = this.#request
    const { user, session, agent, tags } = this.#request.attribution
    const answered =
      outcome === 'completed' || this.textBytes > 0 || this.usage !== undefined || this.units !== undefined
    const unanswered = outcome === 'cancelled' && !answered && this.#sent > 0
    // Without a response the prompt costs nothing, unless the client disconnected while the vendor was working.
    const share = outcome === 'completed' || this.#sent === 0 ? 1 : this.#sent
    const prompt =
      outcome === 'completed' || this.textBytes > 0 || unanswered ? Math.ceil(order.promptTokens * share) : 0
    const serviceTier = this.usage?.service_tier ?? this.serviceTier
    const receipt: { -readonly [Name in keyof Receipt]: Receipt[Name] } = {
      id,
      endpoint: this.#endpoint,
      outcome,
      account: caller.account,
      group: caller.group,
      model: order.model,
      attempts: this.#attempts,
      stream: order.stream,
      usage: this.usage ?? usageOf(prompt, estimateTokens(this.textBytes)),
      usageSource: this.usage === undefined ? 'estimated' : 'reported',
      startedAt,
      totalMs: this.#request.elapsedMs(),
    }
    if (error !== undefined) {
      receipt.code = error.code
      if (outcome === 'failed') this.#log?.broke(error)
      const delivered = this.#delivered()
      if (delivered !== undefined) receipt.delivered = delivered
    }
    if (caller.key !== undefined) receipt.key = caller.key
    if (user !== undefined) receipt.user = user
    if (session !== undefined) receipt.session = session
    if (agent !== undefined) receipt.agent = agent
    if (tags !== undefined) receipt.tags = tags
    if (this.omitted !== undefined) receipt.omitted = this.omitted
    if (this.#deployment !== undefined) {
      receipt.provider = this.#deployment.provider.name
      receipt.providerModel = this.#deployment.model
    }
    if (this.#log?.entries !== undefined) receipt.attemptLog = this.#log.entries
    if (unanswered) receipt.unanswered = true
    if (outcome === 'failed' && this.#isBilled) receipt.billed = true
    if (this.units !== undefined) receipt.units = this.units
    if (serviceTier !== undefined) receipt.serviceTier = serviceTier
    if (this.#firstByteMs !== undefined) receipt.firstByteMs = this.#firstByteMs
    this.#request.deliver(receipt)
  }

  /** Some vendors report completion tokens only at the end of a stream, which an interrupted response did not reach. */
  #delivered(): Usage | undefined {
    const reported = this.usage
    const completion = estimateTokens(this.textBytes)
    if (reported === undefined || reported.completion_tokens >= completion) return undefined
    return { ...reported, ...usageOf(reported.prompt_tokens, completion) }
  }
}

/** The list with one more name. */
export function withOmission(omitted: readonly string[], name: string): readonly string[] {
  const short = name.slice(0, longestOmitted)
  return omitted.length >= mostOmitted || omitted.includes(short) ? omitted : [...omitted, short]
}
