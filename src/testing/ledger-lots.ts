/** The tests of the ledger contract for money that expires. */
import assert from 'node:assert/strict'
import type { Ledger } from '../money/ledger/contract.ts'
import type { LedgerLots } from '../money/lots/contract.ts'
import { funded, fundsOf } from './ledger-accounts.ts'
import { fresh, oddNames, race, type Suite } from './kit.ts'

/** Longer than any test. */
const leaseMs = 600_000

export function testLots(it: Suite<Ledger>['it']): void {
  const itHas = (name: string, body: (ledger: Ledger, lots: LedgerLots, other: Ledger) => Promise<void>) =>
    it(name, async (ledger, other) => {
      if (ledger.lots !== undefined) await body(ledger, ledger.lots, other)
    })

  itHas('says what an account was charged, whatever is held', async (ledger, lots) => {
    assert.equal(await lots.read(fresh('account')), undefined)
    const account = await funded(ledger, 100n)
    const [settled, released] = [fresh('h'), fresh('h')]
    await ledger.hold({ id: settled, account, amount: 30n, leaseMs })
    await ledger.hold({ id: released, account, amount: 20n, leaseMs })
    assert.deepEqual(await lots.read(account), { balance: 50n, held: 50n, settled: 0n, version: 0 })
    await ledger.settle({ id: settled, account, amount: 10n })
    await ledger.release({ id: released, account })
    await ledger.credit({ account, amount: -5n, reference: fresh('r') })
    assert.deepEqual(await lots.read(account), { balance: 85n, held: 0n, settled: 10n, version: 0 })
  })

  itHas('stores a text with a credit, unless another version is stored', async (ledger, lots, other) => {
    const [account, text] = [fresh('account'), JSON.stringify(oddNames)]
    const credit = { account, amount: 5n, reference: fresh('r'), allotment: { was: 0, lots: text, due: 10 } }
    assert.deepEqual(await ledger.credit(credit), { outcome: 'credited', balance: 5n })
    assert.deepEqual(await other.lots?.read(account), { balance: 5n, held: 0n, settled: 0n, version: 1, lots: text })
    assert.deepEqual(await other.credit({ ...credit, reference: fresh('r') }), { outcome: 'changed', balance: 5n })
    assert.equal((await ledger.credit(credit)).outcome, 'already')
    assert.equal(await lots.write(account, { was: 0, lots: 'late' }), false)
    assert.equal(await lots.write(account, { was: 1, lots: 'next' }), true)
    assert.deepEqual(await lots.read(account), { balance: 5n, held: 0n, settled: 0n, version: 2, lots: 'next' })
    assert.equal(await lots.write(fresh('account'), { was: 0, lots: 'unknown' }), false)
    const [winners] = [
      await race(10, [ledger, other], (each, index) => each.lots?.write(account, { was: 2, lots: `${index}` })),
    ]
    assert.equal(winners.filter((won) => won === true).length, 1)
  })

  itHas('lists the accounts that are due, the earliest first', async (ledger, lots) => {
    const [late, early, never] = [await funded(ledger, 1n), await funded(ledger, 1n), await funded(ledger, 1n)]
    // Times before those of all other tests.
    await lots.write(late, { was: 0, lots: '', due: -1e9 })
    await lots.write(early, { was: 0, lots: '', due: -2e9 })
    await lots.write(never, { was: 0, lots: '' })
    const due = async (before: number, limit = 1_000) =>
      (await lots.due(before, limit)).filter((each) => [late, early, never].includes(each))
    assert.deepEqual(await due(-1e9), [early, late])
    assert.deepEqual(await due(-1.5e9), [early])
    await lots.write(early, { was: 1, lots: '' })
    assert.deepEqual(await due(0), [late])
    await lots.write(late, { was: 1, lots: '' })
    assert.deepEqual(await due(0), [])
  })

  itHas('takes back what charges lack to a sum, at most the balance, once', async (ledger, lots, other) => {
    const account = await funded(ledger, 100n)
    const [open, spent] = [fresh('h'), fresh('h')]
    await ledger.hold({ id: spent, account, amount: 10n, leaseMs })
    await ledger.settle({ id: spent, account, amount: 10n })
    const take = async (amount: bigint, spentTo: bigint, reference = fresh('r')) => {
      const { outcome, amount: taken } = await other.credit({ account, amount: -amount, reference, spentTo })
      return [outcome, taken]
    }
    assert.deepEqual(await take(50n, 10n), ['credited', 0n])
    const once = fresh('r')
    assert.deepEqual(await take(50n, 40n, once), ['credited', -30n])
    assert.deepEqual(await take(20n, 40n, once), ['already', -30n])
    assert.deepEqual(await take(5n, 40n), ['credited', -5n])
    assert.deepEqual(await fundsOf(ledger, account), { balance: 55n, held: 0n })
    await ledger.hold({ id: open, account, amount: 50n, leaseMs })
    assert.deepEqual(await take(50n, 60n), ['credited', 0n])
    assert.deepEqual(await take(50n, 65n), ['credited', -5n])
    assert.deepEqual(await fundsOf(ledger, account), { balance: 0n, held: 50n })
    await ledger.settle({ id: open, account, amount: 20n })
    assert.deepEqual(await lots.read(account), { balance: 30n, held: 0n, settled: 30n, version: 0 })
    assert.deepEqual((await ledger.audit()).faults, [])
  })
}
