/** The tests of the caps of a ledger: limits of use per period. */
import assert from 'node:assert/strict'
import type { CapAmounts, CapClaim, CapLimits, CapState, LedgerCaps } from '../money/caps/contract.ts'
import type { Hold, HoldVerdict, Ledger, Settlement } from '../money/ledger/contract.ts'
import { mostMicros } from '../money/money.ts'
import { fresh, similarNames, race, type Suite } from './kit.ts'
import { funded, fundsOf } from './ledger-accounts.ts'

export type CappedLedger = Ledger & { readonly caps: LedgerCaps }

/** Longer than any test. */
const leaseMs = 600_000
const measures = ['money', 'tokens', 'calls'] as const

/** Registers a test for ledgers that have caps. */
export function capTests(
  it: Suite<Ledger>['it'],
): (name: string, body: (ledger: CappedLedger, other: CappedLedger) => Promise<void>) => void {
  return (name, body) =>
    it(`caps: ${name}`, async (ledger, other) => {
      if (ledger.caps !== undefined) await body(ledger as CappedLedger, other as CappedLedger)
    })
}

/** A cap whose only period contains all times. */
export function capOf(limits: CapLimits, changes: Partial<CapClaim> = {}): CapClaim {
  return { name: fresh('cap'), window: 'always', periods: { boundaries: [0, 8e15] }, limits, ...changes }
}

export function amountsOf(money: number | bigint, tokens: number | bigint, calls: number | bigint): CapAmounts {
  return { money: BigInt(money), tokens: BigInt(tokens), calls: BigInt(calls) }
}

export async function useOf(ledger: CappedLedger, claim: CapClaim): Promise<Pick<CapState, 'settled' | 'held'>> {
  const [state] = await ledger.caps.read([claim])
  assert.ok(state, 'read() returned no state')
  return { settled: state.settled, held: state.held }
}

export function holdOf(account: string, caps: readonly CapClaim[], changes: Partial<Hold> = {}): Hold {
  return { id: fresh('h'), account, amount: 1n, tokens: 0n, leaseMs, caps, ...changes }
}

/** Settles a hold as its verdict says. */
export function settlementOf(
  { id, account }: Hold,
  { caps = [] }: Pick<HoldVerdict, 'caps'>,
  amount: bigint,
  tokens: bigint = 0n,
): Settlement {
  return { id, account, amount, tokens, caps }
}

