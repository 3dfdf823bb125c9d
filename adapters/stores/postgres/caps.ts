/** The caps of the ledger: their states, overrides, and notices. */
import {
  capLimitsWith,
  capUseMs,
  type CapAmounts,
  type CapClaim,
  type CapOverride,
  type CapState,
  type LedgerCaps,
  type Sweep,
} from '../index.ts'
import { noticeSweep, sqlNotices } from '../sql/notices.ts'
import { sqlOverrides } from '../sql/overrides.ts'
import type { Sql } from '../sql/sql.ts'
import { scopeOf } from './batch-columns.ts'
import type { Database } from './database.ts'
import { sweepOf } from './sweep.ts'

type Texts<T> = { readonly [measure in keyof T]: T[measure] extends bigint ? string : string | null }

type Overrides = Texts<CapOverride['limits']>

/** The state of a cap in a result, with money, tokens and calls in this order, before the limits of claims. */
interface RawState {
  readonly start: number
  readonly end: number
  readonly resetsAt: number
  readonly settled: readonly string[]
  readonly held: readonly string[]
}

/** A row of `read_caps`. */
interface ReadState extends RawState {
  readonly limits: Overrides
  /** Null if there are no slices. */
  readonly ahead: string | null
}

/** The caps in the result of `admit_calls`. `scope` is the position from 1 of each claim in the columns per scope. */
export interface AdmittedCaps {
  readonly start: readonly number[]
  readonly end: readonly number[]
  readonly resetsAt: readonly number[]
  readonly settled: readonly (readonly string[])[]
  readonly overrides: readonly Overrides[]
  readonly scope: readonly number[]
  readonly held: readonly (readonly (string | null)[])[]
  /** The state of a claim of which the hold was made by an earlier call; without limits. */
  readonly earlier: readonly (RawState | null)[]
}

/** The states of the claims of a hold. `from`: the position of the first of them among the claims of the batch. */
export function statesOf(claims: readonly CapClaim[], caps: AdmittedCaps, from: number): CapState[] {
  return claims.flatMap((claim, index) => {
    const position = from + index
    const scope = (caps.scope[position] as number) - 1
    const held = caps.held.flatMap((column) => column[position] ?? [])
    const [start, end, resetsAt] = [caps.start[scope], caps.end[scope], caps.resetsAt[scope]] as [
      number,
      number,
      number,
    ]
    const settled = caps.settled.map((column) => column[scope] as string)
    const raw = held.length > 0 ? { start, end, resetsAt, settled, held } : caps.earlier[position]
    return raw ? stateOf(claim, raw, caps.overrides[scope] as Overrides) : []
  })
}

function stateOf({ name, window, periods, limits }: CapClaim, raw: RawState, overrides: Overrides): CapState {
  const { start, end, resetsAt } = raw
  const rollingMs = 'grainMs' in periods ? periods.rollingMs : 0
  return {
    name,
    window,
    start,
    end,
    rollingMs,
    resetsAt,
    settled: amountsOf(raw.settled),
    held: amountsOf(raw.held),
    limits: capLimitsWith(limits, [{ name, limits: bigintsOf(overrides) }]),
  }
}

/** Delete old use of caps, and old notices. */
export function capSweeps(database: Database, sql: Sql): readonly Sweep[] {
  return [sweepOf(database, 'cap_use', capUseMs), sweepOf(database, 'cap_charges', capUseMs), noticeSweep(sql)]
}

/** The caps of a schema. */
export function postgresCaps(database: Database, sql: Sql): LedgerCaps {
  return {
    async read(claims) {
      const rows = await database.call<readonly ReadState[]>('read_caps', JSON.stringify(claims.map(scopeOf)))
      return claims.map((claim, index) => {
        const row = rows[index] as ReadState
        if (row.start === null || row.end === null) {
          throw new Error(`the clock of the database is outside the periods of the cap "${claim.name}"`)
        }
        const state = stateOf(claim, row, row.limits)
        return row.ahead === null ? state : { ...state, ahead: BigInt(row.ahead) }
      })
    },
    ...sqlOverrides(sql),
    ...sqlNotices(sql),
  }
}

function amountsOf(texts: readonly string[]): CapAmounts {
  const [money = '0', tokens = '0', calls = '0'] = texts
  return { money: BigInt(money), tokens: BigInt(tokens), calls: BigInt(calls) }
}

function bigintsOf(limits: Texts<CapOverride['limits']>): CapOverride['limits'] {
  return Object.fromEntries(
    Object.entries(limits).map(([measure, limit]) => [measure, limit === null ? null : BigInt(limit)]),
  )
}
