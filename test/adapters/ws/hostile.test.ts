/** Clients that want to take more than their share: memory, sockets, time. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { defineProvider } from 'modelhatch/providers'
import { finish, text } from '../../chat-chunks.ts'
import { expect, onTestFinished, test } from 'vitest'
import { usageOf } from '../../../src/wire/usage.ts'
import { heapUsed } from '../../heap.ts'
import { long } from '../../long.ts'
import { key, textOf, world } from './world.ts'

const mebibyte = 1024 * 1024

/** A frame of a client. `end`: whether it is the last of its message. */
function frame(opcode: number, data: Buffer, end = true, declared = data.length): Buffer {
  const length =
    declared < 126
      ? [0x80 | declared]
      : declared < 65_536
        ? [0xfe, declared >> 8, declared & 0xff]
        : [0xff, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (declared >>> shift) & 0xff)]
  // A mask of zeros leaves the data as it is.
  return Buffer.concat([Buffer.from([(end ? 0x80 : 0) | opcode, ...length, 0, 0, 0, 0]), data])
}

/** A client without a library, after the handshake. */
async function bare(port: number): Promise<Socket & { isClosed: () => boolean }> {
  const socket = connectTcp(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let closed = false
  socket.on('error', () => undefined).on('close', () => (closed = true))
  socket.write(
    [
      'GET /v1/responses HTTP/1.1',
      'host: a',
      `authorization: Bearer ${key}`,
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      `sec-websocket-key: ${randomBytes(16).toString('base64')}`,
      '\r\n',
    ].join('\r\n'),
  )
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(first.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /)
  return Object.assign(socket, { isClosed: () => closed })
}

test('a message longer than a request may be closes the socket, before it is read', async () => {
  const { port, connect } = await world({ options: { sizes: { jsonBytes: 1_000 } } })
  const socket = await bare(port)
  socket.write(frame(1, Buffer.alloc(10), true, 500 * mebibyte))
  await expect.poll(() => socket.isClosed()).toBe(true)
  const client = await connect()
  client.create({ input: 'x'.repeat(1_000) })
  expect(await client.closed).toMatchObject({ code: 1009 })
})

test('a message in very many fragments closes the socket', async () => {
  const { port } = await world()
  const socket = await bare(port)
  socket.write(frame(1, Buffer.from('{'), false))
  for (let round = 0; round < 100 && !socket.isClosed(); round++) {
    if (!socket.write(Buffer.concat(Array.from({ length: 100 }, () => frame(0, Buffer.from(' '), false))))) {
      await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    }
  }
  await expect.poll(() => socket.isClosed()).toBe(true)
})

test('messages that are not complete may fill only so much memory, of all sockets together', async () => {
  const { port, connect } = await world({ upgrade: { waitingBytes: mebibyte } })
  const sockets = await Promise.all(Array.from({ length: 8 }, () => bare(port)))
  for (const socket of sockets) socket.write(frame(1, Buffer.alloc(mebibyte / 4, 0x20), false))
  await expect.poll(() => sockets.filter((socket) => socket.isClosed()).length).toBeGreaterThanOrEqual(4)
  for (const socket of sockets) socket.destroy()
  await expect.poll(async () => textOf(await (await connect()).ask({ input: 'Hi' }))).toBe('Hi')
})

test('a message that stops arriving is given up, also if pings come in between', async () => {
  const { port } = await world({ options: { sizes: { bodyIdleMs: 50 } }, upgrade: { pingMs: 300 } })
  const socket = await bare(port)
  const answers: Buffer[] = []
  socket.on('data', (data: Buffer) => answers.push(data))
  socket.write(frame(1, Buffer.from('{"type":'), false))
  socket.write(frame(9, Buffer.from('still here')))
  await expect.poll(() => socket.isClosed()).toBe(true)
  // It has got a pong, and was not pinged first.
  expect(Buffer.concat(answers).toString('latin1')).toBe('\x8a\x0astill here')
})

test('a client that does not answer pings is gone', async () => {
  const { port, connect } = await world({ upgrade: { pingMs: 500 } })
  const [silent, alive] = [await bare(port), await connect()]
  silent.resume()
  await expect.poll(() => silent.isClosed()).toBe(true)
  expect(textOf(await alive.ask({ input: 'Hi' }))).toBe('Hi')
})

test('a socket without a call is closed after a time', async () => {
  const { connect } = await world({ upgrade: { idleMs: 1, pingMs: 300 } })
  const client = await connect()
  expect(await client.closed).toMatchObject({ code: 1001, reason: 'idle' })
})

test('pings are answered; a flood of them closes the socket and fills no memory', async () => {
  const { port, connect } = await world()
  const client = await connect()
  client.ws.ping('a')
  expect(String(((await once(client.ws, 'pong')) as [Buffer])[0])).toBe('a')
  const flooding = await bare(port)
  flooding.pause()
  const pings = Buffer.concat(Array.from({ length: 100 }, () => frame(9, Buffer.alloc(125))))
  for (let round = 0; round < 1_000 && !flooding.destroyed; round++) {
    if (!flooding.write(pings)) {
      flooding.resume()
      await Promise.race([once(flooding, 'drain'), once(flooding, 'close')])
    }
  }
  flooding.resume()
  await expect.poll(() => flooding.isClosed()).toBe(true)
})

test('an upgrade whose caller cannot be found out in time is refused, and does not count as a socket', async () => {
  let isSlow = true
  const authenticate = () => (isSlow ? new Promise<never>(() => undefined) : { account: 'a', group: 'default' })
  const { connect } = await world({ options: { authenticate, timeouts: { authMs: 20 } }, upgrade: { sockets: 1 } })
  for (let round = 0; round < 3; round++) await expect(connect({})).rejects.toMatchObject({ status: 503 })
  isSlow = false
  expect(textOf(await (await connect({})).ask({ input: 'Hi' }))).toBe('Hi')
})

test('a further socket of a key takes the place of the one that is idle for longest', async () => {
  const { connect } = await world({ upgrade: { socketsPerCaller: 2 } })
  const [first, second] = [await connect(), await connect()]
  await first.ask({ input: 'Hi' })
  await connect()
  expect(await second.closed).toMatchObject({ code: 1001 })
  expect(textOf(await first.ask({ input: 'Hi' }))).toBe('Hi')
})

test('sockets that do not answer a close make room only once', async () => {
  const { port } = await world({ upgrade: { socketsPerCaller: 2 } })
  let closing = 0
  for (let opened = 0; opened < 6; opened++) {
    const socket = await bare(port)
    socket.once('data', ([first]: Buffer) => (closing += first === 0x88 ? 1 : 0))
  }
  await expect.poll(() => closing).toBe(4)
})

test('a further socket is refused if all of the key are in use, or if the server has too many', async () => {
  const gate = Promise.withResolvers<void>()
  const model = defineProvider({
    name: 'slow',
    async *chat() {
      yield text('a')
      await gate.promise
      yield finish('stop', usageOf(1, 1))
    },
  })
  const { connect } = await world({
    options: { models: { m: model }, keys: { [key]: {}, other: {}, third: {} } },
    upgrade: { socketsPerCaller: 1, sockets: 2 },
  })
  const client = await connect()
  client.create({ input: 'Hi' })
  await client.next()
  await expect(connect()).rejects.toMatchObject({ status: 426 })
  await connect({ authorization: 'Bearer other' })
  await expect(connect({ authorization: 'Bearer third' })).rejects.toMatchObject({ status: 426 })
  gate.resolve()
  await client.response()
})

test('a client that reads slowly holds up its vendor, and is disconnected if it reads nothing', async () => {
  let sent = 0
  const model = defineProvider({
    name: 'talkative',
    async *chat() {
      for (; sent < 1_000; sent++) yield text('x'.repeat(64 * 1024))
      yield finish('stop', usageOf(1, 1))
    },
  })
  const { port, receipts } = await world({ options: { models: { m: model }, timeouts: { stallMs: 300 } } })
  const socket = await bare(port)
  socket.pause()
  socket.write(frame(1, Buffer.from(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hi' }))))
  await expect.poll(() => receipts.length).toBe(1)
  expect(receipts[0]).toMatchObject({ outcome: 'cancelled' })
  expect(sent).toBeLessThan(500)
})

test('an idle socket takes little memory', async () => {
  const count = long ? 5_000 : 500
  const { port } = await world({ upgrade: { sockets: count, socketsPerCaller: count } })
  const before = heapUsed() + process.memoryUsage().external
  const sockets: Socket[] = []
  for (let index = 0; index < count; index += 50) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => bare(port)))))
  }
  const each = (heapUsed() + process.memoryUsage().external - before) / count
  // With the client's end of each.
  expect(each).toBeLessThan(40_000)
})

test('messages that are as long as requests may be are served in their order', async () => {
  const { connect } = await world({ upgrade: { callsPerSocket: 1 } })
  const client = await connect()
  const input = 'x'.repeat(mebibyte)
  client.create({ input, stream_id: 'a' })
  client.create({ input: 'Hi', stream_id: 'b' })
  const [first, second] = [await client.response(), await client.response()]
  expect(new Set(first.map((each) => each['stream_id']))).toEqual(new Set(['a']))
  expect(new Set(second.map((each) => each['stream_id']))).toEqual(new Set(['b']))
})
