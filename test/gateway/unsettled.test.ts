/** Closing while the ledger is slow: completed requests are charged, or stay held and are reported. */
import { expect, test } from 'vitest'
import { publishedFailures } from '../failures.ts'
import { askChat } from '../hosted.ts'
import { scene, whole } from '../admission/scene.ts'
import { slowLedger } from '../admission/slow-ledger.ts'

test('close() waits for a slow ledger, whatever graceMs is', async () => {
  const { ledger, memory, open } = await slowLedger()
  const { url, gateway, receipt } = await scene(whole, { billing: { currency: 'CNY' }, storage: { ledger } })
  for (let call = 0; call < 4; call++) {
    expect((await askChat(url)).status).toBe(200)
    await receipt()
  }
  const closing = gateway.close({ graceMs: 0 })
  setTimeout(open, 1_100)
  await closing
  expect(await memory.audit()).toMatchObject({ settlements: 120n, holds: 0n, faults: [] })
})

test('a charge that the ledger has not accepted after settleMs stays held for a day and is reported', async () => {
  const { ledger, memory, open, pass } = await slowLedger()
  const failures = publishedFailures()
  const { url, gateway, receipt } = await scene(whole, { billing: { currency: 'CNY' }, storage: { ledger } })
  await askChat(url)
  const { id } = await receipt()
  await gateway.close({ graceMs: 0, settleMs: 20 })
  const unsettled = { id, account: 'acme', amount: 30n }
  expect(failures.map((failure) => failure.unsettled)).toContainEqual(unsettled)
  pass(23 * 3_600_000)
  const { balance = 0n, held = 0n } = (await memory.account('acme')) ?? {}
  expect(held).toBeGreaterThan(30n)
  expect(balance + held).toBe(1_000_000n)
  expect((await memory.audit()).holds).toBe(held)
  open()
  // The next process settles the reported charge.
  await ledger.settle(unsettled)
  expect(await memory.account('acme')).toMatchObject({ balance: 999_970n, held: 0n })
  expect(await memory.audit()).toMatchObject({ settlements: 30n, faults: [] })
})
