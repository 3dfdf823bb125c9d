/** Admits and ends calls in batches: one statement applies the limits and the money of a whole batch. */
import { GatewayError } from '../../../src/errors.ts'
import {
  verdictAfter,
  type AdmissionEnd,
  type Sweep,
  type HoldVerdict,
  type LimitVerdict,
  type SettleVerdict,
} from '../index.ts'
import type { AdmissionItem, AdmissionResult } from '../batched-admission.ts'
import { Batches } from '../batches.ts'
import { capSweeps, statesOf, type AdmittedCaps } from './caps.ts'
import { admissionColumns, admissionTypes, callOf, endingColumns, endingTypes } from './batch-columns.ts'
import type { Database } from './database.ts'

const admitSql = callOf('admit_calls', admissionTypes, ', $2')
const endSql = callOf('end_calls', endingTypes)

/** The result of `admit_calls`. `left` and `free` are those of all calls, one after the other; amounts are text. */
interface AdmittedColumns {
  readonly admitted: readonly boolean[]
  readonly left: readonly number[]
  readonly free: readonly number[]
  readonly outcomes: readonly (HoldVerdict['outcome'] | null)[]
  readonly balances: readonly string[]
  readonly caps: AdmittedCaps | null
}

/** The result of `end_calls`: one entry per hold. Amounts are text. */
interface EndedColumns {
  readonly outcomes: readonly SettleVerdict['outcome'][]
  readonly charged: readonly string[]
  readonly overages: readonly string[]
}

/** Maximum numbers of concurrent batches. */
const lanes = { admissions: 2, endings: 1 }

/** The batches of one database. */
export class Calls {
  readonly #database: Database
  readonly #sweeps: readonly Sweep[]
  readonly #admissions: Batches<AdmissionItem, AdmissionResult>
  readonly #endings: Batches<AdmissionEnd, SettleVerdict | undefined>
  #flushing: Promise<unknown> = Promise.resolve()
  /** The next flush, until it begins: the ids of the ended holds that it covers, and its promise. */
  #unflushed: { readonly ids: string[]; readonly done: Promise<void> } | undefined

  /** `durable`: every hold is on disk before its call is admitted. Otherwise only holds with `durable` are. */
  constructor(database: Database, durable: boolean) {
    this.#database = database
    this.#sweeps = capSweeps(database)
    this.#admissions = new Batches({
      perform: (calls) => this.#admit(calls, durable || calls.some(({ hold }) => hold?.durable === true)),
      ids: ({ claim, hold }) => [...(claim ? [`claim ${claim.id}`] : []), ...(hold ? [`hold ${hold.id}`] : [])],
      isUndone,
      lanes: lanes.admissions,
    })
    this.#endings = new Batches({
      perform: (endings) => this.#end(endings),
      ids: ({ end }) => (end === undefined ? [] : [end.id]),
      isUndone,
      lanes: lanes.endings,
    })
  }

  /** Takes the claim and the hold of a call: both, or neither. */
  admit(call: AdmissionItem): Promise<AdmissionResult> {
    if (call.hold?.caps !== undefined) for (const sweep of this.#sweeps) sweep.use()
    return this.#admissions.add(call)
  }

  /** Returns the claim of a call, and settles or releases its hold. Resolves once the end of the hold is on disk. */
  async end(ending: AdmissionEnd): Promise<SettleVerdict | undefined> {
    const verdict = await this.#endings.add(ending)
    if (ending.end !== undefined) await this.#flushed(ending.end.id)
    return verdict
  }

  /** Stops the deletion of old use of caps and of notices. */
  async close(): Promise<void> {
    await Promise.all(this.#sweeps.map(async (sweep) => sweep.close()))
  }

  async #admit(calls: readonly AdmissionItem[], durable: boolean): Promise<AdmissionResult[]> {
    const raw = await this.#database.result<AdmittedColumns>(admitSql, [admissionColumns(calls), durable])
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
        ? { limits: outcome === 'held' ? verdictAfter(claim, limits) : limits, hold: held }
        : { limits: verdictAfter(claim, limits) }
    })
  }

  async #end(endings: readonly AdmissionEnd[]): Promise<(SettleVerdict | undefined)[]> {
    const raw = await this.#database.result<EndedColumns>(endSql, [endingColumns(endings)])
    let next = 0
    return endings.map(({ end }) => {
      if (end === undefined) return undefined
      const [outcome, charged = '0', overage = '0'] = [raw.outcomes[next], raw.charged[next], raw.overages[next]]
      next++
      return { outcome: outcome as SettleVerdict['outcome'], charged: BigInt(charged), overage: BigInt(overage) }
    })
  }

  /**
   * Resolves once a committed ending is on disk. The commit itself does not wait for the disk, because it would keep the
   * account locked meanwhile; all endings that wait share one write. After a failover in between, the ending may be missing:
   * then this rejects, so that the caller sends it again.
   */
  #flushed(id: string): Promise<void> {
    if (this.#unflushed !== undefined) {
      this.#unflushed.ids.push(id)
      return this.#unflushed.done
    }
    const ids = [id]
    const done = this.#flushing.then(async () => {
      this.#unflushed = undefined
      if (!(await this.#database.call<boolean>('flush', JSON.stringify([...new Set(ids)]))))
        throw new Error('endings were lost: another server took over before they were on disk')
    })
    this.#unflushed = { ids, done }
    this.#flushing = done.catch(() => undefined)
    return done
  }
}

/** Whether the outcome of a hold includes the states of its caps. */
function isKnown(outcome: HoldVerdict['outcome'] | null | undefined): boolean {
  return outcome === 'held' || outcome === 'capped'
}

/** Whether the database undid a statement because of one of its values: not storable, or against a constraint. */
function isUndone(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return GatewayError.is(error) || (typeof code === 'string' && code.startsWith('23'))
}
