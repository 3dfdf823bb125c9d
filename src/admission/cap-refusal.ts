/** The 429 of a hold that does not fit into a cap. */
import type { CapAmounts, CapMeasure, CapState } from '../money/caps/contract.ts'
import { capMeasures } from '../money/caps/period.ts'
import type { Hold } from '../money/ledger/contract.ts'
import { formatMoney } from '../money/money.ts'
import { GatewayError } from '../errors.ts'
import type { CallerCap } from './caps.ts'

/** The official clients retry by themselves after at most this wait. */
const longestRetryMs = 60_000
/** When open calls return what they hold is unknown, so this is a guess. */
const heldWaitMs = 1_000

interface ExceededCap {
  readonly cap: CallerCap
  readonly state: CapState
  readonly measure: CapMeasure
  readonly limit: bigint
  readonly more: bigint
  /** Milliseconds; 0 if it fits as soon as open calls return what they hold; Infinity if it never fits. */
  readonly waitMs: number
}

/** Describes the cap with the longest wait. `now`: milliseconds since the epoch. */
export function capRefusal(
  caps: readonly CallerCap[],
  states: readonly CapState[],
  { amount: money, tokens = 0n }: Hold,
  now: number,
  currency: string,
): GatewayError {
  const more = { money, tokens, calls: 1n }
  const breaches = caps.flatMap((cap, index) => {
    const state = states[index]
    return state === undefined ? [] : breachesOf(cap, state, more, now)
  })
  const [first, ...others] = breaches
  if (first === undefined) return new GatewayError('insufficient_quota')
  const worst = others.reduce((left, right) => (right.waitMs > left.waitMs ? right : left), first)
  const { waitMs } = worst
  const retryMs = waitMs === 0 ? heldWaitMs : waitMs
  return new GatewayError('insufficient_quota', {
    message: messageOf(worst, currency),
    shouldRetry: retryMs <= longestRetryMs,
    ...(waitMs !== Infinity && { retryAfterMs: retryMs }),
  })
}

function breachesOf(cap: CallerCap, state: CapState, more: CapAmounts, now: number): ExceededCap[] {
  const { settled, held, limits, resetsAt } = state
  return capMeasures.flatMap((measure) => {
    const limit = limits[measure]
    if (limit === undefined || settled[measure] + held[measure] + more[measure] <= limit) return []
    const resetMs = Math.max(1, resetsAt - now)
    const waitMs = more[measure] > limit ? Infinity : settled[measure] + more[measure] <= limit ? 0 : resetMs
    return { cap, state, measure, limit, more: more[measure], waitMs }
  })
}

/** Whose use a cap counts. What other accounts use is not for this one to know. */
const owners: Readonly<Record<CallerCap['per'], { readonly name: string; readonly isShared?: true }>> = {
  account: { name: 'this account' },
  key: { name: 'this key' },
  user: { name: 'this user' },
  tag: { name: 'this tag' },
  group: { name: 'all callers of this group', isShared: true },
  model: { name: 'all callers of this model', isShared: true },
  all: { name: 'all callers', isShared: true },
}

/** Whether a cap counts what other accounts use. */
export function isShared(per: CallerCap['per']): boolean {
  return owners[per].isShared === true
}

function messageOf({ cap: { cap, per }, state, measure, limit, more, waitMs }: ExceededCap, currency: string): string {
  const text = (amount: bigint) => amountText(measure, amount, currency)
  const reset = `It resets at ${new Date(state.resetsAt).toISOString()}.`
  const owner = owners[per].name
  if (isShared(per)) return `The cap "${cap.name}" of ${owner} is reached. ${reset}`
  if (waitMs === Infinity) {
    return `This request may use up to ${text(more)}, more than the cap "${cap.name}" of ${owner} allows in a period: ${text(limit)}. Shorten it, or lower the limit of output tokens.`
  }
  const held = state.held[measure] > 0n ? ` and ${text(state.held[measure])} held for open requests` : ''
  return `The cap "${cap.name}" of ${owner} is reached: ${text(state.settled[measure])} used${held}, of ${text(limit)}; this request may use up to ${text(more)}. ${reset}`
}

function amountText(measure: CapMeasure, amount: bigint, currency: string): string {
  if (measure === 'money') return `${formatMoney(amount)} ${currency}`
  return `${amount} ${amount === 1n ? measure.slice(0, -1) : measure}`
}
