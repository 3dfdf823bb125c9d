/** Admits and ends calls in batches: one statement applies the limits and the money of a whole batch, and adds its usage. */
import { GatewayError } from '../../../src/errors.ts'
import {
  verdictAfter,
  type AdmissionEnd,
  type Sweep,
  type HoldVerdict,
  type LimitVerdict,
  type SettleVerdict,
  type SliceEnds,
} from '../index.ts'
import type { AdmissionItem, AdmissionResult } from '../batched-admission.ts'
import { Batches } from '../batches.ts'
import type { Sql, Values } from '../sql/sql.ts'
import { admitOneSql, valuesAlone } from './admission-alone.ts'
import { capSweeps, statesOf, type AdmittedCaps } from './caps.ts'
import { admissionColumns, admissionTypes, callOf, endingColumns } from './batch-columns.ts'
import type { Database } from './database.ts'
import { postgresSql } from './sql.ts'

const admitSql = callOf('admit_calls', admissionTypes, ', $2')
const journalSql = 'CALL @.journal($1::jsonb, $2::jsonb, $3::bool, $4::bool, NULL)'

/** The result of `admit_calls`. `left` and `free` are those of all calls, one after the other; amounts are text. */
interface AdmittedColumns {
  readonly admitted: readonly boolean[]
  readonly left: readonly number[]
  readonly free: readonly number[]
  readonly outcomes: readonly (HoldVerdict['outcome'] | null)[]
  readonly balances: readonly string[]
  readonly caps: AdmittedCaps | null
  /** For how many further calls a slice was drawn. */
  readonly ahead?: number
}

/** The result of `end_calls`: one entry per hold. Amounts are text. */
interface EndedColumns {
  readonly outcomes: readonly SettleVerdict['outcome'][]
  readonly charged: readonly string[]
  readonly overages: readonly string[]
}

/** The result of `journal`. `missing`: the number of rows without a label; null if they could not be added. */
interface Journaled {
  readonly ended: EndedColumns | null
  readonly missing: number | null
}

/** What is written when calls have ended. */
type JournalItem =
  | { readonly ending: AdmissionEnd }
  | { readonly usage: readonly Values[] }
  | { readonly slices: SliceEnds }

/** What became of it: of an ending, the verdict on its hold; of usage, whether it was added and all labels exist. */
type JournalResult = SettleVerdict | boolean | undefined

/** The code of a `COMMIT` in a transaction of the host. */
const inTransaction = '2D000'

/** Maximum numbers of concurrent batches. */
const lanes = { admissions: 2, journal: 1 }

/** The batches of one database. */
export class Calls {
  /** The shared statements of the same database. Usage is added with the endings of calls. */
  readonly sql: Sql
  readonly #database: Database
  readonly #sweeps: readonly Sweep[]
  readonly #admissions: Batches<AdmissionItem, AdmissionResult>
  readonly #journal: Batches<JournalItem, JournalResult>
  /** Whether the journal has transactions of its own: false if the host's `query` runs each statement in one. */
  #apart = true

