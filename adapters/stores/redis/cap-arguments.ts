/** What holds and settlements count for caps, as the scripts read it, and the states that they reply with. */
import {
  capMeasures,
  type CapAmounts,
  type CapClaim,
  type CapLimits,
  type CapState,
  type Hold,
  type Settlement,
} from '../index.ts'
import { callOf } from './call-arguments.ts'

/** The caps of a hold. */
export interface CapHold {
  readonly claims: readonly CapClaim[]
  readonly text: string
}

/** Undefined if the hold has no caps. `kept`: whether the account has the hold already, so that the caps may have it, too. */
export function capHoldOf(hold: Hold | undefined, kept = false): CapHold | undefined {
  const { id = '', account = '', amount, tokens = 0n, leaseMs, caps = [] } = hold ?? {}
  if (caps.length === 0) return undefined
  const call = callOf(account, id)
  const text = JSON.stringify({ call, kept, lease: leaseMs, money: amount, tokens, claims: caps.map(claimOf) }, asText)
  return { claims: caps, text }
}

/** The claims of a reading. */
export function claimsText(claims: readonly CapClaim[]): string {
  return JSON.stringify({ claims: claims.map(claimOf) }, asText)
}

/** The caps and thresholds of a settlement; empty if it has none. */
export function capChargeOf(settlement: Pick<Hold, 'id' | 'account'> & Partial<Settlement>): string {
  const { id, account, amount = 0n, tokens = 0n, caps = [], balanceThresholds = [] } = settlement
  if (caps.length === 0 && balanceThresholds.length === 0) return ''
  const counted = caps.map(({ name, window, start, end, rollingMs, thresholds = [] }) => {
    const measured = thresholds.map((mark) => ({ ...mark, measure: capMeasures.indexOf(mark.measure) + 1 }))
    return { name, window, start, end, rolling: rollingMs, marks: measured }
  })
  const charge = {
    call: callOf(account, id),
    id,
    account,
    money: amount,
    tokens,
    caps: counted,
    marks: balanceThresholds,
  }
  return JSON.stringify(charge, asText)
}

type StateFields = readonly string[]

/** The states in the order of the claims; those of claims that a hold made by an earlier call does not have are absent. */
export function capStatesOf(claims: readonly CapClaim[], text: string): CapState[] {
  // An empty list is an empty object in Lua.
  return Object.values(JSON.parse(text) as StateFields[]).flatMap((row) => {
    const claim = claims[Number(row[13]) - 1]
    return claim === undefined ? [] : [stateOf(claim, row)]
  })
}

function stateOf({ name, window }: CapClaim, row: StateFields): CapState {
  const [start, end, rollingMs, resetsAt] = row.slice(0, 4).map(Number) as [number, number, number, number]
  const limits: Partial<Record<(typeof capMeasures)[number], bigint>> = {}
  row.slice(10, 13).forEach((limit, index) => {
    const measure = capMeasures[index]
    if (measure !== undefined && limit !== 'none') limits[measure] = BigInt(limit)
  })
  const period = { name, window, start, end, rollingMs, resetsAt }
  const ahead = BigInt(row[14] as string)
  return { ...period, settled: amountsOf(row, 4), held: amountsOf(row, 7), ...(ahead > 0n && { ahead }), limits }
}

function amountsOf(row: StateFields, from: number): CapAmounts {
  const [money, tokens, calls] = row.slice(from, from + 3).map(BigInt) as [bigint, bigint, bigint]
  return { money, tokens, calls }
}

function claimOf({ name, window, periods, limits }: CapClaim): object {
  const known: CapLimits = limits
  if ('boundaries' in periods) return { name, window, rolling: 0, boundaries: periods.boundaries, limits: known }
  return { name, window, rolling: periods.rollingMs, grain: periods.grainMs, limits: known }
}

function asText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
