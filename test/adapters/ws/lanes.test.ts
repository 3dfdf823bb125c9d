/** Responses with different `stream_id`s on one WebSocket: side by side, within bounds, and each with its own events. */
import { expect, onTestFinished, test } from 'vitest'
import { prepareShutdown } from 'modelhatch/node'
import { defineProvider } from 'modelhatch/providers'
import { finish, text } from '../../chat-chunks.ts'
import type { ResponseObject } from '../../../src/wire/responses.ts'
import { slow } from './slow.ts'
import { parrot, textOf, world, type Client } from './world.ts'

async function answered(client: Client, lane: string): Promise<string> {
  const messages = await client.response(lane)
  expect(messages.map((message) => message.sequence_number)).toEqual(messages.map((_, index) => index))
  return textOf(messages.at(-1)?.response as ResponseObject)
}

test('responses of different lanes, and of no lane, run side by side and end in any order', async () => {
  const { provider, asked, goOn } = slow()
  const { connect } = await world({ options: { models: { m: provider } } })
  const client = await connect()
  client.create({ input: 'x', stream_id: 'a' })
  client.create({ input: 'y' })
  client.create({ input: 'z', stream_id: 'b' })
  client.create({ input: 'later', stream_id: 'a' })
  await expect.poll(() => asked.length).toBe(3)
  goOn(2)
  expect(await answered(client, 'b')).toBe('z end')
  expect(asked).toHaveLength(3)
  goOn(0)
  expect(await answered(client, 'a')).toBe('x end')
  await expect.poll(() => asked.length).toBe(4)
  goOn(3)
  expect(await answered(client, 'a')).toBe('later end')
  goOn(1)
  const last = (await client.response()).at(-1)
  expect(last).not.toHaveProperty('stream_id')
  expect(textOf(last?.response as ResponseObject)).toBe('y end')
})

test('at most 16 run at the same time, further ones wait, and those beyond 32 more are refused', async () => {
  const { provider, asked, goOn } = slow()
  const { connect } = await world({ options: { models: { m: provider } } })
  const client = await connect()
  for (let index = 0; index < 49; index++) client.create({ input: `n${index}`, stream_id: `s${index % 32}` })
  let refused
  while ((refused = await client.next()).type !== 'error') expect(refused.type).toMatch(/^response\./)
  expect(refused).toMatchObject({ status: 429, stream_id: 's16', error: { code: 'rate_limit_exceeded' } })
  expect(asked).toHaveLength(16)
  for (let index = 0; index < 48; index++) {
    await expect.poll(() => asked.length).toBeGreaterThan(index)
    goOn(index)
  }
  const texts = await Promise.all(Array.from({ length: 32 }, (_, index) => client.response(`s${index}`)))
  expect(texts.map((messages) => messages.at(-1)?.type)).toEqual(texts.map(() => 'response.completed'))
  expect(asked).toHaveLength(48)
})

test('the number of calls at the same time is an option', async () => {
  const { provider, asked, goOn } = slow()
  const { connect } = await world({ options: { models: { m: provider } }, upgrade: { callsPerSocket: 2 } })
  const client = await connect()
  for (const input of ['x', 'y', 'z']) client.create({ input, stream_id: input })
  await expect.poll(() => asked.length).toBe(2)
  goOn(1)
  expect(await answered(client, 'y')).toBe('y end')
  await expect.poll(() => asked.length).toBe(3)
  goOn(2)
  expect(await answered(client, 'z')).toBe('z end')
  goOn(0)
  expect(await answered(client, 'x')).toBe('x end')
})

test('a socket has 32 lanes besides the one without a name: a further name is refused, a known one is not', async () => {
  const { connect } = await world()
  const client = await connect()
  for (let index = 0; index < 32; index++) await client.ask({ input: 'Hi', stream_id: `s${index}` })
  client.create({ input: 'Hi', stream_id: 's32' })
  expect(await client.next()).toMatchObject({
    type: 'error',
    status: 400,
    stream_id: 's32',
    error: { type: 'invalid_request_error', code: 'websocket_stream_limit_reached', param: 'stream_id' },
  })
  await client.ask({ input: 'Hi' })
  await client.ask({ input: 'Hi', stream_id: 's0' })
})

test('a lane continues what another one was answered, and forgets none of another one', async () => {
  const { connect } = await world()
  const client = await connect()
  const { id } = await client.ask({ input: 'Hi', stream_id: 'a' })
  for (let turn = 0; turn < 20; turn++) await client.ask({ input: 'Hi', stream_id: 'b' })
  client.create({ input: 'x', previous_response_id: id, stream_id: 'c' })
  client.create({ input: 'y', previous_response_id: id, stream_id: 'd' })
  expect(await answered(client, 'd')).toBe('y')
  expect(await answered(client, 'c')).toBe('x')
})

test('an error of one lane does not disturb the others', async () => {
  const { provider, asked, goOn } = slow()
  const { connect } = await world({ options: { models: { m: provider } } })
  const client = await connect()
  client.create({ input: 'x', stream_id: 'a' })
  await expect.poll(() => asked.length).toBe(1)
  client.create({ input: 'y', stream_id: 'b', temperature: 9 })
  expect(await client.next('b')).toMatchObject({ type: 'error', status: 400, error: { param: 'temperature' } })
  goOn(0)
  expect(await answered(client, 'a')).toBe('x end')
})

test('a client that disconnects ends all calls, and those that wait never begin', async () => {
  const { provider, asked } = slow()
  const { connect, receipts } = await world({ options: { models: { m: provider } } })
  const client = await connect()
  for (const lane of ['a', 'b', 'c']) for (const input of ['x', 'y']) client.create({ input, stream_id: lane })
  await expect.poll(() => asked.length).toBe(3)
  client.ws.terminate()
  await expect.poll(() => receipts.length).toBe(3)
  expect(receipts.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  await connect()
  expect(asked).toHaveLength(3)
})

test('at shutdown a socket closes when the calls of all lanes have ended', async () => {
  const { provider, asked, goOn } = slow()
  const { connect, gateway, server } = await world({ options: { models: { m: provider } } })
  const client = await connect()
  client.create({ input: 'x', stream_id: 'a' })
  client.create({ input: 'y', stream_id: 'b' })
  await expect.poll(() => asked.length).toBe(2)
  const done = prepareShutdown(server, gateway, { graceMs: 60_000, idleMs: 20 })()
  goOn(0)
  expect(await answered(client, 'a')).toBe('x end')
  goOn(1)
  expect(await answered(client, 'b')).toBe('y end')
  expect((await client.closed).code).toBe(1001)
  await done
})

test('a client that reads slowly holds back all lanes, with one listener for all of them', async () => {
  const piece = 'x'.repeat(40_000)
  const wordy = defineProvider({
    name: 'wordy',
    async *chat() {
      for (let index = 0; index < 20; index++) yield text(piece)
      yield finish('stop')
    },
  })
  const warnings: Error[] = []
  const warn = (warning: Error) => void warnings.push(warning)
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  const { connect } = await world({ options: { models: { m: wordy, parrot: parrot() } } })
  const client = await connect()
  client.ws.pause()
  for (let index = 0; index < 16; index++) client.create({ input: 'Hi', stream_id: `s${index}` })
  // A turn of its own for each, so that all have met the full socket.
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
  client.ws.resume()
  const all = await Promise.all(Array.from({ length: 16 }, (_, index) => client.response(`s${index}`)))
  for (const messages of all) {
    expect(textOf(messages.at(-1)?.response as ResponseObject)).toHaveLength(20 * piece.length)
  }
  expect(warnings).toEqual([])
})
