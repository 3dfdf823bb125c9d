/**
 * The limit of one vendor's model, as far as its headers and refusals tell. Several processes that share it need no other
 * signal: all of them read the same share that is left, take the same part of what is refilled, and that share settles where
 * their parts add up to the whole. Without such headers each process finds its own part: after a refusal it goes down
 * by 5 %, and comes back to the rate of the refusal along the curve of CUBIC (RFC 9438), slowly close to it. Processes that
 * hear of each other's refusals all go down by 2 %, so that one refusal is enough for all of them.
 */
import type { ReportedLimit } from '../../providers/reported-limits.ts'

/** What a call takes of each limit. */
export type Amounts = Readonly<Record<ReportedLimit['of'], number>>

/** Below this share of a limit calls wait for their turn. */
const nearShare = 0.5
/** The share at which one process alone takes as much as is refilled; with 24 it settles at a third of it. */
const balancedShare = 0.25
/** A share that nothing was heard of for so long grows, by a part of what is refilled: others use it too. */
const silentMs = 2_000
const silentPart = 0.25
/** What calls can expect to find at least, for the time when they may try again. */
const expectedShare = 0.08
/** What is left of the rate at which the vendor refused. */
const afterRefusal = { alone: 0.95, together: 0.98 }
/** The time in which the rate doubles once it is back where the vendor refused. */
const curveMs = 150_000
/** A refusal in another process soon after the last one has the same cause. */
const sameCauseMs = 1_500
/** A limit that nothing waited for within this time is forgotten. */
const forgetMs = 60_000
/** Over which answered calls are counted. */
const servedMs = 5_000
/** What may be sent at once after a pause shorter than that. */
const burstMs = 20
/** What may be sent in advance, in calls: a vendor's limit holds many more, and an account that asks rarely has not to wait. */
const callsAhead = 5
/** Longer waits that a vendor asks for are kept; shorter ones are those of its next refill. */
const shortWaitMs = 2_000

interface Measure {
  share: number
  most: number
  /** Units in a millisecond. */
  refill: number
  /** Units that may be sent; below zero: sent in advance. */
  credit: number
}

export class VendorLimit {
  readonly #measures = new Map<ReportedLimit['of'], Measure>()
  #reportedAt = 0
  /** When the call was sent whose answer reported last. */
  #newest = 0
  #filledAt = 0
  /** The rate, in calls a millisecond, at which the vendor refused last. */
  #refusedRate = Infinity
  #refusedAt = -Infinity
  readonly #afterRefusal: number
  /** From a refusal until the rate is back. */
  readonly #backMs: number
  #credit = 1
  #pausedUntil = 0
  #waitedAt = 0
  /** Answered calls, each of which counts for `servedMs` on the average. */
  #served = 0
  #servedAt = 0

  /** Whether calls must wait for their turn. */
  isNear = false

  /** `isShared`: whether this process hears of the refusals of others. */
  constructor(isShared: boolean) {
    this.#afterRefusal = isShared ? afterRefusal.together : afterRefusal.alone
    this.#backMs = curveMs * Math.cbrt(1 - this.#afterRefusal)
  }

  /** Whether the rate is that of refusals. */
  get isRefused(): boolean {
    return this.#refusedRate < Infinity
  }

