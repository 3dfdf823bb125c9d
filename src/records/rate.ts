/** Limits as written in the options, such as `{ requests: '60/min', tokens: '100000/min', concurrent: 4 }`. */
export interface Rate {
  /** Requests per period, such as `'60/min'`. */
  readonly requests?: Frequency
  /** Prompt and completion tokens per period. An estimate is drawn before the request and corrected after it. */
  readonly tokens?: Frequency
  /** Maximum number of concurrent requests. */
  readonly concurrent?: number
}

/** Limits together with the scope they are counted in. */
export interface ScopedRate extends Rate {
  /** Counts per account, per key, or for all callers together. Default: `account` for a group, `all` for a model. */
  readonly per?: 'account' | 'key' | 'all'
}

/**
 * `'<limit>/<period>'`, where the period is `s`, `min`, `h` or `d`, or an object. The limit is refilled evenly over the
 * period. `burst` is the number of units that can be used at once; default: the whole limit.
 */
export type Frequency =
  | `${number}/${'s' | 'sec' | 'second' | 'min' | 'minute' | 'h' | 'hour' | 'd' | 'day'}`
  | {
      /** Units per period. */
      readonly limit: number
      /** Length of the period in milliseconds. */
      readonly periodMs: number
      /** Units that can be used at once. Default: `limit`. */
      readonly burst?: number
    }

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

/** Throws a `TypeError` that describes the valid forms. */
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