  /** `durable`: every hold is on disk before its call is admitted. Otherwise only holds with `durable` are. */
  constructor(database: Database, durable: boolean) {
    this.#database = database
    const { statementMs: maxWaitMs } = database
    this.sql = postgresSql(database, (rows) => this.append(rows))
    this.#sweeps = capSweeps(database, this.sql)
    this.#admissions = new Batches({
      perform: (calls) => this.#admit(calls, durable || calls.some(({ hold }) => hold?.durable === true)),
      ids: ({ claim, hold }) => [...(claim ? [`claim ${claim.id}`] : []), ...(hold ? [`hold ${hold.id}`] : [])],
      isUndone,
      lanes: lanes.admissions,
      maxWaitMs,
    })
    this.#journal = new Batches({
      perform: (items) => this.#write(items),
      ids: (item) => ('ending' in item && item.ending.end !== undefined ? [item.ending.end.id] : []),
      isUndone,
      lanes: lanes.journal,
      maxWaitMs,
    })
  }

  /** Takes the claim and the hold of a call: both, or neither. */
  admit(call: AdmissionItem): Promise<AdmissionResult> {
    if (call.hold?.caps !== undefined) for (const sweep of this.#sweeps) sweep.use()
    return this.#admissions.add(call)
  }

  /** Returns the claim of a call, and settles or releases its hold. Resolves once the end of the hold is on disk. */
  async end(ending: AdmissionEnd): Promise<SettleVerdict | undefined> {
    return (await this.#journal.add({ ending })) as SettleVerdict | undefined
  }

  /** Tells what became of slices: before the ends of calls that are added later. */
  async endSlices(slices: SliceEnds): Promise<void> {
    await this.#journal.add({ slices })
  }

  /** `UsageStatements.append`: with the endings of the same turn of the event loop. Resolves once the rows are on disk. */
  async append(usage: readonly Values[]): Promise<boolean> {
    const added = await this.#journal.add({ usage })
    // Tells why it cannot be added.
    if (added === undefined) return (await this.#database.call<number>('append_usage', JSON.stringify(usage))) === 0
    return added as boolean
  }

  /** Stops the deletion of old use of caps and of notices. */
  async close(): Promise<void> {
    await Promise.all(this.#sweeps.map(async (sweep) => sweep.close()))
  }

  async #admit(calls: readonly AdmissionItem[], durable: boolean): Promise<AdmissionResult[]> {
    const columns = admissionColumns(calls)
    const [first, ...others] = calls
    const alone = first && others.length === 0 ? valuesAlone(first, durable, columns) : undefined
    const raw = await (alone === undefined
      ? this.#database.result<AdmittedColumns>(admitSql, [columns, durable])
      : this.#database.result<AdmittedColumns>(admitOneSql, alone))
    const { ahead = 0 } = raw
    let [rate, slot, cap] = [0, 0, 0]
    return calls.map(({ claim, hold }, index) => {
      const outcome = raw.outcomes[index]
      const balance = BigInt(raw.balances[index] ?? 0)
      const claims = hold?.caps ?? []
      const states = raw.caps && isKnown(outcome) ? statesOf(claims, raw.caps, cap) : []
      cap += claims.length
      const held = hold && outcome && { outcome, balance, ...(states.length > 0 && { caps: states }) }
      if (claim === undefined) return held ? { hold: held } : {}
      const limits: LimitVerdict = {
        admitted: raw.admitted[index] === true,
        left: raw.left.slice(rate, (rate += claim.rates.length)),
        free: raw.free.slice(slot, (slot += claim.places.length)),
      }
      return held
        ? { limits: outcome === 'held' ? verdictAfter(claim, limits) : limits, hold: held, ...(ahead > 0 && { ahead }) }
        : { limits: verdictAfter(claim, limits) }
    })
  }

  async #journaled(values: readonly unknown[]): Promise<Journaled> {
    try {
      return await this.#database.result<Journaled>(journalSql, [...values, this.#apart])
    } catch (error) {
      if (!this.#apart || (error as { code?: unknown }).code !== inTransaction) throw error
      this.#apart = false
      return this.#database.result<Journaled>(journalSql, [...values, false])
    }
  }

  async #write(items: readonly JournalItem[]): Promise<JournalResult[]> {
    const endings = items.flatMap((item) => ('ending' in item ? item.ending : []))
    const usage = items.flatMap((item) => ('usage' in item ? item.usage : []))
    const ends = items.flatMap((item) => ('slices' in item ? item.slices : []))
    // Draws are sent again until one statement has succeeded, so a batch may have the same one twice.
    const draws = new Map(ends.flatMap((each) => each.draws.map((draw) => [draw.hold.id, draw] as const)))
    const slices = { draws: [...draws.values()], returns: ends.flatMap(({ returns }) => returns) }
    const { ended, missing } = await this.#journaled([
      endings.length + ends.length > 0 ? endingColumns(endings, slices) : null,
      usage.length > 0 ? JSON.stringify(usage) : null,
      usage.length > 0 || endings.some(({ end }) => end !== undefined),
    ])
    let next = 0
    return items.map((item) => {
      if ('usage' in item) return missing === null ? undefined : missing === 0
      if ('slices' in item) return undefined
      if (item.ending.end === undefined) return undefined
      const [outcome, charged = '0', overage = '0'] = [
        ended?.outcomes[next],
        ended?.charged[next],
        ended?.overages[next],
      ]
      next++
      return { outcome: outcome as SettleVerdict['outcome'], charged: BigInt(charged), overage: BigInt(overage) }
    })
  }
}

/** Whether the outcome of a hold includes the states of its caps. */
function isKnown(outcome: HoldVerdict['outcome'] | null | undefined): boolean {
  return outcome === 'held' || outcome === 'capped'
}

/** Whether the database undid all of a statement because of one of its values: not storable, or against a constraint. */
function isUndone(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return GatewayError.is(error) || (typeof code === 'string' && code.startsWith('23'))
}
