import assert from 'node:assert/strict'
import type { Ledger } from '../money/ledger/contract.ts'
import { mostMicros } from '../money/money.ts'
import { fresh, race, suiteOf, type StoreKitOptions, type TestFunction } from './kit.ts'
import { testLots } from './ledger-lots.ts'
import { funded, fundsOf, testAccounts } from './ledger-accounts.ts'
import { testCompaction } from './ledger-compaction.ts'
import { testCaps } from './ledger-caps.ts'
import { testNotices } from './ledger-notices.ts'
import { testCapPeriods } from './ledger-periods.ts'
import { testLedgerNames } from './exact-names.ts'

/** Longer than any test. */
const leaseMs = 600_000
/** A lease for the tests that wait until it expires. */
const shortMs = 150

/**
 * Registers one test for each requirement of the `Ledger` contract. Those of caps pass for a ledger without `caps`.
 *
 * @param factory Opens the ledger of one test. It need not be empty, but nothing else may write to it during the tests,
 *   because the audit sums over all accounts.
 * @example
 * ```ts
 * testLedger(test, () => myLedger())
 * ```
 */
export function testLedger(
  test: TestFunction,
  factory: () => Promise<Ledger> | Ledger,
  options: StoreKitOptions<Ledger> = {},
): void {
  const suite = suiteOf('ledger', test, factory, options)
  const { it, wait, withLease } = suite

  it('the first credit opens an account; later credits add to its balance', async (ledger, other) => {
    const account = fresh('account')
    assert.equal(await ledger.account(account), undefined)
    const first = await ledger.credit({ account, amount: 5n, reference: fresh('r') })
    assert.deepEqual(first, { outcome: 'credited', balance: 5n })
    const second = await other.credit({ account, amount: 7n, reference: fresh('r'), note: 'for tests' })
    assert.deepEqual(second, { outcome: 'credited', balance: 12n })
    assert.deepEqual(await fundsOf(ledger, account), { balance: 12n, held: 0n })
    assert.equal((await ledger.account(account))?.unlimited, false)
  })

  it('credits a reference once, even if repeated concurrently', async (ledger, other) => {
    const credit = { account: fresh('account'), amount: 5n, reference: fresh('r') }
    const outcomes = (await race(20, [ledger, other], (each) => each.credit(credit))).map(({ outcome }) => outcome)
    assert.deepEqual([...outcomes].sort(), [...Array<string>(19).fill('already'), 'credited'])
    assert.deepEqual(await fundsOf(other, credit.account), { balance: 5n, held: 0n })
  })

  it('reports a conflict if a reference is reused for another amount or account', async (ledger) => {
    const account = await funded(ledger, 1n)
    const reference = fresh('r')
    await ledger.credit({ account, amount: 5n, reference })
    const larger = await ledger.credit({ account, amount: 6n, reference })
    assert.deepEqual(larger, { outcome: 'conflict', balance: 6n })
    assert.equal((await ledger.credit({ account: fresh('account'), amount: 5n, reference })).outcome, 'conflict')
    assert.deepEqual(await fundsOf(ledger, account), { balance: 6n, held: 0n })
  })

  it('balances beyond 2^53 are exact', async (ledger, other) => {
    const account = fresh('account')
    for (const [count, each] of [ledger, other, ledger].entries()) {
      const { balance } = await each.credit({ account, amount: mostMicros, reference: fresh('r') })
      assert.equal(balance, mostMicros * BigInt(count + 1))
    }
    const before = mostMicros * 3n
    const id = fresh('h')
    const held = await ledger.hold({ id, account, amount: mostMicros - 1n, leaseMs })
    assert.deepEqual(held, { outcome: 'held', balance: before - mostMicros + 1n })
    assert.equal((await other.hold({ id: fresh('h'), account, amount: mostMicros, leaseMs })).balance, mostMicros + 1n)
    assert.deepEqual(await fundsOf(other, account), { balance: mostMicros + 1n, held: mostMicros * 2n - 1n })
    await ledger.settle({ id, account, amount: 3n })
    assert.deepEqual(await fundsOf(ledger, account), { balance: mostMicros * 2n - 3n, held: mostMicros })
    // Far below zero and back to exactly zero.
    for (let count = 0; count < 4; count++) await ledger.settle({ id: fresh('h'), account, amount: mostMicros })
    assert.deepEqual(await fundsOf(ledger, account), { balance: mostMicros * -2n - 3n, held: mostMicros })
    for (const amount of [mostMicros, mostMicros, 3n]) await other.credit({ account, amount, reference: fresh('r') })
    assert.deepEqual(await fundsOf(ledger, account), { balance: 0n, held: mostMicros })
    assert.deepEqual((await ledger.audit()).faults, [])
  })

  testLedgerNames(it)

  it('a negative credit reduces the balance', async (ledger) => {
    const account = await funded(ledger, 10n)
    assert.equal((await ledger.credit({ account, amount: -4n, reference: fresh('r') })).balance, 6n)
  })

  it('grants a hold up to the exact balance', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    const first = await ledger.hold({ id: fresh('h'), account, amount: 10n, leaseMs })
    assert.deepEqual(first, { outcome: 'held', balance: 0n })
    assert.deepEqual(await fundsOf(other, account), { balance: 0n, held: 10n })
    const second = await other.hold({ id: fresh('h'), account, amount: 1n, leaseMs })
    assert.deepEqual(second, { outcome: 'insufficient', balance: 0n })
    assert.deepEqual(await fundsOf(ledger, account), { balance: 0n, held: 10n })
    assert.equal((await ledger.hold({ id: fresh('h'), account, amount: 0n, leaseMs })).outcome, 'held')
  })

  it('rejects a hold on an unknown account', async (ledger) => {
    const verdict = await ledger.hold({ id: fresh('h'), account: fresh('account'), amount: 1n, leaseMs })
    assert.deepEqual(verdict, { outcome: 'insufficient', balance: 0n })
  })

  it('holds an id once, even if repeated concurrently', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    const hold = { id: fresh('h'), account, amount: 6n, leaseMs }
    const verdicts = await race(20, [ledger, other], (each) => each.hold(hold))
    for (const verdict of verdicts) assert.deepEqual(verdict, { outcome: 'held', balance: 4n })
    assert.deepEqual(await fundsOf(ledger, account), { balance: 4n, held: 6n })
  })

  it('concurrent holds are granted up to the balance and no further', async (ledger, other) => {
    const account = await funded(ledger, 1_000n)
    const verdicts = await race(200, [ledger, other], (each) =>
      each.hold({ id: fresh('h'), account, amount: 7n, leaseMs }),
    )
    assert.equal(verdicts.filter(({ outcome }) => outcome === 'held').length, 142)
    assert.deepEqual(await fundsOf(ledger, account), { balance: 6n, held: 994n })
  })

  it('settles less than the hold and returns the rest to the balance', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 8n, leaseMs })
    const verdict = await other.settle({ id, account, amount: 3n })
    assert.deepEqual(verdict, { outcome: 'settled', charged: 3n, overage: 0n })
    assert.deepEqual(await fundsOf(ledger, account), { balance: 7n, held: 0n })
  })

  it('settles more than the hold in full, below zero if necessary, and reports the overage', async (ledger) => {
    const account = await funded(ledger, 10n)
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 8n, leaseMs })
    const verdict = await ledger.settle({ id, account, amount: 13n })
    assert.deepEqual(verdict, { outcome: 'settled', charged: 13n, overage: 5n })
    assert.deepEqual(await fundsOf(ledger, account), { balance: -3n, held: 0n })
    assert.equal((await ledger.hold({ id: fresh('h'), account, amount: 1n, leaseMs })).outcome, 'insufficient')
  })

  it('settles an id once; repeated settlements return the amount charged', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 50n, leaseMs })
    const verdicts = await race(20, [ledger, other], (each, index) =>
      each.settle({ id, account, amount: BigInt(index + 1) }),
    )
    const first = verdicts.filter(({ outcome }) => outcome === 'settled')
    assert.equal(first.length, 1)
    for (const { charged, overage } of verdicts)
      assert.deepEqual({ charged, overage }, { charged: first[0]?.charged, overage: 0n })
    assert.equal(verdicts.filter(({ outcome }) => outcome === 'already').length, 19)
    assert.deepEqual(await fundsOf(other, account), { balance: 100n - (first[0]?.charged ?? 0n), held: 0n })
  })

  it('settles an unknown hold in full', async (ledger) => {
    const account = await funded(ledger, 10n)
    const verdict = await ledger.settle({ id: fresh('h'), account, amount: 4n })
    assert.deepEqual(verdict, { outcome: 'settled', charged: 4n, overage: 4n })
    assert.deepEqual(await fundsOf(ledger, account), { balance: 6n, held: 0n })
    const unknown = fresh('account')
    await ledger.settle({ id: fresh('h'), account: unknown, amount: 4n })
    assert.deepEqual(await fundsOf(ledger, unknown), { balance: -4n, held: 0n })
  })

  it('releases a hold once and returns all of it', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 8n, leaseMs })
    await race(10, [ledger, other], async (each) => each.release({ id, account }))
    assert.deepEqual(await fundsOf(ledger, account), { balance: 10n, held: 0n })
  })

  it('does not settle a released hold or release a settled one', async (ledger) => {
    const account = await funded(ledger, 10n)
    const [released, settled] = [fresh('h'), fresh('h')]
    for (const id of [released, settled]) await ledger.hold({ id, account, amount: 3n, leaseMs })
    await ledger.release({ id: released, account })
    const late = await ledger.settle({ id: released, account, amount: 3n })
    assert.deepEqual(late, { outcome: 'released', charged: 0n, overage: 0n })
    await ledger.settle({ id: settled, account, amount: 2n })
    await ledger.release({ id: settled, account })
    assert.deepEqual(await fundsOf(ledger, account), { balance: 8n, held: 0n })
  })

  it('settles or releases a hold, never both, when both run concurrently', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    for (let round = 0; round < 10; round++) {
      const { balance } = await fundsOf(ledger, account)
      const id = fresh('h')
      await ledger.hold({ id, account, amount: 5n, leaseMs })
      const outcomes: (string | undefined)[] = await race(10, [ledger, other], async (each, index) =>
        index % 3 === 0
          ? (await each.release({ id, account }), undefined)
          : (await each.settle({ id, account, amount: 2n })).outcome,
      )
      const charged = outcomes.filter((outcome) => outcome === 'settled').length
      assert.ok(charged <= 1, `settled ${charged} times`)
      if (charged === 0) assert.ok(!outcomes.includes('already'), 'settled already, but never settled')
      assert.deepEqual(await fundsOf(other, account), { balance: balance - BigInt(charged) * 2n, held: 0n })
    }
  })

  it('reports a hold as ended if its settlement or release arrived first', async (ledger) => {
    const account = await funded(ledger, 10n)
    const [released, settled] = [fresh('h'), fresh('h')]
    await ledger.release({ id: released, account })
    await ledger.settle({ id: settled, account, amount: 1n })
    for (const id of [released, settled]) {
      assert.deepEqual(await ledger.hold({ id, account, amount: 5n, leaseMs }), { outcome: 'ended', balance: 9n })
    }
    assert.deepEqual(await fundsOf(ledger, account), { balance: 9n, held: 0n })
  })

  it('returns a hold to the balance when its lease expires', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    await ledger.hold({ id: fresh('h'), account, amount: 8n, leaseMs: shortMs })
    await ledger.hold({ id: fresh('h'), account, amount: 1n, leaseMs })
    await wait(shortMs + 20)
    assert.equal((await other.hold({ id: fresh('h'), account, amount: 9n, leaseMs })).outcome, 'held')
    const second = await funded(ledger, 10n)
    await ledger.hold({ id: fresh('h'), account: second, amount: 8n, leaseMs: shortMs })
    await wait(shortMs + 20)
    assert.deepEqual(await fundsOf(other, second), { balance: 10n, held: 0n })
  })

  it('holds an id again after its lease has expired', async (ledger) => {
    const account = await funded(ledger, 10n)
    const hold = { id: fresh('h'), account, amount: 4n, leaseMs: shortMs }
    await ledger.hold(hold)
    await wait(shortMs + 20)
    assert.deepEqual(await ledger.hold({ ...hold, leaseMs }), { outcome: 'held', balance: 6n })
    await wait(shortMs + 20)
    assert.deepEqual(await fundsOf(ledger, account), { balance: 6n, held: 4n })
  })

  it('settles a hold with an expired lease in full, once', async (ledger) => {
    const account = await funded(ledger, 10n)
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 8n, leaseMs: shortMs })
    await wait(shortMs + 20)
    const verdict = await ledger.settle({ id, account, amount: 5n })
    assert.deepEqual(verdict, { outcome: 'settled', charged: 5n, overage: 5n })
    await ledger.release({ id, account })
    assert.equal((await ledger.settle({ id, account, amount: 5n })).outcome, 'already')
    assert.deepEqual(await fundsOf(ledger, account), { balance: 5n, held: 0n })
  })

  it('renew extends open holds but does not revive ended or expired ones', async (ledger, other) => {
    await withLease(async (shortMs, expire) => {
      const account = await funded(ledger, 100n)
      const [kept, lost, ended] = [fresh('h'), fresh('h'), fresh('h')]
      for (const id of [kept, lost, ended]) await ledger.hold({ id, account, amount: 10n, leaseMs: shortMs })
      await ledger.release({ id: ended, account })
      await other.renew(
        [
          { id: kept, account },
          { id: ended, account },
        ],
        leaseMs,
      )
      await expire()
      await other.renew([{ id: lost, account }], leaseMs)
      assert.deepEqual(await fundsOf(ledger, account), { balance: 90n, held: 10n })
      await ledger.renew([], leaseMs)
    })
  })

  testAccounts(it)
  testLots(it)
  testCompaction(suite)
  testCaps(it)
  testCapPeriods(suite)
  testNotices(suite)
}
