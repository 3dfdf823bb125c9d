/**
 * The ledger contract as a suite: `testLedger(test, () => myLedger())`. Runs in any runner and needs nothing but
 * node:assert. Nobody else may write to the ledger meanwhile; it need not be empty.
 */
import assert from 'node:assert/strict'
import type { Ledger } from '../billing/contract.ts'
import { mostMicros } from '../billing/money.ts'
import { fresh, race, suiteOf, type StoreKitOptions } from './kit.ts'
import { funded, standing, testBooks } from './ledger-books.ts'
import { testLedgerNames } from './lookalikes.ts'
import type { TestFunction } from './runner.ts'

/** Long enough for any test. */
const leaseMs = 600_000
/** For the tests that wait until it is over. */
const shortMs = 150

export function testLedger(
  test: TestFunction,
  factory: () => Promise<Ledger> | Ledger,
  options: StoreKitOptions<Ledger> = {},
): void {
  const { it, wait } = suiteOf('ledger', test, factory, options)

  it('opens an account with the first credit, and adds every other one', async (ledger, other) => {
    const account = fresh('account')
    assert.equal(await ledger.account(account), undefined)
    const first = await ledger.credit({ account, amount: 5n, reference: fresh('r') })
    assert.deepEqual(first, { outcome: 'credited', balance: 5n })
    const second = await other.credit({ account, amount: 7n, reference: fresh('r'), note: 'for tests' })
    assert.deepEqual(second, { outcome: 'credited', balance: 12n })
    assert.deepEqual(await standing(ledger, account), { balance: 12n, held: 0n })
    assert.equal((await ledger.account(account))?.unlimited, false)
  })

  it('credits once for a reference, however often and wherever it is told', async (ledger, other) => {
    const credit = { account: fresh('account'), amount: 5n, reference: fresh('r') }
    const outcomes = (await race(20, [ledger, other], (each) => each.credit(credit))).map(({ outcome }) => outcome)
    assert.deepEqual([...outcomes].sort(), [...Array<string>(19).fill('already'), 'credited'])
    assert.deepEqual(await standing(other, credit.account), { balance: 5n, held: 0n })
  })

  it('tells a reference that stands for another credit', async (ledger) => {
    const account = await funded(ledger, 1n)
    const reference = fresh('r')
    await ledger.credit({ account, amount: 5n, reference })
    const larger = await ledger.credit({ account, amount: 6n, reference })
    assert.deepEqual(larger, { outcome: 'conflict', balance: 6n })
    assert.equal((await ledger.credit({ account: fresh('account'), amount: 5n, reference })).outcome, 'conflict')
    assert.deepEqual(await standing(ledger, account), { balance: 6n, held: 0n })
  })

  it('adds up amounts beyond 2^53, the largest there is several times', async (ledger, other) => {
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
    assert.deepEqual(await standing(other, account), { balance: mostMicros + 1n, held: mostMicros * 2n - 1n })
    await ledger.settle({ id, account, amount: 3n })
    assert.deepEqual(await standing(ledger, account), { balance: mostMicros * 2n - 3n, held: mostMicros })
    // Far below zero, and back to the very unit.
    for (let count = 0; count < 4; count++) await ledger.settle({ id: fresh('h'), account, amount: mostMicros })
    assert.deepEqual(await standing(ledger, account), { balance: mostMicros * -2n - 3n, held: mostMicros })
    for (const amount of [mostMicros, mostMicros, 3n]) await other.credit({ account, amount, reference: fresh('r') })
    assert.deepEqual(await standing(ledger, account), { balance: 0n, held: mostMicros })
    assert.deepEqual((await ledger.audit()).faults, [])
  })

  testLedgerNames(it)

  it('takes back with a credit below zero', async (ledger) => {
    const account = await funded(ledger, 10n)
    assert.equal((await ledger.credit({ account, amount: -4n, reference: fresh('r') })).balance, 6n)
  })

  it('holds what the balance covers, to the last unit', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    const first = await ledger.hold({ id: fresh('h'), account, amount: 10n, leaseMs })
    assert.deepEqual(first, { outcome: 'held', balance: 0n })
    assert.deepEqual(await standing(other, account), { balance: 0n, held: 10n })
    const second = await other.hold({ id: fresh('h'), account, amount: 1n, leaseMs })
    assert.deepEqual(second, { outcome: 'insufficient', balance: 0n })
    assert.deepEqual(await standing(ledger, account), { balance: 0n, held: 10n })
    assert.equal((await ledger.hold({ id: fresh('h'), account, amount: 0n, leaseMs })).outcome, 'held')
  })

  it('holds nothing for an account it does not know', async (ledger) => {
    const verdict = await ledger.hold({ id: fresh('h'), account: fresh('account'), amount: 1n, leaseMs })
    assert.deepEqual(verdict, { outcome: 'insufficient', balance: 0n })
  })

  it('holds once for an id, however often and wherever it is told', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    const hold = { id: fresh('h'), account, amount: 6n, leaseMs }
    const verdicts = await race(20, [ledger, other], (each) => each.hold(hold))
    for (const verdict of verdicts) assert.deepEqual(verdict, { outcome: 'held', balance: 4n })
    assert.deepEqual(await standing(ledger, account), { balance: 4n, held: 6n })
  })

  it('lets many spenders through for exactly as much as there is', async (ledger, other) => {
    const account = await funded(ledger, 1_000n)
    const verdicts = await race(200, [ledger, other], (each) =>
      each.hold({ id: fresh('h'), account, amount: 7n, leaseMs }),
    )
    assert.equal(verdicts.filter(({ outcome }) => outcome === 'held').length, 142)
    assert.deepEqual(await standing(ledger, account), { balance: 6n, held: 994n })
  })

  it('settles for less than was held and gives back the rest', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 8n, leaseMs })
    const verdict = await other.settle({ id, account, amount: 3n })
    assert.deepEqual(verdict, { outcome: 'settled', charged: 3n, overage: 0n })
    assert.deepEqual(await standing(ledger, account), { balance: 7n, held: 0n })
  })

  it('settles for more than was held in full, below zero if need be, and tells the overage', async (ledger) => {
    const account = await funded(ledger, 10n)
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 8n, leaseMs })
    const verdict = await ledger.settle({ id, account, amount: 13n })
    assert.deepEqual(verdict, { outcome: 'settled', charged: 13n, overage: 5n })
    assert.deepEqual(await standing(ledger, account), { balance: -3n, held: 0n })
    assert.equal((await ledger.hold({ id: fresh('h'), account, amount: 1n, leaseMs })).outcome, 'insufficient')
  })

  it('settles once for an id: whoever comes later is told what was charged', async (ledger, other) => {
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
    assert.deepEqual(await standing(other, account), { balance: 100n - (first[0]?.charged ?? 0n), held: 0n })
  })

  it('charges a call in full whose hold it does not know', async (ledger) => {
    const account = await funded(ledger, 10n)
    const verdict = await ledger.settle({ id: fresh('h'), account, amount: 4n })
    assert.deepEqual(verdict, { outcome: 'settled', charged: 4n, overage: 4n })
    assert.deepEqual(await standing(ledger, account), { balance: 6n, held: 0n })
    const unknown = fresh('account')
    await ledger.settle({ id: fresh('h'), account: unknown, amount: 4n })
    assert.deepEqual(await standing(ledger, unknown), { balance: -4n, held: 0n })
  })

  it('releases a hold once, and gives all of it back', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 8n, leaseMs })
    await race(10, [ledger, other], async (each) => each.release({ id, account }))
    assert.deepEqual(await standing(ledger, account), { balance: 10n, held: 0n })
  })

  it('does not settle what was released, nor release what was settled', async (ledger) => {
    const account = await funded(ledger, 10n)
    const [released, settled] = [fresh('h'), fresh('h')]
    for (const id of [released, settled]) await ledger.hold({ id, account, amount: 3n, leaseMs })
    await ledger.release({ id: released, account })
    const late = await ledger.settle({ id: released, account, amount: 3n })
    assert.deepEqual(late, { outcome: 'released', charged: 0n, overage: 0n })
    await ledger.settle({ id: settled, account, amount: 2n })
    await ledger.release({ id: settled, account })
    assert.deepEqual(await standing(ledger, account), { balance: 8n, held: 0n })
  })

  it('ends a hold in exactly one way, whoever comes first', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    for (let round = 0; round < 10; round++) {
      const { balance } = await standing(ledger, account)
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
      assert.deepEqual(await standing(other, account), { balance: balance - BigInt(charged) * 2n, held: 0n })
    }
  })

  it('finds a hold ended whose end has overtaken it', async (ledger) => {
    const account = await funded(ledger, 10n)
    const [released, settled] = [fresh('h'), fresh('h')]
    await ledger.release({ id: released, account })
    await ledger.settle({ id: settled, account, amount: 1n })
    for (const id of [released, settled]) {
      assert.deepEqual(await ledger.hold({ id, account, amount: 5n, leaseMs }), { outcome: 'ended', balance: 9n })
    }
    assert.deepEqual(await standing(ledger, account), { balance: 9n, held: 0n })
  })

  it('gives a hold back when its lease has run out, without being asked to', async (ledger, other) => {
    const account = await funded(ledger, 10n)
    await ledger.hold({ id: fresh('h'), account, amount: 8n, leaseMs: shortMs })
    await ledger.hold({ id: fresh('h'), account, amount: 1n, leaseMs })
    await wait(shortMs + 20)
    assert.equal((await other.hold({ id: fresh('h'), account, amount: 9n, leaseMs })).outcome, 'held')
    const second = await funded(ledger, 10n)
    await ledger.hold({ id: fresh('h'), account: second, amount: 8n, leaseMs: shortMs })
    await wait(shortMs + 20)
    assert.deepEqual(await standing(other, second), { balance: 10n, held: 0n })
  })

  it('holds anew under an id whose lease has run out', async (ledger) => {
    const account = await funded(ledger, 10n)
    const hold = { id: fresh('h'), account, amount: 4n, leaseMs: shortMs }
    await ledger.hold(hold)
    await wait(shortMs + 20)
    assert.deepEqual(await ledger.hold({ ...hold, leaseMs }), { outcome: 'held', balance: 6n })
    await wait(shortMs + 20)
    assert.deepEqual(await standing(ledger, account), { balance: 6n, held: 4n })
  })

  it('charges a call in full whose lease ran out, once', async (ledger) => {
    const account = await funded(ledger, 10n)
    const id = fresh('h')
    await ledger.hold({ id, account, amount: 8n, leaseMs: shortMs })
    await wait(shortMs + 20)
    const verdict = await ledger.settle({ id, account, amount: 5n })
    assert.deepEqual(verdict, { outcome: 'settled', charged: 5n, overage: 5n })
    await ledger.release({ id, account })
    assert.equal((await ledger.settle({ id, account, amount: 5n })).outcome, 'already')
    assert.deepEqual(await standing(ledger, account), { balance: 5n, held: 0n })
  })

  it('keeps a hold that is renewed, and revives none that is over', async (ledger, other) => {
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
    await wait(shortMs + 20)
    await other.renew([{ id: lost, account }], leaseMs)
    assert.deepEqual(await standing(ledger, account), { balance: 90n, held: 10n })
    await ledger.renew([], leaseMs)
  })

  testBooks(it)
}
