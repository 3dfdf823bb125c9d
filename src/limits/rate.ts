/** Limits as they are written in the options: `{ requests: '60/min', tokens: '100000/min', concurrent: 4 }`. */

export interface Rate {
  /** Calls, such as `'60/min'`. */
  readonly requests?: Frequency
  /** Tokens of question and answer. Drawn by estimate before a call and corrected after it. */
  readonly tokens?: Frequency
  /** Calls under way at once. */
  readonly concurrent?: number
}

/** A rate whose counting can be chosen. */
export interface ScopedRate extends Rate {
  /** For whom it counts: each account or each key for itself, or everybody together. */
  readonly per?: 'account' | 'key' | 'all'
}

/**
 * `'<limit>/<period>'`, the period one of `s`, `min`, `h`, `d`; or in full. The limit is refilled evenly over the
 * period. `burst`: how much may be used at once after a rest; default: the whole limit.
 */
export type Frequency =
  | `${number}/${'s' | 'sec' | 'second' | 'min' | 'minute' | 'h' | 'hour' | 'd' | 'day'}`
  | { readonly limit: number; readonly periodMs: number; readonly burst?: number }

export interface Refill {
  readonly limit: number
  readonly periodMs: number
  readonly burst: number
}

const periods: Readonly<Record<string, number>> = {
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
}

/** Throws a `TypeError` that says what would be right. */
export function parseFrequency(value: Frequency): Refill {
  if (typeof value === 'string') {
    const [, digits, period = ''] = /^(\d{1,12})\/([a-z]+)$/.exec(value) ?? []
    const periodMs = Object.hasOwn(periods, period) ? periods[period] : undefined
    const limit = Number(digits)
    if (periodMs !== undefined && limit >= 1) return { limit, periodMs, burst: limit }
  } else if (typeof value === 'object' && value !== null) {
    const { limit, periodMs, burst = limit } = value
    if (isCount(limit) && isCount(periodMs) && isCount(burst)) return { limit, periodMs, burst }
  }
  throw new TypeError(`must be like '60/min' (s, min, h or d) or { limit, periodMs, burst? } in whole numbers from 1`)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= 1e12
}
