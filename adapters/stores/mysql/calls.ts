/** Admits and ends calls in batches: one transaction applies the limits and the money of a whole batch. */
import { GatewayError } from '../../../src/errors.ts'
import { verdictAfter, type AdmissionEnd, type CapClaim, type CapState, type SettleVerdict } from '../index.ts'
import type { AdmissionItem, AdmissionResult } from '../batched-admission.ts'
import { Batches } from '../batches.ts'
import { AccountBooks } from './account-books.ts'
import { Buckets } from './buckets.ts'
import { CapBooks } from './cap-books.ts'
import type { Database } from './database.ts'

/** Maximum numbers of concurrent batches: of a process, one that waits for the locks of another is of no use. */
const lanes = { admissions: 1, endings: 1 }

/** The batches of one database. */
export class Calls {
  readonly #database: Database
  readonly #admissions: Batches<AdmissionItem, AdmissionResult>
  readonly #endings: Batches<AdmissionEnd, SettleVerdict | undefined>

  constructor(database: Database) {
    this.#database = database
    this.#admissions = new Batches({
      perform: (calls) => this.#inBooks(calls, [], (books) => calls.map((call) => admitted(books, call))),
      ids: ({ claim, hold }) => [...(claim ? [`claim ${claim.id}`] : []), ...(hold ? [`hold ${hold.id}`] : [])],
      isUndone,
      lanes: lanes.admissions,
    })
    this.#endings = new Batches({
      perform: (endings) => this.#inBooks([], endings, (books) => endings.map((ending) => ended(books, ending))),
      ids: ({ end, returned }) => [...(end ? [`hold ${end.id}`] : []), ...(returned ? [`claim ${returned.id}`] : [])],
      isUndone,
      lanes: lanes.endings,
    })
  }

  /** Takes the claim and the hold of a call: both, or neither. */
  admit(call: AdmissionItem): Promise<AdmissionResult> {
    return this.#admissions.add(call)
  }

  /** Returns the claim of a call, and settles or releases its hold. */
  end(ending: AdmissionEnd): Promise<SettleVerdict | undefined> {
    return this.#endings.add(ending)
  }

  /** The states of caps now. */
  async states(claims: readonly CapClaim[]): Promise<readonly CapState[]> {
    return this.#database.transaction(async (ask) => {
      const caps = new CapBooks(ask)
      const question = { claims, holds: [], periods: [] }
      await caps.read(await caps.lock(question), question)
      const states = claims.map((claim) => caps.state(claim))
      caps.write()
      return states
    })
  }

  /** Locks are taken in the order buckets, accounts, caps, holds, so that transactions seldom deadlock. */
  #inBooks<T>(calls: readonly AdmissionItem[], endings: readonly AdmissionEnd[], act: (books: Books) => T): Promise<T> {
    const claims = calls.flatMap(({ claim }) => claim ?? [])
    const holds = calls.flatMap(({ hold }) => hold ?? [])
    const returns = endings.flatMap(({ returned }) => returned ?? [])
    const ends = endings.flatMap(({ end }) => end ?? [])
    const question = {
      claims: holds.flatMap(({ caps = [] }) => caps),
      holds: [...holds.filter(({ caps = [] }) => caps.length > 0), ...ends].map(({ id }) => id),
      periods: ends.flatMap(({ caps = [] }) => caps),
    }
    return this.#database.transaction(async (ask) => {
      const caps = new CapBooks(ask)
      const [buckets, accounts] = [new Buckets(ask), new AccountBooks(ask, caps)]
      const locked = [buckets.lock(claims, returns), accounts.lock(holds, ends), caps.lock(question)]
      const now = Math.max(...(await Promise.all(locked)))
      await Promise.all([buckets.read(now, claims, returns), accounts.read(now, holds, ends), caps.read(now, question)])
      const result = act({ buckets, accounts })
      buckets.write()
      accounts.write()
      caps.write()
      return result
    })
  }
}

interface Books {
  readonly buckets: Buckets
  readonly accounts: AccountBooks
}

function admitted({ buckets, accounts }: Books, { claim, hold }: AdmissionItem): AdmissionResult {
  const limits = claim && buckets.check(claim)
  if (limits?.admitted === false) return { limits }
  const held = hold && accounts.hold(hold)
  if (held !== undefined && held.outcome !== 'held') return { ...(limits && { limits }), hold: held }
  if (claim !== undefined) buckets.draw(claim)
  return { ...(claim && limits && { limits: verdictAfter(claim, limits) }), ...(held && { hold: held }) }
}

function ended({ buckets, accounts }: Books, { returned, end }: AdmissionEnd): SettleVerdict | undefined {
  if (returned !== undefined) buckets.give(returned)
  return end && accounts.end(end)
}

/** Whether an error is one of the values of a call, so that the others of its batch can be sent again: no statement failed. */
function isUndone(error: unknown): boolean {
  return GatewayError.is(error)
}
