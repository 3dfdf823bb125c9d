/** Admits and ends calls in batches: one transaction applies the limits and the money of a whole batch. */
import { GatewayError } from '../../../src/errors.ts'
import {
  verdictAfter,
  type AdmissionEnd,
  type CapClaim,
  type CapState,
  type Hold,
  type SettleVerdict,
  type SliceEnds,
} from '../index.ts'
import type { AdmissionItem, AdmissionResult } from '../batched-admission.ts'
import { Batches } from '../batches.ts'
import { callsAhead } from '../slice-shares.ts'
import { AccountBooks } from './account-books.ts'
import { Buckets } from './buckets.ts'
import { CapBooks } from './cap-books.ts'
import type { Database } from './database.ts'

/** Maximum numbers of concurrent batches: of a process, one that waits for the locks of another is of no use. */
const lanes = { admissions: 1, endings: 1 }

/** An item of a batch of endings: the end of a call, or what became of slices. */
type Told = AdmissionEnd | SliceEnds

/** The batches of one database. */
export class Calls {
  readonly #database: Database
  readonly #admissions: Batches<AdmissionItem, AdmissionResult>
  readonly #endings: Batches<Told, SettleVerdict | undefined>

  constructor(database: Database) {
    this.#database = database
    const { statementMs: maxWaitMs } = database
    this.#admissions = new Batches({
      perform: (calls) => this.#inBooks(calls, [], (books) => calls.map((call) => admitted(books, call))),
      ids: ({ claim, hold }) => [...(claim ? [`claim ${claim.id}`] : []), ...(hold ? [`hold ${hold.id}`] : [])],
      isUndone,
      lanes: lanes.admissions,
      maxWaitMs,
    })
    this.#endings = new Batches({
      perform: (told) => this.#inBooks([], told, (books) => told.map((each) => ended(books, each))),
      ids: (told) => ('draws' in told ? [] : idsOf(told)),
      isUndone,
      lanes: lanes.endings,
      maxWaitMs,
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

  /** Tells what became of slices: before the ends of calls that are added later. */
  endSlices(slices: SliceEnds): Promise<unknown> {
    return this.#endings.add(slices)
  }

  /** The states of caps now. */
  async states(claims: readonly CapClaim[]): Promise<readonly CapState[]> {
    return this.#database.transaction(async (ask) => {
      const caps = new CapBooks(ask)
      const question = { claims, holds: [], periods: [] }
      await caps.read(await caps.lock(question), question)
      const ahead = await caps.ahead(claims)
      const states = claims.map((claim, index) => ({ ...caps.state(claim), ahead: ahead[index] as bigint }))
      caps.write()
      return states
    })
  }

  /** Locks are taken in the order buckets, accounts, caps, holds, so that transactions seldom deadlock. */
  #inBooks<T>(calls: readonly AdmissionItem[], told: readonly Told[], act: (books: Books) => T): Promise<T> {
    const endings = told.flatMap((each) => ('draws' in each ? [] : each))
    const slices = told.flatMap((each) => ('draws' in each ? each : []))
    const draws = slices.flatMap((each) => each.draws)
    const given = slices.flatMap((each) => each.returns)
    const wished = calls.flatMap(({ claim, slice }) => (claim && slice ? { ...claim, id: slice.id, rates: [] } : []))
    const drawn = draws.flatMap(({ slice, claim }) => [slice, claim.id].map((id) => ({ ...claim, id, rates: [] })))
    const claims = [...calls.flatMap(({ claim }) => claim ?? []), ...wished, ...drawn]
    const ofSlices = [...given, ...draws.map(({ slice, hold: { account } }) => ({ id: slice, account }))]
    const holds = [
      ...calls.flatMap(({ hold }) => hold ?? []),
      ...draws.map(({ hold }) => hold),
      ...ofSlices.map(standing),
    ]
    const returns = [...endings.flatMap(({ returned }) => returned ?? []), ...given]
    const ends = endings.flatMap(({ end }) => end ?? [])
    const question = {
      claims: calls.flatMap(({ hold }) => hold?.caps ?? []),
      moved: draws.flatMap(({ hold }) => hold.caps ?? []),
      holds: [...holds.filter(({ caps = [] }) => caps.length > 0), ...ofSlices, ...ends].map(({ id }) => id),
      periods: ends.flatMap(({ caps = [] }) => caps),
      isPartial: given.length > 0 || ends.some(({ amount }) => amount === undefined),
    }
    return this.#database.transaction(async (ask) => {
      const caps = new CapBooks(ask)
      const [buckets, accounts] = [new Buckets(ask), new AccountBooks(ask, caps)]
      const locked = [buckets.lock(claims, returns), accounts.lock(holds, ends), caps.lock(question)]
      const now = Math.max(...(await Promise.all(locked)))
      await Promise.all([buckets.read(now, claims, returns), accounts.read(now, holds, ends), caps.read(now, question)])
      const result = act({ now, buckets, accounts })
      buckets.write()
      accounts.write()
      caps.write()
      return result
    })
  }
}

interface Books {
  /** The time. */
  readonly now: number
  readonly buckets: Buckets
  readonly accounts: AccountBooks
}

function admitted({ now, buckets, accounts }: Books, call: AdmissionItem): AdmissionResult {
  const { claim, hold, slice } = call
  const limits = claim && buckets.check(claim)
  if (limits?.admitted === false) return { limits }
  const held = hold && accounts.hold(hold)
  if (held !== undefined && held.outcome !== 'held') return { ...(limits && { limits }), hold: held }
  if (claim !== undefined) buckets.draw(claim)
  const after = claim && limits && verdictAfter(claim, limits)
  const isNew = hold !== undefined && accounts.isMade(hold.id)
  const store = { now, isUnlimited: hold !== undefined && accounts.isUnlimited(hold.account) }
  const ahead = isNew && held ? callsAhead(call, after, held, store) : 0
  if (ahead > 0 && claim && hold && slice) {
    accounts.holdAhead(hold, slice.id, ahead)
    buckets.drawAhead(claim, slice, ahead)
  }
  return { ...(after && { limits: after }), ...(held && { hold: held }), ...(ahead > 0 && { ahead }) }
}

function ended({ buckets, accounts }: Books, told: Told): SettleVerdict | undefined {
  if ('draws' in told) {
    for (const draw of told.draws) if (accounts.moveDraw(draw)) buckets.moveDraw(draw)
    for (const rest of told.returns) {
      accounts.giveBack(rest)
      buckets.give(rest)
    }
    return undefined
  }
  const { returned, end } = told
  if (returned !== undefined) buckets.give(returned)
  return end && accounts.end(end)
}

function idsOf({ end, returned }: AdmissionEnd): string[] {
  return [...(end ? [`hold ${end.id}`] : []), ...(returned ? [`claim ${returned.id}`] : [])]
}

/** A hold that is only read. */
function standing({ id, account }: Pick<Hold, 'id' | 'account'>): Hold {
  return { id, account, amount: 1n, leaseMs: 0 }
}

/** Whether an error is one of the values of a call, so that the others of its batch can be sent again: no statement failed. */
function isUndone(error: unknown): boolean {
  return GatewayError.is(error)
}
