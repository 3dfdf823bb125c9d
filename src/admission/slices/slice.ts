/** What one process holds in advance for calls of one account under the same limits. */
import type { Hold, HoldVerdict } from '../../money/ledger/contract.ts'
import type { LimitClaim } from '../../money/limits/contract.ts'
import type { AdmissionVerdict, SliceReturn, SliceWish } from '../contract.ts'

export class Slice {
  /** Until when it admits calls, as of `performance.now()`. */
  readonly until: number
  readonly #wish: SliceWish
  readonly #claim: LimitClaim
  readonly #account: string
  readonly #held: HoldVerdict
  readonly #units: number[]
  readonly #left: number[]
  readonly #free: number[]
  #money: bigint
  #tokens: bigint
  #calls: number

  /** `since`: before the store was asked. `verdict`: its answer to the call that the slice was drawn with. */
  constructor(wish: SliceWish, since: number, claim: LimitClaim, hold: Hold, verdict: AdmissionVerdict) {
    const { limits, hold: held = { outcome: 'held', balance: 0n }, ahead = 0 } = verdict
    this.until = since + wish.ms
    this.#wish = wish
    this.#claim = claim
    this.#account = hold.account
    this.#held = held
    this.#units = claim.rates.map(({ cost }) => cost * ahead)
    this.#left = [...limits.left]
    this.#free = [...limits.free]
    this.#money = hold.amount * BigInt(ahead)
    this.#tokens = (hold.tokens ?? 0n) * BigInt(ahead)
    this.#calls = ahead
  }

  get id(): string {
    return this.#wish.id
  }

  /** Whether less than half of its time is left. */
  isOld(now: number): boolean {
    return now > this.until - this.#wish.ms / 2
  }

  /** Admits a call under the same limits and caps; undefined if it does not fit. */
  draw({ rates }: LimitClaim, { amount, tokens = 0n }: Hold): AdmissionVerdict | undefined {
    const fits =
      this.#calls > 0 &&
      amount <= this.#money &&
      tokens <= this.#tokens &&
      rates.every(({ cost }, index) => cost <= (this.#units[index] as number)) &&
      performance.now() < this.until
    if (!fits) return undefined
    this.#calls--
    this.#money -= amount
    this.#tokens -= tokens
    for (const [index, { cost }] of rates.entries()) {
      ;(this.#units[index] as number) -= cost
      ;(this.#left[index] as number) -= cost
    }
    for (const index of this.#free.keys()) (this.#free[index] as number)--
    return {
      limits: { admitted: true, left: [...this.#left], free: [...this.#free] },
      hold: this.#held,
    }
  }

  /** What is to be returned of it. Units only in time: later, the rates have refilled, and would be given too much. */
  rest(now: number): SliceReturn {
    const { rates, places } = this.#claim
    const isLate = now > this.until + this.#wish.ms
    const corrections = isLate ? [] : rates.map((rule, index) => ({ ...rule, cost: -(this.#units[index] as number) }))
    return {
      id: this.id,
      account: this.#account,
      places: places.map(({ bucket }) => bucket),
      corrections: corrections.filter(({ cost }) => cost < 0),
    }
  }
}
