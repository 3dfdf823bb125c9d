/** A limit of what is used in a period, such as `{ name: 'monthly', period: 'month', money: '100' }`. */
export interface Cap {
  /**
   * Names the cap in refusals, alerts and `gateway.admin.caps`. At most 64 letters, digits and `._-`; different from the
   * names of all other caps that a caller can have.
   */
  readonly name: string
  /**
   * A calendar period, which begins at midnight in `timeZone`, or a rolling window. After a change of the period, use is
   * counted anew.
   */
  readonly period: 'day' | 'week' | 'month' | RollingPeriod
  /** Name of an IANA time zone in which calendar periods begin, such as `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string
  /** The first day of a `week`. Default `monday`. */
  readonly weekStart?: 'monday' | 'sunday'
  /**
   * The most that may be spent, as a decimal string in `billing.currency`. Null: counted, and limited only where
   * `gateway.admin.caps` sets a limit. Default: not limited.
   */
  readonly money?: string | null
  /** The most tokens, of prompts and answers together. Null: as for `money`. Default: not limited. */
  readonly tokens?: number | null
  /** The most calls. Calls that failed do not count. Null: as for `money`. Default: not limited. */
  readonly calls?: number | null
  /**
   * Percentages of each limit, such as `[50, 80, 95]`, at which an alert is sent, once per period (of a rolling window,
   * once per grain). What open calls hold does not count. Default none.
   */
  readonly thresholds?: readonly number[]
  /** Counts only calls of these models: their names, each of which may end in `*`. Default: of all models. */
  readonly models?: readonly string[]
}

/** A period that ends now. */
export interface RollingPeriod {
  /** Its length in milliseconds, from one hour to 366 days. */
  readonly rollingMs: number
  /**
   * Milliseconds in which use is added up: a call counts for at least `rollingMs` and at most `grainMs` longer. Divides
   * `rollingMs` into at most 100 parts. Default: a 24th of `rollingMs`.
   */
  readonly grainMs?: number
}

/** A cap and whose use it counts. */
export interface ScopedCap extends Cap {
  /**
   * Whose use is counted together. `account` (the default) and `key`: of each account, of each key. `user`: of each user of
   * an account, if `authenticate` or the key names the user; other calls are not capped, because clients choose the name.
   * `tag`: of each tag that keys or callers of an account have. `group`: of all callers of each group. `model`: of all callers
   * of each model. `all`: of all callers.
   */
  readonly per?: (typeof capOwners)[number]
}

/** Whose use a cap can count. */
export const capOwners = ['account', 'key', 'user', 'tag', 'group', 'model', 'all'] as const
