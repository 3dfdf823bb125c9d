/** Admits calls by what their process has drawn in advance, without asking the store. */
import { randomUUID } from 'node:crypto'
import type { Hold } from '../../money/ledger/contract.ts'
import type { LimitClaim } from '../../money/limits/contract.ts'
import {
  slicePrefix,
  type AdmissionVerdict,
  type SliceDraw,
  type SliceEnds,
  type SliceReturn,
  type SliceWish,
} from '../contract.ts'
import { Slice } from './slice.ts'

type Result<T> = Promise<T> | T

export interface SlicesOptions {
  /** Milliseconds for which a slice may last. 0: none are drawn. */
  readonly ms: number
  /** As of `AdmissionStore`. */
  readonly admit: (claim: LimitClaim, hold: Hold, slice?: SliceWish) => Result<AdmissionVerdict>
  /** As of `AdmissionStore.finish`. */
  readonly finish: (ends: SliceEnds) => Result<void>
}

/** The most calls that are drawn for at once. */
const mostCalls = 63
/** Milliseconds after which what the store did not accept is sent again, and how much of it is kept. */
const againMs = 1_000
/** Milliseconds after which a slice is returned a second time if it is not known whether it was drawn. */
const lateMs = 5_000
const mostKept = 10_000

/**
 * The slices of a process. Where calls of an account follow each other closely, the first one draws for those to come: the
 * store decides for how many, and holds money, units and places for them. They are then admitted here. After the time of a
 * slice, what was not used is returned to the store.
 */
export class Slices {
  readonly #options: SlicesOptions
  readonly #ms: number
  /** By account, limits and caps, as of `nameOf`. */
  readonly #slices = new Map<string, Slice>()
  /** Those that have ended and are still to be returned. */
  #ended: Slice[] = []
  readonly #timers = new Map<Slice, NodeJS.Timeout>()
  /** Those that the store is asked for: calls that arrive meanwhile do not ask for more. */
  readonly #asked = new Set<string>()
  /** The number of calls in the present window, and in the one before. */
  #seen = new Map<string, number>()
  #before = new Map<string, number>()
  #windowEnds = 0
  /** Those that the store has not accepted yet, even if they are on their way. */
  readonly #draws = new Set<SliceDraw>()
  #returns: SliceReturn[] = []
  #again: NodeJS.Timeout | undefined
  #isOver: boolean

  constructor(options: SlicesOptions) {
    this.#options = options
    this.#ms = options.ms
    this.#isOver = options.ms <= 0
  }