export function testCaps(it: Suite<Ledger>['it']): void {
  const test = capTests(it)

  test('grants holds up to the exact limit of each measure, and no further', async (ledger, other) => {
    const account = await funded(ledger, 1_000n)
    for (const measure of measures) {
      const claim = capOf({ [measure]: 3n })
      const more = measure === 'calls' ? { amount: 0n } : { amount: 2n, tokens: 2n }
      const hold = (changes: Partial<Hold>) => holdOf(account, [claim], { ...more, ...changes })
      assert.equal((await ledger.hold(hold({}))).outcome, 'held')
      if (measure === 'calls') assert.equal((await other.hold(hold({}))).outcome, 'held')
      else assert.equal((await other.hold(hold({}))).outcome, 'capped')
      assert.equal((await ledger.hold(hold({ amount: 1n, tokens: 1n }))).outcome, 'held')
      assert.equal((await other.hold(hold({ amount: 1n, tokens: 1n }))).outcome, 'capped')
      assert.equal((await useOf(other, claim)).held[measure], 3n)
    }
  })

  test('a measure without a limit is counted and not limited', async (ledger) => {
    const account = await funded(ledger, 1_000n)
    const claim = capOf({})
    for (let count = 0; count < 3; count++) await ledger.hold(holdOf(account, [claim], { amount: 100n, tokens: 7n }))
    assert.deepEqual(await useOf(ledger, claim), { settled: amountsOf(0, 0, 0), held: amountsOf(300, 21, 3) })
  })

  test('a hold that does not fit one of its caps changes nothing', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    const [wide, narrow, last] = [capOf({ money: 50n }), capOf({ money: 5n }), capOf({ calls: 9n })]
    const hold = holdOf(account, [wide, narrow, last], { amount: 6n, tokens: 3n })
    const verdict = await ledger.hold(hold)
    assert.equal(verdict.outcome, 'capped')
    assert.equal(verdict.balance, 100n)
    assert.deepEqual(
      verdict.caps?.map(({ name, window, held, limits }) => ({ name, window, held, limits })),
      [wide, narrow, last].map(({ name, window, limits }) => ({ name, window, held: amountsOf(0, 0, 0), limits })),
    )
    assert.deepEqual(await fundsOf(other, account), { balance: 100n, held: 0n })
    for (const claim of [wide, narrow, last]) assert.deepEqual((await useOf(other, claim)).held, amountsOf(0, 0, 0))
    const smaller = await other.hold({ ...hold, amount: 5n })
    assert.deepEqual([smaller.outcome, smaller.balance], ['held', 95n])
    assert.deepEqual(
      smaller.caps?.map(({ held }) => held),
      [wide, narrow, last].map(() => amountsOf(5, 3, 1)),
    )
  })

  test('a hold that the balance does not cover counts for no cap', async (ledger) => {
    const account = await funded(ledger, 5n)
    const claim = capOf({ money: 50n })
    assert.equal((await ledger.hold(holdOf(account, [claim], { amount: 6n }))).outcome, 'insufficient')
    assert.deepEqual((await useOf(ledger, claim)).held, amountsOf(0, 0, 0))
  })

  test('concurrent holds of many accounts never pass a cap', async (ledger, other) => {
    const accounts = await Promise.all(Array.from({ length: 5 }, async () => funded(ledger, 1_000n)))
    const claims = [capOf({ money: 700n }), capOf({ tokens: 331n }), capOf({ calls: 150n })]
    const verdicts = await race(200, [ledger, other], (each, index) =>
      each.hold(holdOf(accounts[index % 5] as string, claims, { amount: 7n, tokens: 5n })),
    )
    assert.equal(verdicts.filter(({ outcome }) => outcome === 'held').length, 66)
    assert.equal(verdicts.filter(({ outcome }) => outcome === 'capped').length, 134)
    for (const claim of claims) assert.deepEqual((await useOf(ledger, claim)).held, amountsOf(462, 330, 66))
  })

  test('a settlement counts what it used, and the rest of its hold returns', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    const claim = capOf({ money: 10n, tokens: 100n, calls: 5n })
    const hold = holdOf(account, [claim], { amount: 10n, tokens: 90n })
    const verdict = await ledger.hold(hold)
    await other.settle(settlementOf(hold, verdict, 3n, 20n))
    assert.deepEqual(await useOf(ledger, claim), { settled: amountsOf(3, 20, 1), held: amountsOf(0, 0, 0) })
    assert.equal((await other.hold(holdOf(account, [claim], { amount: 8n }))).outcome, 'capped')
    const next = await other.hold(holdOf(account, [claim], { amount: 7n, tokens: 80n }))
    assert.equal(next.outcome, 'held')
    assert.deepEqual(next.caps?.[0]?.settled, amountsOf(3, 20, 1))
    assert.deepEqual(next.caps?.[0]?.held, amountsOf(7, 80, 1))
  })

  test('a settlement that exceeds its hold counts in full', async (ledger) => {
    const account = await funded(ledger, 100n)
    const claim = capOf({ money: 10n })
    const hold = holdOf(account, [claim], { amount: 4n })
    await ledger.settle(settlementOf(hold, await ledger.hold(hold), 12n, 6n))
    assert.deepEqual(await useOf(ledger, claim), { settled: amountsOf(12, 6, 1), held: amountsOf(0, 0, 0) })
    assert.equal((await ledger.hold(holdOf(account, [claim], { amount: 0n }))).outcome, 'capped')
  })

  test('a released hold counts nothing', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    const claim = capOf({ calls: 1n })
    const hold = holdOf(account, [claim], { tokens: 3n })
    const verdict = await ledger.hold(hold)
    await race(10, [ledger, other], async (each) => each.release(hold))
    assert.deepEqual(await useOf(other, claim), { settled: amountsOf(0, 0, 0), held: amountsOf(0, 0, 0) })
    await other.settle(settlementOf(hold, verdict, 1n))
    assert.deepEqual((await useOf(other, claim)).settled, amountsOf(0, 0, 0))
  })

  test('a hold and a settlement count once, even if repeated concurrently', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    const claim = capOf({ money: 10n })
    const hold = holdOf(account, [claim], { amount: 6n, tokens: 2n })
    const verdicts = await race(20, [ledger, other], (each) => each.hold(hold))
    for (const { outcome, caps } of verdicts) {
      assert.deepEqual([outcome, caps?.[0]?.held], ['held', amountsOf(6, 2, 1)])
    }
    const [verdict] = verdicts as [HoldVerdict]
    await race(20, [ledger, other], (each) => each.settle(settlementOf(hold, verdict, 4n, 1n)))
    assert.deepEqual(await useOf(ledger, claim), { settled: amountsOf(4, 1, 1), held: amountsOf(0, 0, 0) })
    assert.equal((await other.hold(hold)).outcome, 'ended')
    assert.deepEqual((await useOf(ledger, claim)).held, amountsOf(0, 0, 0))
  })

  test('a settlement without a hold counts in full', async (ledger) => {
    const account = await funded(ledger, 100n)
    const claim = capOf({})
    const caps = await ledger.caps.read([claim])
    await ledger.settle({ id: fresh('h'), account, amount: 4n, tokens: 5n, caps })
    assert.deepEqual((await useOf(ledger, claim)).settled, amountsOf(4, 5, 1))
  })

  test('a hold of zero is never insufficient, and opens an unknown account', async (ledger) => {
    const [account, claim] = [fresh('account'), capOf({ calls: 2n })]
    const hold = holdOf(account, [claim], { amount: 0n })
    const verdict = await ledger.hold(hold)
    assert.deepEqual([verdict.outcome, verdict.balance], ['held', 0n])
    await ledger.settle(settlementOf(hold, verdict, 3n))
    assert.deepEqual(await fundsOf(ledger, account), { balance: -3n, held: 0n })
    assert.equal((await ledger.hold(holdOf(account, [claim], { amount: 0n }))).outcome, 'held')
    const stranger = fresh('account')
    assert.equal((await ledger.hold(holdOf(stranger, [claim], { amount: 0n }))).outcome, 'capped')
    assert.equal(await ledger.account(stranger), undefined)
    assert.equal((await ledger.hold(holdOf(stranger, [capOf({})], { amount: 1n }))).outcome, 'insufficient')
  })

  test('use beyond 2^53 is exact', async (ledger, other) => {
    const account = fresh('account')
    const claim = capOf({ money: mostMicros })
    const caps = await ledger.caps.read([claim])
    for (const amount of [mostMicros, mostMicros, 3n]) {
      await ledger.settle({ id: fresh('h'), account, amount, tokens: mostMicros, caps })
    }
    const expected = amountsOf(mostMicros * 2n + 3n, mostMicros * 3n, 3)
    assert.deepEqual((await useOf(other, claim)).settled, expected)
    const second = capOf({ money: mostMicros })
    await ledger.open({ id: account, unlimited: true })
    const first = await ledger.hold(holdOf(account, [second], { amount: mostMicros - 1n }))
    assert.equal(first.outcome, 'held')
    assert.equal((await other.hold(holdOf(account, [second], { amount: 2n }))).outcome, 'capped')
    assert.equal((await other.hold(holdOf(account, [second], { amount: 1n }))).outcome, 'held')
  })

  test('compares names and windows byte for byte: case, accents and spaces count', async (ledger) => {
    const account = await funded(ledger, 100n)
    const claim = capOf({ calls: 1n })
    assert.equal((await ledger.hold(holdOf(account, [claim]))).outcome, 'held')
    for (const name of similarNames(claim.name)) {
      assert.equal((await ledger.hold(holdOf(account, [{ ...claim, name }]))).outcome, 'held', JSON.stringify(name))
    }
    for (const window of similarNames(claim.window)) {
      assert.equal((await ledger.hold(holdOf(account, [{ ...claim, window }]))).outcome, 'held', JSON.stringify(window))
    }
    assert.equal((await ledger.hold(holdOf(account, [claim]))).outcome, 'capped')
  })

  test('overrides replace limits by measure: null removes one, a temporary override comes first', async (ledger, other) => {
    const { name, ...claim } = capOf({ money: 5n, tokens: 5n })
    const limits = async () => (await other.caps.read([{ name, ...claim }]))[0]?.limits
    await ledger.caps.override({ name, limits: { money: 7n, calls: 2n } })
    assert.deepEqual(await limits(), { money: 7n, tokens: 5n, calls: 2n })
    const until = (await storeTime(ledger)) + leaseMs
    await ledger.caps.override({ name, limits: { money: 9n, tokens: null }, until })
    assert.deepEqual(await limits(), { money: 9n, calls: 2n })
    assert.deepEqual(await other.caps.overrides(name), [
      { name, limits: { money: 7n, calls: 2n } },
      { name, limits: { money: 9n, tokens: null }, until },
    ])
    const account = await funded(ledger, 100n)
    assert.equal((await other.hold(holdOf(account, [{ name, ...claim }], { amount: 10n }))).outcome, 'capped')
    const verdict = await other.hold(holdOf(account, [{ name, ...claim }], { amount: 9n }))
    assert.deepEqual([verdict.outcome, verdict.caps?.[0]?.limits], ['held', { money: 9n, calls: 2n }])
    await other.caps.override({ name, limits: {}, until })
    assert.deepEqual(await limits(), { money: 7n, tokens: 5n, calls: 2n })
    await other.caps.override({ name, limits: {} })
    assert.deepEqual(await limits(), { money: 5n, tokens: 5n })
    assert.deepEqual(await ledger.caps.overrides(name), [])
    assert.deepEqual(await ledger.caps.overrides(fresh('cap')), [])
  })

  test('a refund takes money off the use of its settlement, at most what it charged, once', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    const claim = capOf({ money: 10n })
    const hold = holdOf(account, [claim], { amount: 10n, tokens: 4n })
    await ledger.settle(settlementOf(hold, await ledger.hold(hold), 8n, 4n))
    const refund = { account, amount: 5n, reference: fresh('r'), refunds: hold.id }
    await race(10, [ledger, other], (each) => each.credit(refund))
    assert.deepEqual((await useOf(other, claim)).settled, amountsOf(3, 4, 1))
    await ledger.credit({ account, amount: 5n, reference: fresh('r'), refunds: hold.id })
    assert.deepEqual((await useOf(other, claim)).settled, amountsOf(0, 4, 1))
    await ledger.credit({ account, amount: 5n, reference: fresh('r'), refunds: fresh('h') })
    await ledger.credit({ account: await funded(ledger, 1n), amount: 5n, reference: fresh('r'), refunds: hold.id })
    assert.deepEqual((await useOf(other, claim)).settled, amountsOf(0, 4, 1))
    assert.deepEqual(await fundsOf(ledger, account), { balance: 107n, held: 0n })
  })
}

/** The store's time in milliseconds since the epoch. */
export async function storeTime(ledger: Ledger): Promise<number> {
  return (await ledger.open({ id: fresh('account') })).createdAt
}
