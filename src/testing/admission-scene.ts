/** An account with plenty of everything, and calls of it, for the suite of admission stores. */
import assert from 'node:assert/strict'
import { slicePrefix, type AdmissionEnd, type AdmissionStore, type SliceReturn } from '../admission/contract.ts'
import type { CapClaim } from '../money/caps/contract.ts'
import type { Hold, Settlement } from '../money/ledger/contract.ts'
import { ownedBy } from '../money/limits/bucket.ts'
import type { LimitClaim, RateRule } from '../money/limits/contract.ts'
import { fresh } from './kit.ts'

/** What an account of its own has at first. Units are not refilled. */
export const plenty = { money: 1_000_000_000n, units: 1_000_000, places: 10_000 } as const
const leaseMs = 60_000
/** Tokens that a call counts for a cap. */
export const tokens = 3n

/** A call, as it is admitted. */
export interface Called {
  readonly claim: LimitClaim
  readonly hold: Hold
  /** What its settlement counts for caps. */
  readonly counted?: Pick<Settlement, 'caps' | 'tokens'>
}

/** What differs from `plenty`: used up if negative. */
interface State {
  readonly balance: bigint
  readonly held: bigint
  readonly units: number
  readonly places: number
}

export interface Scene {
  readonly account: string
  readonly rate: RateRule
  /** A call that draws so many units. */
  call(name: string, amount: bigint, cost?: number, lease?: number): Called
  /** What to return of a slice. */
  rest(id: string, units: number): SliceReturn
  /** Fails if the cap of the account, if it has one, does not agree. */
  state(): Promise<State>
}

/** An account with plenty of everything. `isCapped`: its calls count for a cap, too. */
export async function sceneOf({ ledger, limits }: AdmissionStore, isCapped: boolean = false): Promise<Scene> {
  const account = fresh('account')
  const own = (name: string) => ownedBy(account, name)
  const rate: RateRule = { bucket: own('units'), cost: 2, limit: 1, periodMs: 1e12, burst: plenty.units }
  const places = [{ bucket: own('places'), places: plenty.places }]
  await ledger.credit({ account, amount: plenty.money, reference: fresh('credit') })
  const read = async (claims: readonly CapClaim[]) => (await ledger.caps?.read(claims)) ?? []
  const caps = [{ ...capOf(account), limits: { money: plenty.money, calls: BigInt(plenty.places) } }]
  const periods = isCapped ? await read(caps) : []
  const counted = periods.map(({ name, window, start, end, rollingMs }) => ({ name, window, start, end, rollingMs }))
  const state = async () => {
    const { balance = 0n, held = 0n } = (await ledger.account(account)) ?? {}
    const { items = [] } = (await ledger.entries?.(account, { limit: 1_000 })) ?? {}
    const booked = items.reduce((sum, { amount }) => sum + amount, 0n)
    if (ledger.entries !== undefined)
      assert.equal(balance + held, booked, 'the balance does not agree with the entries')
    const asked = { id: fresh('asks'), rates: [{ ...rate, cost: 0 }], places, leaseMs }
    const { left, free } = await limits.take(asked)
    await limits.give({ id: asked.id, places: places.map(({ bucket }) => bucket), corrections: [] })
    const units = Math.round(left[0] as number) - plenty.units
    const used = { balance: balance - plenty.money, held, units, places: (free[0] as number) + 1 - plenty.places }
    // Places of calls whose lease has expired may be missing for a second.
    const calls = held === 0n ? 0n : BigInt(-used.places)
    for (const cap of isCapped ? await read(caps) : []) {
      assert.deepEqual(
        cap.held,
        { money: held, tokens: tokens * calls, calls },
        'the cap does not agree with the holds',
      )
      assert.equal(cap.settled.money, -used.balance - held, 'the cap does not agree with the charges')
    }
    return used
  }
  // A store may draw slices only from buckets that it knows.
  await state()
  return {
    account,
    rate,
    state,
    call(name, amount, cost = 2, lease = leaseMs) {
      const id = `${name} of ${account}`
      return {
        claim: { id, rates: [{ ...rate, cost }], places, leaseMs: lease },
        hold: { id, account, amount, leaseMs: lease, ...(isCapped && { caps, tokens }) },
        ...(isCapped && { counted: { caps: counted, tokens } }),
      }
    },
    rest: (id, units) => ({
      id,
      account,
      places: places.map(({ bucket }) => bucket),
      corrections: units === 0 ? [] : [{ ...rate, cost: -units }],
    }),
  }
}

/** A cap of an account, in a period that does not end. */
export function capOf(account: string): Omit<CapClaim, 'limits'> {
  return { name: `cap of ${account}`, window: 'always', periods: { boundaries: [0, 8.64e15] } }
}

/** The end of a call with a charge, or without one. */
export function endOf(
  account: string,
  { claim: { id, places }, counted }: Called,
  amount: bigint | undefined,
): AdmissionEnd {
  return {
    end: { id, account, ...(amount !== undefined && { amount, ...counted }) },
    returned: { id, places: places.map(({ bucket }) => bucket), corrections: [] },
  }
}

/** The id of a slice. */
export function sliceId(): string {
  return `${slicePrefix}${fresh('of a test')}`
}
