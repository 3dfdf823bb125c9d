/** The tests of the ledger contract for `compact`. */
import assert from 'node:assert/strict'
import type { Ledger, LedgerEntry } from '../money/ledger/contract.ts'
import { allPages, fresh, race, type Suite } from './kit.ts'
import { funded, fundsOf } from './ledger-accounts.ts'

const leaseMs = 600_000

export function testCompaction({ it, wait }: Suite<Ledger>): void {
  it('compact replaces old charges by their exact sum; balance, audit and payments stay', async (ledger, other) => {
    if (ledger.compact === undefined || other.entries === undefined) return
    const large = 2n ** 52n
    const account = await funded(ledger, large)
    await ledger.open({ id: account, unlimited: true })
    const neighbour = await funded(ledger, 100n)
    await ledger.settle({ id: fresh('h'), account: neighbour, amount: 9n })
    const charge = async (amount: bigint, held: bigint) => {
      const hold = { id: fresh('h'), account, amount: held, leaseMs }
      await ledger.hold(hold)
      await ledger.settle({ id: hold.id, account, amount })
    }
    for (const amount of [1n, 2n, 3n, large, large]) await charge(amount, 2n)
    await ledger.release({ id: fresh('h'), account })
    const payment = { account, amount: 50n, reference: fresh('r'), note: 'between' }
    await ledger.credit(payment)
    await wait(30)
    await charge(7n, 7n)
    const open = { id: fresh('h'), account, amount: 0n, leaseMs }
    await ledger.hold(open)
    const before = await allEntries(other, account)
    const [newest] = before
    const [funds, audit] = [await fundsOf(ledger, account), await ledger.audit()]
    assert.equal(await ledger.compact(account, 1, 100), 0)
    assert.equal(await ledger.compact(account, newest?.at ?? 0, 4), 4)
    assert.equal(await other.compact?.(account, newest?.at ?? 0, 4), 2)
    assert.equal(await ledger.compact(account, newest?.at ?? 0, 4), 0)
    const after = await allEntries(other, account)
    const openings = after.filter(({ kind }) => kind === 'opening')
    const sum = { reference: 'opening', amount: -(large * 2n + 6n), overage: large * 2n - 3n }
    assert.deepEqual(
      openings.map(({ reference, amount, overage }) => ({ reference, amount, overage })),
      [sum],
    )
    assert.ok((openings[0]?.at ?? 0) < (newest?.at ?? 0), 'the sum is younger than an entry that it does not include')
    const kept = before.filter((entry) => entry.kind === 'credit' || entry.number === newest?.number)
    assert.deepEqual(
      after.filter(({ kind }) => kind !== 'opening'),
      kept,
    )
    assert.equal(totalOf(after), totalOf(before))
    assert.deepEqual(await fundsOf(other, account), funds)
    assert.deepEqual(await other.audit(), audit)
    assert.equal((await other.credit(payment)).outcome, 'already')
    assert.equal((await allEntries(other, neighbour)).length, 2)
    await ledger.settle({ ...open, amount: 5n })
    assert.deepEqual((await ledger.audit()).faults, [])
  })

  it('compact adds to an earlier sum, in pages and while calls are charged', async (ledger, other) => {
    if (ledger.compact === undefined || other.entries === undefined) return
    const account = await funded(ledger, 10_000n)
    const charge = async (each: Ledger, index: number) =>
      each.settle({ id: fresh('h'), account, amount: BigInt(index) })
    await race(20, [ledger, other], charge)
    await wait(30)
    await race(20, [ledger, other], charge)
    const middle = (await allEntries(ledger, account))[0]?.at ?? 0
    await wait(30)
    await race(20, [ledger, other], async (each, index) => {
      if (index % 4 === 0) await each.compact?.(account, middle, 3)
      return charge(each, index)
    })
    while (((await ledger.compact(account, middle, 7)) ?? 0) > 0);
    const entries = await allEntries(other, account, 3)
    assert.equal(entries.filter(({ kind }) => kind === 'opening').length, 1)
    // The payment, the sum, and at most the charges that came after the first twenty.
    assert.ok(entries.length <= 42, `${entries.length} entries are left`)
    assert.equal(totalOf(entries), 10_000n - 190n * 3n)
    assert.deepEqual(await fundsOf(ledger, account), { balance: 10_000n - 190n * 3n, held: 0n })
    assert.deepEqual((await other.audit()).faults, [])
    assert.equal(await ledger.compact(fresh('account'), middle, 7), 0)
  })
}

async function allEntries(ledger: Ledger, account: string, limit = 100): Promise<LedgerEntry[]> {
  const found = await allPages(limit, (page) => ledger.entries?.(account, page))
  const numbers = found.map(({ number }) => number)
  assert.deepEqual(
    numbers,
    numbers.toSorted((left, right) => right - left),
    'the entries are not in order',
  )
  return found
}

function totalOf(entries: readonly LedgerEntry[]): bigint {
  return entries.reduce((sum, { amount }) => sum + amount, 0n)
}
