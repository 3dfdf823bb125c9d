import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { askChat } from '../hosted.ts'
import { describeOnPooled } from '../pooled-databases.ts'
import { fleet } from './fleet.ts'
import { scene, streamEvents, whole } from './scene.ts'
import { slowLedger } from './slow-ledger.ts'

const billing = { currency: 'CNY', durability: 'full' } as const

test('with full durability, a JSON answer waits until its charge is stored', async () => {
  const { ledger, memory, open } = await slowLedger()
  const { url, receipt } = await scene(whole, { billing, storage: { ledger } })
  const asking = askChat(url)
  await receipt()
  expect((await memory.audit()).settlements).toBe(0n)
  let answered = false
  void asking.then(() => (answered = true))
  // A request after it that costs nothing is answered meanwhile.
  await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer sk-test' } })
  expect(answered).toBe(false)
  open()
  expect((await asking).status).toBe(200)
  expect((await memory.audit()).settlements).toBe(30n)
})

test('a stream is sent as it comes, and ends once its charge is stored', async () => {
  const { ledger, memory, open } = await slowLedger()
  const reply = (_: unknown, response: ServerResponse) => {
    response.setHeader('content-type', 'text/event-stream')
    response.end(streamEvents.join(''))
  }
  const { url } = await scene(reply, { billing, storage: { ledger } })
  const { body } = await askChat(url, { stream: true })
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (!text.includes('[DONE]')) text += Buffer.from((await reader.read()).value ?? []).toString()
  expect((await memory.audit()).settlements).toBe(0n)
  const ending = reader.read()
  open()
  expect((await ending).done).toBe(true)
  expect((await memory.audit()).settlements).toBe(30n)
})

test('an answer whose charge cannot be stored ends after timeouts.storeMs, and is charged later', async () => {
  const { ledger, memory, open } = await slowLedger()
  const { url } = await scene(whole, { billing, storage: { ledger }, timeouts: { storeMs: 50 } })
  expect((await askChat(url)).status).toBe(200)
  expect((await memory.audit()).settlements).toBe(0n)
  open()
  await expect.poll(async () => (await memory.audit()).settlements).toBe(30n)
})

test('a call that costs nothing is answered at once', async () => {
  const { ledger } = await slowLedger()
  const { url } = await scene(whole, { billing, storage: { ledger }, model: { price: { input: '0', output: '0' } } })
  expect((await askChat(url)).status).toBe(200)
})

describeOnPooled('on %s, with full durability', (connect) => {
  test('every charge is stored when its answer has ended', async () => {
    const { gateways, fund, account, call } = await fleet(connect, 10_000, { durability: 'full' })
    await fund(1_000_000)
    for (let made = 1; made <= 3; made++) {
      const together = await Promise.all(Array.from({ length: 10 }, () => call(gateways[(made % 2) as 0 | 1])))
      expect(new Set(together)).toEqual(new Set([200]))
      expect((await account()).balance + (await account()).held).toBe(1_000_000 - 300 * made)
    }
  })
})
