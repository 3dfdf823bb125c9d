/** Calls on a WebSocket: each with its own key check, limits and end. */
import { prepareShutdown } from 'modelhatch/node'
import { describe, expect, test } from 'vitest'
import { memoryKeyStore, mintKey } from 'modelhatch'
import type { ResponseObject } from '../../../src/wire/responses.ts'
import { slow } from './slow.ts'
import { textOf, world } from './world.ts'

test('requests without a stream_id, and those with the same one, run in the order in which they were sent', async () => {
  for (const lane of [{}, { stream_id: 'a' }]) {
    const { provider, asked, goOn } = slow()
    const { connect } = await world({ options: { models: { m: provider } } })
    const client = await connect()
    for (const input of ['x', 'y', 'z']) client.create({ input, ...lane })
    for (const [index, input] of ['x', 'y', 'z'].entries()) {
      await expect.poll(() => asked.length).toBe(index + 1)
      goOn(index)
      const last = (await client.response()).at(-1)
      expect(textOf(last?.response as ResponseObject)).toBe(`${input} end`)
    }
  }
})

test('a client that disconnects ends its call and those that wait', async () => {
  const { provider, asked } = slow()
  const { connect, receipts } = await world({ options: { models: { m: provider } } })
  const client = await connect()
  client.create({ input: 'a' })
  client.create({ input: 'b' })
  await expect.poll(() => asked.length).toBe(1)
  client.ws.terminate()
  await expect.poll(() => receipts.length).toBe(1)
  expect(receipts[0]?.outcome).toBe('cancelled')
  expect(asked[0]?.signal.aborted).toBe(true)
  await connect()
  expect(asked).toHaveLength(1)
})

test('a key is checked for each call: once revoked, it gets a 401 in band and the socket is closed', async () => {
  const { key, record } = mintKey({ account: 'a', group: 'default' })
  const store = memoryKeyStore()
  await store.insert?.(record)
  const { connect } = await world({ options: { storage: { keys: store }, usage: { record: false } } })
  const client = await connect({ authorization: `Bearer ${key}` })
  expect(textOf(await client.ask({ input: 'Hi' }))).toBe('Hi')
  await store.update?.({ ...record, revokedAt: 1, version: 2 })
  client.create({ input: 'Hi' })
  expect(await client.next()).toMatchObject({ type: 'error', status: 401, error: { code: 'invalid_api_key' } })
  expect(await client.closed).toMatchObject({ code: 1008 })
})

test('a conversation belongs to the account that began it, even if the connection changes hands', async () => {
  let account = 'ada'
  const authenticate = () => ({ account, group: 'default' })
  const { connect } = await world({ options: { authenticate } })
  const client = await connect({})
  const { id } = await client.ask({ input: 'secret' })
  account = 'bob'
  client.create({ previous_response_id: id, input: 'What did I say?' })
  expect(await client.next()).toMatchObject({ error: { code: 'previous_response_not_found' } })
})

test('an idempotency key of the upgrade does not name the calls', async () => {
  const { connect, receipts } = await world()
  const client = await connect({ authorization: 'Bearer sk-socket', 'idempotency-key': 'once' })
  expect(textOf(await client.ask({ input: 'One' }))).toBe('One')
  expect(textOf(await client.ask({ input: 'Two' }))).toBe('Two')
  expect(receipts).toHaveLength(2)
})

test('receipts carry the session and the price of each call', async () => {
  const { provider, goOn } = slow()
  goOn(0)
  const { connect, receipts, gateway } = await world({
    options: { models: { m: { provider, price: { input: '1', output: '2' } } }, billing: { currency: 'EUR' } },
  })
  await gateway.admin.accounts.topUp({ account: 'a', amount: '50', reference: 'order-1' })
  const client = await connect({ authorization: 'Bearer sk-paying', 'session-id': 'codex-1' })
  await client.ask({ input: 'a' })
  expect(receipts).toMatchObject([{ endpoint: 'responses', session: 'codex-1', charge: { cost: '0.00002' } }])
})

describe('a shutdown', () => {
  test('closes sockets without a call at once, and the others when their call has ended', async () => {
    const { provider, asked, goOn } = slow()
    const { connect, server, gateway } = await world({ options: { models: { m: provider } } })
    const shutdown = prepareShutdown(server, gateway, { graceMs: 60_000, idleMs: 20 })
    const [idle, busy] = [await connect(), await connect()]
    busy.create({ input: 'a', stream_id: 'a' })
    await expect.poll(() => asked.length).toBe(1)
    const done = shutdown()
    expect(await idle.closed).toMatchObject({ code: 1001 })
    // A client that always has a call in progress would keep the process.
    busy.create({ input: 'b', stream_id: 'b' })
    expect(await busy.next('b')).toMatchObject({ error: { code: 'websocket_connection_limit_reached' } })
    // Longer than idle connections are kept.
    await new Promise((resolve) => setTimeout(resolve, 100))
    goOn(0)
    expect((await busy.response('a')).at(-1)).toMatchObject({ type: 'response.completed' })
    expect(await busy.closed).toMatchObject({ code: 1001 })
    await done
  })

  test('ends calls that take longer than the grace with an error, and then closes their sockets', async () => {
    const { provider, asked } = slow()
    const { connect, gateway, receipts } = await world({ options: { models: { m: provider } } })
    const client = await connect()
    client.create({ input: 'a' })
    client.create({ input: 'b' })
    await expect.poll(() => asked.length).toBe(1)
    await gateway.close({ graceMs: 20 })
    expect((await client.response()).at(-1)).toMatchObject({ type: 'error', code: 'service_unavailable' })
    expect(await client.next()).toMatchObject({ type: 'response.failed' })
    expect(await client.next()).toMatchObject({ type: 'error', status: 503 })
    expect(await client.closed).toMatchObject({ code: 1001 })
    expect(receipts).toHaveLength(1)
    await expect(connect()).rejects.toMatchObject({ status: 503 })
  })
})
