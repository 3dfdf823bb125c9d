/** Admissions and endings of calls, each kind in batches: limits and money in one statement. */
import { GatewayError } from '../../../src/errors.ts'
import { verdictAfter, type HoldVerdict, type LimitVerdict, type SettleVerdict } from '../index.ts'
import { Batches } from '../batches.ts'
import { admissionColumns, admissionTypes, callOf, endingColumns, endingTypes } from './columns.ts'
import type { Admitting, Ending } from './columns.ts'
import type { Database } from './database.ts'

const admitSql = callOf('admit_calls', admissionTypes, ', $2')
const endSql = callOf('end_calls', endingTypes)

/** What was asked for of limits and money. */
export interface Admitted {
  readonly limits?: LimitVerdict
  readonly hold?: HoldVerdict
}

/** As `admit_calls` answers: `left` and `free` of all calls in a row, amounts as text. */
interface AdmittedColumns {
  readonly admitted: readonly boolean[]
  readonly left: readonly number[]
  readonly free: readonly number[]
  readonly outcomes: readonly (HoldVerdict['outcome'] | null)[]
  readonly balances: readonly string[]
}

interface EndedColumns {
  readonly outcomes: readonly SettleVerdict['outcome'][]
  readonly charged: readonly string[]
  readonly overages: readonly string[]
}

/** Batches of admissions under way at once, and of endings. */
const lanes = { admissions: 2, endings: 1 }

export class Calls {
  readonly #database: Database
  readonly #admissions: Batches<Admitting, Admitted>
  readonly #endings: Batches<Ending, SettleVerdict | undefined>
  #flushing: Promise<unknown> = Promise.resolve()
  /** Ids of holds that were ended and are not known to be on disk, and who waits for that. */
  #unflushed: { readonly ids: string[]; readonly done: Promise<void> } | undefined

  /** `durable`: holds are on disk before a call is admitted. */
  constructor(database: Database, durable: boolean) {
    this.#database = database
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

  admit(call: Admitting): Promise<Admitted> {
    return this.#admissions.add(call)
  }

  /** Resolves when it is on disk: to what became of the hold, if there was one to end. */
  async end(ending: Ending): Promise<SettleVerdict | undefined> {
    const verdict = await this.#endings.add(ending)
    if (ending.end !== undefined) await this.#flushed(ending.end.id)
    return verdict
  }

  async #admit(calls: readonly Admitting[], durable: boolean): Promise<Admitted[]> {
    const told = await this.#database.result<AdmittedColumns>(admitSql, [admissionColumns(calls), durable])
    let [rate, slot] = [0, 0]
    return calls.map(({ claim, hold }, index) => {
      const outcome = told.outcomes[index]
      const held = hold && outcome && { outcome, balance: BigInt(told.balances[index] as string) }
      if (claim === undefined) return held ? { hold: held } : {}
      const limits: LimitVerdict = {
        admitted: told.admitted[index] === true,
        left: told.left.slice(rate, (rate += claim.rates.length)),
        free: told.free.slice(slot, (slot += claim.places.length)),
      }
      return held
        ? { limits: outcome === 'held' ? verdictAfter(claim, limits) : limits, hold: held }
        : { limits: verdictAfter(claim, limits) }
    })
  }

  async #end(endings: readonly Ending[]): Promise<(SettleVerdict | undefined)[]> {
    const told = await this.#database.result<EndedColumns>(endSql, [endingColumns(endings)])
    let next = 0
    return endings.map(({ end }) => {
      if (end === undefined) return undefined
      const [outcome, charged = '0', overage = '0'] = [told.outcomes[next], told.charged[next], told.overages[next]]
      next++
      return { outcome: outcome as SettleVerdict['outcome'], charged: BigInt(charged), overage: BigInt(overage) }
    })
  }

  /**
   * Resolves when an ending that was committed is on disk. The commit itself does not wait for the disk, because it would
   * keep the account locked meanwhile; those who wait share one write. Should another server have taken over in between,
   * the ending may not be there: then this rejects, and the ending is sent again.
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
        throw new Error('endings were lost: another server has taken over before they were on disk')
    })
    this.#unflushed = { ids, done }
    this.#flushing = done.catch(() => undefined)
    return done
  }
}

/** The database has refused a value, and has rolled the batch back. */
function isUndone(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return GatewayError.is(error) || (typeof code === 'string' && code.startsWith('23'))
}
