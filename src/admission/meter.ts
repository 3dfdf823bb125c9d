/** Measures one request, for its receipt. */
import type { GatewayError } from '../errors.ts'
import type { Billed } from '../providers/failure.ts'
import type { Usage } from '../wire/usage.ts'
import type { Tally } from '../money/tally.ts'
import { usageOf } from '../wire/usage.ts'
import { estimateTokens } from '../wire/counts.ts'
import { AttemptLog, type AttemptEnd } from '../money/attempt-log.ts'
import type { Receipt } from '../money/receipt.ts'
import { unitsOf, type Units } from '../wire/units.ts'

/** Bounds of `Receipt.omitted`, because clients choose the names of tools. */
const mostOmitted = 20
const longestOmitted = 64

/** More output tokens than vendors report at the start of a response. */
const startTokens = 16

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
  /**
   * Set if the vendor may bill output that the client does not see: if the client disconnects before it is reported, it is
   * estimated by the time that the vendor took. `speedOf`: tokens in a second.
   */
  readonly hidden?: { readonly speedOf: (deployment: Tried) => number; readonly mostTokens: number } | undefined
  readonly startedAt: number
  /** Milliseconds since the request arrived, by a monotonic clock. */
  readonly elapsedMs: () => number
  /** `lost`: what attempts used that were followed by others; undefined if nothing is known of any. `vendorDollars`: see `Meter`. */
  readonly deliver: (receipt: Receipt, lost?: readonly LostUsage[], vendorDollars?: number) => void
  readonly watch?: Tally['watch']
  /** Whether the receipt has the log of the attempts. */
  readonly logsAttempts?: boolean
}

/** A deployment, as far as a receipt names it. */
export interface Tried {
  readonly provider: { readonly name: string; readonly reportsSent?: boolean | undefined }
  readonly model: string
}

/** What an attempt used that was followed by another one; of a response that went on elsewhere, what each deployment used. */
export interface LostUsage extends Pick<Receipt, 'usage' | 'units' | 'serviceTier'> {
  readonly deployment: Tried
}

/** Measures one request. Methods may be called at any time; after `end` they have no effect on the receipt. */
export class Meter implements Tally {
  usage: Usage | undefined
  textBytes = 0
  /** Images and seconds of the response, if known. */
  units: Units | undefined
  serviceTier: string | undefined
  /** What the vendor says that the attempt costs the host, in US dollars. */
  vendorDollars: number | undefined
  lastUsed: Usage | undefined
  /** The usage where the vendor reports none. Default: an estimate by the size of request and text. */
  estimate: Usage | undefined
  /** Called before the receipt is made, to set what is only then computed. Must not throw. */
  ending: (() => void) | undefined
  /** See `Receipt.omitted`. */
  omitted: readonly string[] | undefined
  readonly endpoint: string
  readonly request: Metered
  #deployment: Tried | undefined
  #lost: LostUsage[] | undefined
  /** The fraction of the request sent to the provider in the current attempt, 0 to 1. */
  #sent = 0
  /** Milliseconds from the start of the request to that of the attempt. */
  #attemptMs = 0
  attempts = 0
  readonly #log: AttemptLog | undefined
  firstByteMs: number | undefined
  #isBilled = false
  #isAbandoned = false
  #continued: Receipt['continued']
  /** The deployment that goes on with the response. */
  #continuing: Tried | undefined
  #ended = false

  /** `endpoint`: its name in the receipt. */
  constructor(endpoint: string, request: Metered) {
    this.endpoint = endpoint
    this.request = request
    this.omitted = request.order.omitted
    this.#log = request.logsAttempts === true ? new AttemptLog() : undefined
  }

  /** The one that was tried last. */
  get deployment(): Tried | undefined {
    return this.#deployment
  }

  get ended(): boolean {
    return this.#ended
  }

  get watch(): Tally['watch'] {
    return this.request.watch
  }

  /** Starts an attempt. Nobody pays for the usage of earlier ones, which failed. `serviceTier`: as requested. */
  attempt(deployment: Tried, serviceTier?: string): void {
    if (this.#isAbandoned || this.usage !== undefined || this.textBytes > 0 || this.units !== undefined) this.#lose()
    this.#isAbandoned = false
    this.attempts++
    this.#attemptMs = this.request.elapsedMs()
    this.#sent = deployment.provider.reportsSent === true ? 0 : 1
    this.usage = undefined
    this.textBytes = 0
    this.units = undefined
    this.estimate = undefined
    this.vendorDollars = undefined
    this.ending = undefined
    this.serviceTier = serviceTier
    this.omitted = this.request.order.omitted
    this.#deployment = deployment
    this.#log?.start(this.#attemptMs)
  }

  /** Keeps what the vendor has counted, or probably counts, for an attempt that is followed by another one. */
  #lose(): void {
    const deployment = this.#deployment as Tried
    const usage =
      this.usage ?? this.estimate ?? usageOf(this.request.order.promptTokens, estimateTokens(this.textBytes))
    const units = unitsOf(this.usage, this.units)
    const serviceTier = this.usage?.service_tier ?? this.serviceTier
    this.#lost ??= []
    this.#lost.push({ deployment, usage, ...(units && { units }), ...(serviceTier !== undefined && { serviceTier }) })
  }

