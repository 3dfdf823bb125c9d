/**
 * The ledger contract as a suite: `testLedger(test, () => myLedger())`. Runs in any runner and needs nothing but
 * node:assert. Nobody else may write to the ledger meanwhile; it need not be empty.
 */
import assert from 'node:assert/strict'
import type { Ledger } from '../billing/contract.ts'
import { fresh, oddNames, race, suiteOf, type StoreKitOptions } from './kit.ts'
import type { TestFunction } from './runner.ts'

/** Long enough for any test. */
const leaseMs = 600_000
/** For the tests that wait until it is over. */
const shortMs = 150

async function funded(ledger: Ledger, amount: bigint): Promise<string> {
  const account = fresh('account')
  await ledger.credit({ account, amount, reference: fresh('start') })
  return account
}

async function standing(ledger: Ledger, id: string): Promise<{ balance: bigint; held: bigint }> {
  const found = await ledger.account(id)
  assert.ok(found, 'the account is not there')
  return { balance: found.balance, held: found.held }
}

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
