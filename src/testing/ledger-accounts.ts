/** The tests of the ledger contract for accounts, entries and the audit. */
import assert from 'node:assert/strict'
import type { Ledger } from '../money/ledger/contract.ts'
import { fresh, oddNames, race, type Suite } from './kit.ts'

/** Longer than any test. */
const leaseMs = 600_000

/** Opens a new account with this balance and returns its id. */
export async function funded(ledger: Ledger, amount: bigint): Promise<string> {
  const account = fresh('account')
  await ledger.credit({ account, amount, reference: fresh('start') })
  return account
}

export async function fundsOf(ledger: Ledger, id: string): Promise<{ balance: bigint; held: bigint }> {
  const found = await ledger.account(id)
  assert.ok(found, 'the account does not exist')
  return { balance: found.balance, held: found.held }
}

export function testAccounts(it: Suite<Ledger>['it']): void {
  it('an account may go below zero while it is unlimited', async (ledger, other) => {
    const id = fresh('account')
    const opened = await ledger.open({ id, unlimited: true, name: 'ours' })
    assert.deepEqual(
      { ...opened, createdAt: 0 },
      { id, balance: 0n, held: 0n, unlimited: true, name: 'ours', createdAt: 0 },
    )
    assert.ok(opened.createdAt > 0, 'createdAt is not set')
    assert.deepEqual(await other.hold({ id: fresh('h'), account: id, amount: 5n, leaseMs }), {
      outcome: 'held',
      balance: -5n,
    })
    assert.equal((await ledger.open({ id, unlimited: false })).name, 'ours')
    assert.equal((await other.hold({ id: fresh('h'), account: id, amount: 5n, leaseMs })).outcome, 'insufficient')
    assert.deepEqual(await fundsOf(ledger, id), { balance: -5n, held: 5n })
  })

  it('opening an existing account does not change its balance or holds', async (ledger) => {
    const account = await funded(ledger, 10n)
    await ledger.hold({ id: fresh('h'), account, amount: 4n, leaseMs })
    const opened = await ledger.open({ id: account, name: 'renamed' })
    assert.deepEqual(
      { ...opened, createdAt: 0 },
      { id: account, balance: 6n, held: 4n, unlimited: false, name: 'renamed', createdAt: 0 },
    )
  })

  it('amounts up to 2^53 are exact', async (ledger) => {
    const most = 9_007_199_254_740_991n
    const account = await funded(ledger, most)
    const id = fresh('h')
    assert.equal((await ledger.hold({ id, account, amount: most - 1n, leaseMs })).balance, 1n)
    assert.equal((await ledger.hold({ id: fresh('h'), account, amount: 2n, leaseMs })).outcome, 'insufficient')
    assert.equal((await ledger.settle({ id, account, amount: most - 2n })).charged, most - 2n)
    assert.deepEqual(await fundsOf(ledger, account), { balance: 2n, held: 0n })
  })

  it('similar account names, hold ids and references are separate', async (ledger) => {
    const unique = fresh('x')
    for (const [index, odd] of oddNames.entries()) {
      const name = `${odd} ${unique}`
      await ledger.credit({ account: name, amount: BigInt(10 + index), reference: name, note: name })
      assert.equal((await ledger.hold({ id: name, account: name, amount: BigInt(index), leaseMs })).outcome, 'held')
    }
    for (const [index, odd] of oddNames.entries()) {
      const name = `${odd} ${unique}`
      assert.deepEqual(await fundsOf(ledger, name), { balance: 10n, held: BigInt(index) })
      assert.equal((await ledger.settle({ id: name, account: name, amount: 1n })).outcome, 'settled')
      assert.equal((await ledger.account(name))?.id, name)
    }
  })

  it('lists the entries of an account in pages, newest first', async (ledger) => {
    if (ledger.entries === undefined) return
    const account = await funded(ledger, 100n)
    const [settled, released] = [fresh('h'), fresh('h')]
    await ledger.hold({ id: settled, account, amount: 5n, leaseMs })
    await ledger.settle({ id: settled, account, amount: 7n })
    await ledger.release({ id: released, account })
    await ledger.credit({ account, amount: 3n, reference: fresh('r'), note: 'a note' })
    const first = await ledger.entries(account, { limit: 3 })
    const second = await ledger.entries(account, { limit: 3, ...(first.next && { after: first.next }) })
    assert.equal(second.next, undefined)
    const lines = [...first.items, ...second.items]
    const listed = lines.map(({ kind, amount, overage }) => ({ kind, amount, overage }))
    assert.deepEqual(listed, [
      { kind: 'credit', amount: 3n, overage: 0n },
      { kind: 'release', amount: 0n, overage: 0n },
      { kind: 'settle', amount: -7n, overage: 2n },
      { kind: 'credit', amount: 100n, overage: 0n },
    ])
    assert.deepEqual([lines[0]?.note, lines[1]?.reference, lines[2]?.reference], ['a note', released, settled])
    assert.ok(lines.every(({ number }, index) => index === 0 || number < (lines[index - 1]?.number ?? 0)))
    assert.ok(lines.every(({ at }) => at > 0))
    if (ledger.entriesAfter === undefined) return
    const numbers = lines.map(({ number }) => number).toReversed()
    for (const [index, after] of [0, ...numbers].entries())
      for (const most of [1, 2, 5]) {
        const found = await ledger.entriesAfter(account, after, most)
        assert.deepEqual(found, lines.toReversed().slice(index, index + most))
      }
  })

  it('lists accounts in pages, ordered by id', async (ledger) => {
    if (ledger.accounts === undefined) return
    const unique = fresh('~')
    const ids = ['a', 'b', 'c'].map((letter) => `${unique} ${letter}`)
    for (const id of ids) await ledger.open({ id })
    const first = await ledger.accounts({ limit: 2, after: unique })
    assert.deepEqual(
      first.items.map(({ id }) => id),
      ids.slice(0, 2),
    )
    const second = await ledger.accounts({ limit: 1, ...(first.next && { after: first.next }) })
    assert.deepEqual(
      second.items.map(({ id }) => id),
      ids.slice(2),
    )
  })

  it('credits equal balances plus holds plus settlements, and the audit confirms it', async (ledger, other) => {
    const before = await ledger.audit()
    const accounts = [await funded(ledger, 500n), await funded(ledger, 500n)] as const
    await race(60, [ledger, other], async (each, index) => {
      const hold = { id: fresh('h'), account: accounts[index % 2] as string, amount: 5n + BigInt(index), leaseMs }
      if ((await each.hold(hold)).outcome !== 'held') return
      if (index % 3 === 1) await each.settle({ ...hold, amount: BigInt(index) })
      if (index % 3 === 2) await each.release(hold)
    })
    const after = await other.audit()
    assert.deepEqual(after.faults, [])
    assert.equal(after.credits - before.credits, 1_000n)
    assert.equal(after.accounts - before.accounts, 2)
    assert.equal(after.credits, after.balances + after.holds + after.settlements)
    const funds = await Promise.all(accounts.map(async (account) => fundsOf(ledger, account)))
    assert.equal(
      funds.reduce((sum, { held }) => sum + held, 0n),
      after.holds - before.holds,
    )
    assert.ok(after.holds > before.holds && after.settlements > before.settlements)
  })
}