  /**
   * Records that the response has broken off, and that another deployment goes on with it: what is counted stays. The request is
   * charged at the price of the first one. `used`: what the one before has itself used.
   */
  goesOn(deployment: Tried, error: GatewayError, used: Usage): void {
    this.#log?.broke(error)
    this.#lost = [...(this.#lost ?? []), { deployment: this.#continuing ?? (this.#deployment as Tried), usage: used }]
    this.#continuing = deployment
    this.lastUsed = undefined
    this.attempts++
    this.#attemptMs = this.request.elapsedMs()
    this.#log?.start(this.#attemptMs)
    const { provider, model: providerModel } = deployment
    this.#continued = [...(this.#continued ?? []), { provider: provider.name, providerModel }]
  }

  /** Records how the current attempt ended. */
  attemptEnded(end: AttemptEnd): void {
    if (this.#deployment !== undefined) this.#log?.end(this.#deployment, end)
  }

  /** Records that a deployment was not tried in its turn. */
  skipped(deployment: Tried, error: GatewayError): void {
    this.#log?.end(deployment, { outcome: 'skipped', ms: 0, error })
  }

  omit(name: string): void {
    this.omitted = withOmission(this.omitted ?? [], name)
  }

  /** Records that a fraction of the request, by default all of it, was sent to the vendor. */
  sent(share: number = 1): void {
    this.#sent = Math.min(1, this.#sent + share)
  }

  /**
   * Records that the attempt failed for another reason than a disconnect, so that the caller pays nothing for it. `gaveUp`: the
   * gateway did not wait longer, so the vendor has probably read the prompt.
   */
  attemptFailed(gaveUp: boolean = false): void {
    this.#isAbandoned = gaveUp && this.#sent > 0
    this.#sent = 0
  }

  /** Records that the vendor bills the last attempt although it failed. */
  bill({ usage, bytes = 0 }: Billed): void {
    this.#isBilled = true
    this.usage = usage ?? this.usage
    this.textBytes = Math.max(this.textBytes, bytes)
  }

  /** Records the time of the first content. */
  firstByte(): void {
    this.firstByteMs ??= this.request.elapsedMs()
  }

  /** Ends the measurement and delivers the receipt. Further calls do nothing. */
  end(outcome: Receipt['outcome'], error?: GatewayError): void {
    if (this.#ended) return
    this.#ended = true
    this.ending?.()
    const { id, caller, order, startedAt } = this.request
    const { user, session, agent, tags } = this.request.attribution
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
      endpoint: this.endpoint,
      outcome,
      account: caller.account,
      group: caller.group,
      model: order.model,
      attempts: this.attempts,
      stream: order.stream,
      usage: this.usage ?? this.estimate ?? usageOf(prompt, this.#written(outcome, error)),
      usageSource: this.usage === undefined ? 'estimated' : 'reported',
      startedAt,
      totalMs: this.request.elapsedMs(),
    }
    if (error !== undefined) {
      receipt.code = error.code
      if (outcome === 'failed') this.#log?.broke(error)
      const delivered = this.#delivered(outcome, error)
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
    if (this.#continued !== undefined) receipt.continued = this.#continued
    if (this.#log?.entries !== undefined) receipt.attemptLog = this.#log.entries
    if (unanswered) receipt.unanswered = true
    if (outcome === 'failed' && this.#isBilled) receipt.billed = true
    const units = unitsOf(this.usage, this.units)
    if (units !== undefined) receipt.units = units
    if (serviceTier !== undefined) receipt.serviceTier = serviceTier
    if (this.firstByteMs !== undefined) receipt.firstByteMs = this.firstByteMs
    if (this.#isAbandoned) this.#lose()
    if (this.#continuing !== undefined && this.lastUsed !== undefined)
      this.#lost?.push({ deployment: this.#continuing, usage: this.lastUsed })
    this.request.deliver(receipt, this.#lost, this.vendorDollars)
  }

  /** Estimates the tokens that the vendor has written. `error`: undefined if its response was read to the end. */
  #written(outcome: Receipt['outcome'], error: GatewayError | undefined): number {
    const { hidden, elapsedMs } = this.request
    const seen = estimateTokens(this.textBytes)
    if (outcome !== 'cancelled' || error === undefined || hidden === undefined) return seen
    if (this.#sent === 0 || this.#deployment === undefined) return seen
    const seconds = (elapsedMs() - this.#attemptMs) / 1_000
    return Math.max(seen, Math.min(hidden.mostTokens, Math.ceil(seconds * hidden.speedOf(this.#deployment))))
  }

  /** Some vendors report completion tokens only at the end of a stream, which an interrupted response did not reach. */
  #delivered(outcome: Receipt['outcome'], error: GatewayError): Usage | undefined {
    const reported = this.usage
    // A vendor that has counted more than it counts at the start of a response has counted all of it.
    if (reported === undefined || reported.completion_tokens > Math.max(startTokens, estimateTokens(this.textBytes)))
      return undefined
    const completion = this.#written(outcome, error)
    if (reported.completion_tokens >= completion) return undefined
    return { ...reported, ...usageOf(reported.prompt_tokens, completion) }
  }
}

/** The list with one more name. */
export function withOmission(omitted: readonly string[], name: string): readonly string[] {
  const short = name.slice(0, longestOmitted)
  return omitted.length >= mostOmitted || omitted.includes(short) ? omitted : [...omitted, short]
}
