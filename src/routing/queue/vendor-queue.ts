/** Who calls a vendor next when its limit is near: fair by tokens between accounts. */
import type { LRUCache } from 'lru-cache'
import type { AbortListener, Cancellation } from '../../http/cancellation.ts'
import { TimeLimit, type Deadline, type TimeLimited } from '../../http/time-limit.ts'
import { ProviderError } from '../../providers/failure.ts'
import { reportedLimits, type ReportedLimit, type ResponseHead } from '../../providers/reported-limits.ts'
import { boundedCache } from '../../bounded-cache.ts'
import type { SharedRefusals } from './shared-refusals.ts'
import { VendorLimit, type Amounts } from './vendor-limit.ts'

/** A call, as far as its turn depends on it. */
export interface QueuedCall {
  readonly account: string
  /** The part of the vendor's limit that the account gets, relative to others. */
  readonly weight: number
  /** Whether it waits for all calls that are not. */
  readonly isBackground: boolean
  readonly promptTokens: number
  readonly cancellation: Cancellation
}

/** Calls of one account, and the tokens that it was served, by its weight: its virtual token counter. */
interface Line {
  readonly weight: number
  tokens: number
  readonly waiting: Waiting[]
}

interface Lines {
  /** Of the accounts that asked last. */
  readonly known: LRUCache<string, Line>
  /** Those in which calls wait. */
  readonly open: Map<string, Line>
  /** Calls in all of them. */
  waiting: number
  /** The highest counter of an account that was served: one that was idle does not start much below it. */
  floor: number
}

interface QueueSettings {
  readonly maxWaitMs: number
  readonly longest: TimeLimit
}

/** Where the queue hears of refusals in other processes, through the function that it passes. */
export type Sharing = (heard: () => void) => SharedRefusals

/** Accounts that are known, and those whose calls wait at the same time: each call looks at all of these. */
const mostLines = 1_000
/** An account that was idle, or asks in another process too, goes first with so many calls. */
const callsFirst = 10

class Waiting implements AbortListener, TimeLimited {
  readonly call: QueuedCall
  readonly #queue: VendorQueue
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void
  readonly #deadline: Deadline

  constructor(
    queue: VendorQueue,
    call: QueuedCall,
    longest: TimeLimit,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.call = call
    this.#queue = queue
    this.#resolve = resolve
    this.#reject = reject
    this.#deadline = longest.start(this)
    call.cancellation.addEventListener('abort', this)
  }

  handleEvent(): void {
    this.#queue.leave(this)
    this.end(this.call.cancellation.reason)
  }

