/** The part of the ledger contract that is about accounts and their books. */
import assert from 'node:assert/strict'
import type { Ledger } from '../billing/contract.ts'
import { fresh, oddNames, race, type Suite } from './kit.ts'

/** Long enough for any test. */
const leaseMs = 600_000

/** A new account with so much in it. */
export async function funded(ledger: Ledger, amount: bigint): Promise<string> {
  const account = fresh('account')
  await ledger.credit({ account, amount, reference: fresh('start') })
  return account
}

export async function standing(ledger: Ledger, id: string): Promise<{ balance: bigint; held: bigint }> {
  const found = await ledger.account(id)
  assert.ok(found, 'the account is not there')
  return { balance: found.balance, held: found.held }
}

export function testBooks(it: Suite<Ledger>['it']): void {
  it('lets an unlimited account go below zero, until it is unlimited no more', async (ledger, other) => {
    const id = fresh('account')
    const opened = await ledger.open({ id, unlimited: true, name: 'ours' })
    assert.deepEqual(
      { ...opened, createdAt: 0 },
      { id, balance: 0n, held: 0n, unlimited: true, name: 'ours', createdAt: 0 },
    )
    assert.ok(opened.createdAt > 0, 'createdAt is a time')
    assert.deepEqual(await other.hold({ id: fresh('h'), account: id, amount: 5n, leaseMs }), {
      outcome: 'held',
      balance: -5n,
    })
    assert.equal((await ledger.open({ id, unlimited: false })).name, 'ours')
    assert.equal((await other.hold({ id: fresh('h'), account: id, amount: 5n, leaseMs })).outcome, 'insufficient')
    assert.deepEqual(await standing(ledger, id), { balance: -5n, held: 5n })
  })

  it('opens an account that exists without touching its money', async (ledger) => {
    const account = await funded(ledger, 10n)
    await ledger.hold({ id: fresh('h'), account, amount: 4n, leaseMs })
    const opened = await ledger.open({ id: account, name: 'renamed' })
    assert.deepEqual(
      { ...opened, createdAt: 0 },
      { id: account, balance: 6n, held: 4n, unlimited: false, name: 'renamed', createdAt: 0 },
    )
  })

  it('counts large amounts to the last digit', async (ledger) => {
    const most = 9_007_199_254_740_991n
    const account = await funded(ledger, most)
    const id = fresh('h')
    assert.equal((await ledger.hold({ id, account, amount: most - 1n, leaseMs })).balance, 1n)
    assert.equal((await ledger.hold({ id: fresh('h'), account, amount: 2n, leaseMs })).outcome, 'insufficient')
    assert.equal((await ledger.settle({ id, account, amount: most - 2n })).charged, most - 2n)
    assert.deepEqual(await standing(ledger, account), { balance: 2n, held: 0n })
  })

  it('keeps accounts, ids and references apart that look alike', async (ledger) => {
    const unique = fresh('x')
    for (const [index, odd] of oddNames.entries()) {
      const name = `${odd} ${unique}`
      await ledger.credit({ account: name, amount: BigInt(10 + index), reference: name, note: name })
      assert.equal((await ledger.hold({ id: name, account: name, amount: BigInt(index), leaseMs })).outcome, 'held')
    }
    for (const [index, odd] of oddNames.entries()) {
      const name = `${odd} ${unique}`
      assert.deepEqual(await standing(ledger, name), { balance: 10n, held: BigInt(index) })
      assert.equal((await ledger.settle({ id: name, account: name, amount: 1n })).outcome, 'settled')
      assert.equal((await ledger.account(name))?.id, name)
    }
  })

  it('lists the books of an account, newest first and page by page', async (ledger) => {
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
    const told = lines.map(({ kind, amount, overage }) => ({ kind, amount, overage }))
    assert.deepEqual(told, [
      { kind: 'credit', amount: 3n, overage: 0n },
      { kind: 'release', amount: 0n, overage: 0n },
      { kind: 'settle', amount: -7n, overage: 2n },
      { kind: 'credit', amount: 100n, overage: 0n },
    ])
    assert.deepEqual([lines[0]?.note, lines[1]?.reference, lines[2]?.reference], ['a note', released, settled])
    assert.ok(lines.every(({ number }, index) => index === 0 || number < (lines[index - 1]?.number ?? 0)))
    assert.ok(lines.every(({ at }) => at > 0))
  })

  it('lists the accounts in order, page by page', async (ledger) => {
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

  it('adds up: credits are balances, holds and settlements, and the audit says so', async (ledger, other) => {
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
    const standings = await Promise.all(accounts.map(async (account) => standing(ledger, account)))
    assert.equal(
      standings.reduce((sum, { held }) => sum + held, 0n),
      after.holds - before.holds,
    )
    assert.ok(after.holds > before.holds && after.settlements > before.settlements)
  })
}