  /** Milliseconds until the next call may be sent; 0: now. */
  waitMs(now: number): number {
    this.#waitedAt = now
    this.#fill(now)
    let wait = this.#pausedUntil - now
    const rate = this.#rate(now)
    if (this.#credit <= 0) wait = Math.max(wait, 1, -this.#credit / rate)
    for (const measure of this.#measures.values()) {
      if (measure.credit <= 0) wait = Math.max(wait, 1, -measure.credit / this.#paceOf(measure, now))
    }
    return Math.max(0, Math.ceil(wait))
  }

  /** Whether such a call may be sent before its time. */
  mayAdvance(amounts: Amounts, now: number): boolean {
    if (this.waitMs(now) === 0) return true
    if (this.#pausedUntil > now || this.#credit <= -callsAhead) return false
    return [...this.#measures].every(([of, { credit, share }]) => share > 0 && credit > -callsAhead * amounts[of])
  }

  /** Calls a millisecond that can be expected, such as the given one. */
  paceFor(amounts: Amounts, now: number): number {
    let pace = this.#rate(now)
    for (const [of, measure] of this.#measures) {
      if (amounts[of] > 0) pace = Math.min(pace, this.#paceOf(measure, now, expectedShare) / amounts[of])
    }
    return pace
  }

  /** When the vendor accepts calls again, if it has said so. */
  get pausedUntil(): number {
    return this.#pausedUntil
  }

  /** Counts what a call takes, and at its end what it took beside that. */
  draw(amounts: Amounts, calls: 0 | 1): void {
    if (!this.isNear) return
    this.#credit -= calls
    for (const [of, measure] of this.#measures) measure.credit -= amounts[of]
  }

  /** A response has begun, to a call that was sent at `sentAt`. */
  reported(limits: readonly ReportedLimit[], sentAt: number, now: number): void {
    // The answer to an earlier call says what was left then.
    if (limits.length === 0 || sentAt < this.#newest) return
    this.#newest = sentAt
    this.#reportedAt = now
    for (const { of, most, left, fullInMs } of limits) {
      let measure = this.#measures.get(of)
      if (measure === undefined) this.#measures.set(of, (measure = { share: 1, most, refill: 0, credit: 1 }))
      measure.share = left / most
      measure.most = most
      if (fullInMs === undefined || fullInMs < 1 || measure.share > 0.9) continue
      const refill = (most - left) / fullInMs
      measure.refill = measure.refill === 0 ? refill : measure.refill + (refill - measure.refill) / 8
    }
    this.#look(now)
  }

  answered(now: number): void {
    this.#served = this.#served * Math.exp((this.#servedAt - now) / servedMs) + 1
    this.#servedAt = now
    if (this.isNear) this.#look(now)
  }

  /** The vendor has refused a call that was sent at `sentAt`, and may have asked for a wait. */
  refused(sentAt: number, waitMs: number | undefined, now: number): void {
    if (waitMs !== undefined && waitMs > shortWaitMs) this.#pausedUntil = Math.max(this.#pausedUntil, now + waitMs)
    // Calls that were on their way at the last refusal say nothing about the rate since.
    if (sentAt >= this.#refusedAt) {
      this.#slowDown(now)
      this.#waitedAt = now
      this.#credit = Math.min(this.#credit, 0)
    }
    this.#look(now)
  }

  /** The vendor has refused a call of another process. */
  heard(now: number): void {
    if (this.isRefused && now - this.#refusedAt > sameCauseMs) this.#slowDown(now)
  }

  #slowDown(now: number): void {
    const rate = this.#rate(now)
    const served = Math.max(1e-3, (this.#served * Math.exp((this.#servedAt - now) / servedMs)) / servedMs)
    this.#refusedRate = served < 0.7 * rate ? served : rate
    this.#refusedAt = now
  }

  #look(now: number): void {
    if (now - this.#waitedAt > forgetMs) this.#refusedRate = Infinity
    const wasNear = this.isNear
    this.isNear = this.isRefused || this.#pausedUntil > now
    for (const measure of this.#measures.values()) this.isNear ||= this.#shareOf(measure, now) < nearShare
    if (this.isNear && !wasNear) this.#filledAt = now
  }

  #fill(now: number): void {
    const ms = now - this.#filledAt
    this.#filledAt = now
    const rate = this.#rate(now)
    this.#credit = rate === Infinity ? 1 : Math.min(this.#credit + ms * rate, Math.max(1, burstMs * rate))
    for (const measure of this.#measures.values()) {
      const pace = this.#paceOf(measure, now)
      measure.credit = pace === Infinity ? 1 : Math.min(measure.credit + ms * pace, Math.max(1, burstMs * pace))
    }
  }

  /** Calls a millisecond that the refusals allow. */
  #rate(now: number): number {
    if (!this.isRefused) return Infinity
    return this.#refusedRate * (1 + ((now - this.#refusedAt - this.#backMs) / curveMs) ** 3)
  }

  /** Units a millisecond that the reported share allows. */
  #paceOf(measure: Measure, now: number, least: number = 0): number {
    const share = Math.max(least, this.#shareOf(measure, now))
    return measure.refill === 0 || share >= nearShare ? Infinity : measure.refill * (share / balancedShare) ** 3
  }

  #shareOf({ share, most, refill }: Measure, now: number): number {
    const silent = Math.max(0, now - this.#reportedAt - silentMs)
    return Math.min(1, share + (silent * silentPart * refill) / most)
  }
}