  /** Admits a call, by a slice if it fits into one. */
  admit(claim: LimitClaim, hold: Hold): Result<AdmissionVerdict> {
    if (this.#isOver || hold.durable === true) return this.#options.admit(claim, hold)
    const name = nameOf(claim, hold)
    const calls = Math.min(mostCalls, this.#count(name))
    const slice = this.#slices.get(name)
    const drawn = slice?.draw(claim, hold)
    if (slice !== undefined && drawn !== undefined) {
      this.#draws.add({ slice: slice.id, hold, claim })
      return drawn
    }
    this.#end(name)
    const ms = Math.min(this.#ms, hold.leaseMs / 4, claim.leaseMs / 4)
    const wish = calls === 0 || this.#asked.has(name) ? undefined : { id: `${slicePrefix}${randomUUID()}`, calls, ms }
    const since = performance.now()
    const verdict = this.#options.admit(claim, hold, wish)
    return wish === undefined ? verdict : this.#begun(name, wish, since, claim, hold, verdict)
  }

  /**
   * Passes what has become of slices to `finish`, and keeps what it does not accept for later. Includes old slices, which end.
   * Draws are passed each time until they are accepted: the ends of their calls and their slices must not overtake them.
   */
  tell(finish: (ends?: SliceEnds) => Result<void>): Result<void> {
    const now = performance.now()
    for (const [name, slice] of this.#slices) if (slice.isOld(now)) this.#end(name)
    const returns = [...this.#returns, ...this.#ended.map((slice) => slice.rest(now))]
    const ends = { draws: [...this.#draws], returns }
    if (ends.draws.length + returns.length === 0) return finish()
    this.#returns = []
    this.#ended = []
    return this.#tell(ends, finish)
  }

  /** Ends all slices. */
  async close(): Promise<void> {
    this.#isOver = true
    for (const name of this.#slices.keys()) this.#end(name)
    await this.#send()
    clearTimeout(this.#again)
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  async #begun(
    name: string,
    wish: SliceWish,
    since: number,
    claim: LimitClaim,
    hold: Hold,
    asked: Result<AdmissionVerdict>,
  ): Promise<AdmissionVerdict> {
    this.#asked.add(name)
    try {
      const verdict = await asked
      if ((verdict.ahead ?? 0) > 0) this.#begin(name, new Slice(wish, since, claim, hold, verdict))
      return verdict
    } catch (error) {
      // It may have been drawn nevertheless.
      const places = claim.places.map(({ bucket }) => bucket)
      const rest = { id: wish.id, account: hold.account, places, corrections: [] }
      this.#keep([rest])
      // The store may execute the request after its timeout, and so draw the slice after the first return.
      setTimeout(() => void (this.#isOver || this.#keep([rest])), lateMs).unref()
      throw error
    } finally {
      this.#asked.delete(name)
    }
  }

  #begin(name: string, slice: Slice): void {
    this.#slices.set(name, slice)
    const leftMs = this.#isOver ? 0 : Math.max(0, slice.until - performance.now())
    const timer = setTimeout(() => this.#isDue(name, slice), leftMs)
    timer.unref()
    this.#timers.set(slice, timer)
  }

  #end(name: string): void {
    const slice = this.#slices.get(name)
    if (slice === undefined) return
    this.#slices.delete(name)
    this.#ended.push(slice)
  }

  /** Returns a slice at the end of its time, unless it went back with the ends of calls. */
  #isDue(name: string, slice: Slice): void {
    this.#timers.delete(slice)
    if (this.#slices.get(name) === slice) this.#end(name)
    if (this.#ended.includes(slice)) void this.#send()
  }

  async #tell(ends: SliceEnds, finish: (ends: SliceEnds) => Result<void>): Promise<void> {
    try {
      await finish(ends)
    } catch (error) {
      // The units may have been returned; in time, they are refilled anyway.
      this.#keep(ends.returns.map((each) => ({ ...each, corrections: [] })))
      throw error
    }
    for (const draw of ends.draws) this.#draws.delete(draw)
  }

  /** Sends it later. What is never accepted goes back with its lease. */
  #keep(returns: readonly SliceReturn[]): void {
    this.#returns = [...returns, ...this.#returns].slice(0, mostKept)
    for (const draw of this.#draws) if (this.#draws.size > mostKept) this.#draws.delete(draw)
    this.#again ??= setTimeout(() => void this.#send(), againMs)
    this.#again.unref()
  }

  async #send(): Promise<void> {
    clearTimeout(this.#again)
    this.#again = undefined
    try {
      await this.tell((ends) => ends && this.#options.finish(ends))
    } catch {
      // It was kept.
    }
  }

  /** Counts a call, and returns how many such calls there were in the time that a slice lasts. */
  #count(name: string): number {
    const now = performance.now()
    if (now > this.#windowEnds) {
      this.#before = now > this.#windowEnds + this.#ms ? new Map() : this.#seen
      this.#seen = new Map()
      this.#windowEnds = now + this.#ms
    }
    const seen = this.#seen.get(name) ?? 0
    this.#seen.set(name, seen + 1)
    return Math.max(seen, this.#before.get(name) ?? 0)
  }
}

/** Equal for calls that can draw from the same slice. */
function nameOf({ rates, places }: LimitClaim, { account, caps = [] }: Hold): string {
  const rules = rates.map(({ bucket, limit, periodMs, burst }) => [bucket, limit, periodMs, burst])
  const scopes = caps.map(({ name, window, limits }) =>
    [name, window, limits.money, limits.tokens, limits.calls].join('\0'),
  )
  return JSON.stringify([account, rules, places, scopes])
}
