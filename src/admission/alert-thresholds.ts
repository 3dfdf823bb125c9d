/** The levels at which settlements record alerts. */
import crypto from 'node:crypto'
import type { CapCharge, CapMeasure, CapPeriod, CapState, AlertThreshold } from '../money/caps/contract.ts'
import { capMeasures } from '../money/caps/period.ts'
import { parseMoney } from '../money/money.ts'
import type { CallerCap, CappedCaller } from './caps.ts'

/** What is stored with an alert of a cap until it is delivered. */
export interface CapNotice {
  /** Tells the two kinds of alerts apart. */
  readonly type: 'cap.threshold'
  /** The name of the cap. */
  readonly cap: string
  /** Whose use the cap counts, such as that of this account, or of all callers. */
  readonly per: CallerCap['per']
  /** The group of the caller. */
  readonly group: string
  /** Public id of the key, if the cap counts per key. */
  readonly key?: string
  /** The user, if the cap counts per user. */
  readonly user?: string
  /** The tag, if the cap counts per tag. */
  readonly tag?: string
  /** The model, if the cap counts per model. */
  readonly model?: string
  /** What is limited. */
  readonly measure: CapMeasure
  /** The threshold. */
  readonly percent: number
  /** Whole micro-units, tokens or calls. */
  readonly limit: string
  readonly start: number
  readonly end: number
}

/** What is stored with an alert of a low balance until it is delivered. */
export interface BalanceNotice {
  readonly type: 'balance.low'
  /** In micro-units. */
  readonly level: string
}

/** The period in which a hold counts, and the limits in force for it. */
export type CapPeriodLimits = CapPeriod & Pick<CapState, 'limits'>

/** The charges of a settlement, from the verdict of its hold. */
export function chargesOf(
  caps: readonly CallerCap[],
  states: readonly CapPeriodLimits[],
  caller: CappedCaller,
): CapCharge[] {
  return states.map((state) => {
    const { name, window, start, end, rollingMs } = state
    const thresholds = thresholdsOf(
      caps.find((cap) => cap.name === state.name),
      state,
      caller,
    )
    return { name, window, start, end, rollingMs, ...(thresholds.length > 0 && { thresholds }) }
  })
}

type CapThreshold = NonNullable<CapCharge['thresholds']>[number]

const noThresholds: readonly CapThreshold[] = []

function thresholdsOf(
  capped: CallerCap | undefined,
  state: CapPeriodLimits,
  caller: CappedCaller,
): readonly CapThreshold[] {
  const { cap, per, tag, model } = capped ?? {}
  if (cap?.thresholds === undefined || per === undefined) return noThresholds
  const { name, window, start, end, limits } = state
  const thresholds: CapThreshold[] = []
  for (const measure of capMeasures) {
    const limit = limits[measure]
    if (limit === undefined || limit === 0n) continue
    for (const percent of cap.thresholds) {
      const notice: CapNotice = {
        type: 'cap.threshold',
        cap: cap.name,
        per,
        group: caller.group,
        ...(per === 'key' && caller.key !== undefined && { key: caller.key }),
        ...(per === 'user' && caller.user !== undefined && { user: caller.user }),
        ...(tag !== undefined && { tag }),
        ...(model !== undefined && { model }),
        measure,
        percent,
        limit: String(limit),
        start,
        end,
      }
      const id = idOf([name, window, start, measure, percent, String(limit)])
      thresholds.push({ id, measure, at: shareOf(limit, percent), notice: JSON.stringify(notice) })
    }
  }
  return thresholds
}

/** So many percent, rounded up. */
function shareOf(limit: bigint, percent: number): bigint {
  const millionths = BigInt(Math.round(percent * 10_000))
  return (limit * millionths + 999_999n) / 1_000_000n
}

/** The thresholds of the balances below which a settlement may take an account. */
export function balanceThresholdsOf(
  levels: readonly string[] | undefined,
  settlement: string,
): readonly AlertThreshold[] | undefined {
  return levels?.map((level) => {
    const at = parseMoney(level)
    const notice: BalanceNotice = { type: 'balance.low', level: String(at) }
    return { id: idOf(['balance', settlement, String(at)]), at, notice: JSON.stringify(notice) }
  })
}

function idOf(parts: readonly (string | number)[]): string {
  return `evt_${crypto.hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 32)}`
}