  timedOut(): void {
    this.#queue.leave(this)
    this.end(this.#queue.refusalOf(this.call))
  }

  /** `error`: absent if it is its turn. */
  end(error?: unknown): void {
    TimeLimit.stop(this.#deadline)
    this.call.cancellation.removeEventListener('abort', this)
    if (error === undefined) this.#resolve()
    else this.#reject(error)
  }
}

/** One call of the vendor, after its turn. */
export class Turn {
  readonly #queue: VendorQueue
  readonly #call: QueuedCall
  readonly sentAt: number

  constructor(queue: VendorQueue, call: QueuedCall, sentAt: number) {
    this.#queue = queue
    this.#call = call
    this.sentAt = sentAt
  }

  /** Takes the head of the vendor's response. */
  readonly answered = (head: ResponseHead): void => {
    if (head.status < 300) this.#queue.reported(reportedLimits(head), this.sentAt)
  }

  /** The answer has ended, and took so many tokens with its prompt. */
  used(tokens: number): void {
    this.#queue.used(this.#call, tokens - this.#call.promptTokens)
  }
}

/** The calls of one vendor's model in this process. */
export class VendorQueue {
  readonly #limit: VendorLimit
  readonly #settings: QueueSettings
  readonly #shared: SharedRefusals | undefined
  readonly #lines: readonly [usual: Lines, background: Lines] = [linesOf(), linesOf()]
  #timer: NodeJS.Timeout | undefined

  /** `sharing`: absent if no other process can be heard of. */
  constructor(settings: QueueSettings, sharing?: Sharing) {
    this.#settings = settings
    this.#limit = new VendorLimit(sharing !== undefined)
    this.#shared = sharing?.(() => this.#limit.heard(performance.now()))
  }

  /**
   * Calls the vendor when it is the call's turn. Rejects with a 503 that says when to try again if that takes too long, and with
   * the reason once it is cancelled.
   */
  async run<T>(call: QueuedCall, act: (turn: Turn) => Promise<T>): Promise<T> {
    if (this.#limit.isNear) await this.#wait(call)
    const sentAt = performance.now()
    try {
      const answer = await act(new Turn(this, call, sentAt))
      this.#limit.answered(performance.now())
      return answer
    } catch (error) {
      const { vendorStatus, vendorWaitMs } = Object(error) as Partial<ProviderError>
      if (vendorStatus === 429) this.#refused(sentAt, vendorWaitMs, performance.now())
      throw error
    }
  }

  #refused(sentAt: number, waitMs: number | undefined, now: number): void {
    this.#limit.refused(sentAt, waitMs, now)
    this.#shared?.count(now)
  }

  reported(limits: readonly ReportedLimit[], sentAt: number): void {
    this.#limit.reported(limits, sentAt, performance.now())
    if (this.#timer !== undefined) this.#serve()
  }

  used(call: QueuedCall, output: number): void {
    if (!this.#limit.isNear || output <= 0) return
    this.#limit.draw({ requests: 0, tokens: output, input: 0, output }, 0)
    const line = knownLine(this.#linesOf(call), call.account)
    if (line !== undefined) line.tokens += output / call.weight
  }

  /** Takes a call out that waits no longer. */
  leave({ call }: Waiting, at: number = -1): void {
    const lines = this.#linesOf(call)
    const line = lines.open.get(call.account) as Line
    const { waiting } = line
    lines.waiting--
    waiting.splice(at < 0 ? waiting.findIndex((each) => each.call === call) : at, 1)
    if (waiting.length > 0) return
    lines.open.delete(call.account)
    lines.known.set(call.account, line)
  }

  /** The error for a call that does not get its turn in time. */
  refusalOf(call: QueuedCall): ProviderError {
    const retryAfterMs = Math.max(1_000, Math.min(this.#expectedMs(call, performance.now()), 300_000))
    return new ProviderError('service_unavailable', {
      retry: 'skip',
      begun: false,
      fault: 'provider_rate_limit',
      message: `The vendor of this model is at its limit. Try again in ${Math.ceil(retryAfterMs / 1_000)}s.`,
      retryAfterMs,
    })
  }

  #wait(call: QueuedCall): Promise<void> | undefined {
    const now = performance.now()
    if (this.#limit.isRefused) this.#shared?.look(now)
    const lines = this.#linesOf(call)
    const line = lineOf(lines, call)
    if (line.waiting.length === 0) line.tokens = startOf(line, lines, call)
    const isNext = lines.waiting === 0 && (!call.isBackground || this.#lines[0].waiting === 0)
    const isBehind = !call.isBackground && line.waiting.length === 0 && line.tokens + costOf(call) <= lines.floor
    const mayGo = isBehind ? this.#limit.mayAdvance(amountsOf(call), now) : isNext && this.#limit.waitMs(now) === 0
    if (mayGo) {
      this.#served(lines, line, call)
      return undefined
    }
    const isFull = line.waiting.length === 0 && lines.open.size >= mostLines
    if (isFull || this.#expectedMs(call, now) > this.#settings.maxWaitMs) throw this.refusalOf(call)
    return new Promise((resolve, reject) => {
      lines.open.set(call.account, line)
      line.waiting.push(new Waiting(this, call, this.#settings.longest, resolve, reject))
      lines.waiting++
      if (this.#timer === undefined) this.#serve()
    })
  }

  #served(lines: Lines, line: Line, call: QueuedCall): void {
    this.#limit.draw(amountsOf(call), 1)
    lines.floor = Math.max(lines.floor, line.tokens)
    line.tokens += costOf(call)
  }

  /** Calls the vendor for as many as its limit allows, and plans to go on. */
  readonly #serve = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (;;) {
      const lines = this.#lines[0].waiting > 0 ? this.#lines[0] : this.#lines[1]
      if (lines.waiting === 0) return
      const waitMs = this.#limit.isNear ? this.#limit.waitMs(performance.now()) : 0
      if (waitMs > 0) {
        this.#timer = setTimeout(this.#serve, Math.min(waitMs, 1_000)).unref()
        return
      }
      const line = nextOf(lines)
      const next = line.waiting[0] as Waiting
      this.leave(next, 0)
      this.#served(lines, line, next.call)
      next.end()
    }
  }

  /** How long a call would wait that came now. */
  #expectedMs(call: QueuedCall, now: number): number {
    const lines = this.#linesOf(call)
    const own = knownLine(lines, call.account)
    const before = own?.waiting.length ?? 0
    const counter = startOf(own, lines, call) + before * costOf(call)
    let ahead = before
    for (const line of lines.open.values()) {
      if (line === own || line.tokens > counter) continue
      ahead += Math.min(
        line.waiting.length,
        1 + ((counter - line.tokens) * line.weight) / Math.max(1, call.promptTokens),
      )
    }
    if (call.isBackground) ahead += this.#lines[0].waiting
    return Math.max(this.#limit.pausedUntil - now, 0) + ahead / this.#limit.paceFor(amountsOf(call), now)
  }

  #linesOf({ isBackground }: QueuedCall): Lines {
    return this.#lines[isBackground ? 1 : 0]
  }
}

function amountsOf({ promptTokens }: QueuedCall): Amounts {
  return { requests: 1, tokens: promptTokens, input: promptTokens, output: 0 }
}

function linesOf(): Lines {
  return { known: boundedCache(mostLines), open: new Map(), waiting: 0, floor: 0 }
}

function lineOf(lines: Lines, { account, weight }: QueuedCall): Line {
  let line = knownLine(lines, account)
  if (line === undefined) lines.known.set(account, (line = { weight, tokens: 0, waiting: [] }))
  return line
}

function knownLine({ open, known }: Lines, account: string): Line | undefined {
  return open.get(account) ?? known.get(account)
}

/** What the counter of its account grows by when it is sent. */
function costOf({ promptTokens, weight }: QueuedCall): number {
  return Math.max(1, promptTokens) / weight
}

/** The counter of an account whose call comes now. */
function startOf(line: Line | undefined, { floor }: Lines, call: QueuedCall): number {
  return Math.max(line?.tokens ?? 0, floor - callsFirst * costOf(call))
}

/** The account that was served least. */
function nextOf({ open }: Lines): Line {
  let next: Line | undefined
  for (const line of open.values()) if (next === undefined || line.tokens < next.tokens) next = line
  return next as Line
}
