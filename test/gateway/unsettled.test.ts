/** Closing while the ledger is slow: what was answered is charged, or stays held and is told. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, onTestFinished, test } from 'vitest'
import { memoryLedger, type Failure, type Ledger } from '../../src/index.ts'
import { askChat } from '../hosted.ts'
import { scene, whole } from '../admission/scene.ts'

/** A ledger that takes a settlement when it is told to, one by one. */
async function slow() {
  let now = Date.now()
  const books = memoryLedger({ clock: () => now })
  await books.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const gate = Promise.withResolvers<void>()
  const ledger: Ledger = {
    hold: (hold) => books.hold(hold),
    settle: async (settlement) => {
      await gate.promise
      return books.settle(settlement)
    },
    release: (hold) => books.release(hold),
    renew: (holds, leaseMs) => books.renew(holds, leaseMs),
    credit: (credit) => books.credit(credit),
    open: (account) => books.open(account),
    account: (id) => books.account(id),
    audit: () => books.audit(),
  }
  return { ledger, books, open: () => gate.resolve(), pass: (ms: number) => void (now += ms) }
}

test('a ledger that is slow is waited for, however short the grace', async () => {
  const { ledger, books, open } = await slow()
  const { url, gateway, receipt } = await scene(whole, { billing: { currency: 'CNY' }, storage: { ledger } })
  for (let call = 0; call < 4; call++) {
    expect((await askChat(url)).status).toBe(200)
    await receipt()
  }
  const closing = gateway.close({ graceMs: 0 })
  setTimeout(open, 1_100)
  await closing
  expect(await books.audit()).toMatchObject({ settlements: 120n, holds: 0n, faults: [] })
})

test('what it has not taken then stays held for a day, and is told', async () => {
  const { ledger, books, open, pass } = await slow()
  const failures: Failure[] = []
  const watch = (failure: unknown) => failures.push(failure as Failure)
  subscribe('modelhatch:failure', watch)
  onTestFinished(() => void unsubscribe('modelhatch:failure', watch))
  const { url, gateway, receipt } = await scene(whole, { billing: { currency: 'CNY' }, storage: { ledger } })
  await askChat(url)
  const { id } = await receipt()
  await gateway.close({ graceMs: 0, settleMs: 20 })
  const unsettled = { id, account: 'acme', amount: 30n }
  expect(failures.map((failure) => failure.unsettled)).toContainEqual(unsettled)
  pass(23 * 3_600_000)
  const { balance = 0n, held = 0n } = (await books.account('acme')) ?? {}
  expect(held).toBeGreaterThan(30n)
  expect(balance + held).toBe(1_000_000n)
  expect((await books.audit()).holds).toBe(held)
  open()
  // The next process settles what it was told.
  await ledger.settle(unsettled)
  expect(await books.account('acme')).toMatchObject({ balance: 999_970n, held: 0n })
  expect(await books.audit()).toMatchObject({ settlements: 30n, faults: [] })
})
