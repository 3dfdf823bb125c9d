/** What one chunk of a stream costs between the vendor's connection and the client's: no promise, and one write a turn. */
import { createHook } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { createGateway, type Exchange, type Sink } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { Pool, type Dispatcher } from 'undici'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

const headers = { 'content-type': 'text/event-stream' }

/** The vendor's side of one request: what it writes reaches the gateway at once. */
class Connection implements Dispatcher.DispatchController {
  paused = false
  aborted = false
  reason: Error | null = null
  readonly #handler: Dispatcher.DispatchHandler

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler
  }

  begin(): void {
    this.#handler.onRequestStart?.(this, {})
    this.#handler.onRequestSent?.()
    this.#handler.onResponseStart?.(this, 200, headers, 'OK')
  }

  write(...frames: readonly string[]): void {
    for (const frame of frames) this.#handler.onResponseData?.(this, Buffer.from(frame))
  }

  end(): void {
    this.#handler.onResponseEnd?.(this, {})
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }

  abort(reason: Error): void {
    this.aborted = true
    this.reason = reason
  }
}

/** The client: its writes, and whether it reads. */
class Client implements Sink {
  readonly writes: string[] = []
  closed = false
  over = false
  reads = true
  #read: (() => void) | undefined

  write(piece: string | Uint8Array): boolean {
    this.writes.push(Buffer.from(piece as Uint8Array).toString())
    return this.reads
  }

  drained(): Promise<void> {
    return new Promise((resolve) => (this.#read = resolve))
  }

  read(): void {
    this.reads = true
    this.#read?.()
  }

  end(): void {
    this.over = true
  }

  destroy(): void {
    this.closed = true
  }
}

const dispatch = Object.getOwnPropertyDescriptor(Pool.prototype, 'dispatch')
let called: (connection: Connection) => void
beforeAll(() => {
  Pool.prototype.dispatch = (_, handler) => {
    const connection = new Connection(handler)
    setImmediate(() => {
      connection.begin()
      called(connection)
    })
    return true
  }
})
afterAll(() => {
  if (dispatch === undefined) Reflect.deleteProperty(Pool.prototype, 'dispatch')
  else Object.defineProperty(Pool.prototype, 'dispatch', dispatch)
})

function frame(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  const chunk = { id: 'c-1', object: 'chat.completion.chunk', created: 7, model: 'm', choices }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

const role = frame({ role: 'assistant', content: '' })
const last = [frame({}, 'stop'), 'data: [DONE]\n\n']

function words(count: number, text = 'word'): string[] {
  return Array.from({ length: count }, () => frame({ content: text }))
}

function gatewayOf() {
  const gateway = createGateway({
    models: { m: openai({ baseURL: 'http://127.0.0.1:9/v1' }) },
    keys: { 'sk-test': {} },
  })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  return gateway
}

function open(gateway = gatewayOf()) {
  const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true }
  const exchange: Exchange = {
    method: 'POST',
    target: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: { state: 'text', text: JSON.stringify(request) },
    signal: new AbortController().signal,
  }
  const connected = new Promise<Connection>((resolve) => (called = resolve))
  return { reply: gateway.handle(exchange), connected }
}

/** A stream whose first word the client has. */
async function begun() {
  const { reply, connected } = open()
  const connection = await connected
  connection.write(role, ...words(1))
  const { body } = await reply
  const client = new Client()
  if (typeof body === 'object' && 'start' in body) body.start(client)
  expect(client.writes.join('')).toContain('"word"')
  client.writes.length = 0
  return { connection, client }
}

/** The promises that are created until the work is done. */
async function promisesOf(work: () => Promise<void>): Promise<number> {
  let promises = 0
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PROMISE') promises++
    },
  }).enable()
  await work()
  hook.disable()
  return promises
}

describe('frames that arrive in one turn', () => {
  test('are one write, however many', async () => {
    const { connection, client } = await begun()
    connection.write(...words(500))
    await turn()
    expect(client.writes).toEqual([words(500).join('')])
  })

  test('are one write with the end of the response', async () => {
    const { connection, client } = await begun()
    connection.write(...words(3), ...last)
    connection.end()
    await turn()
    expect(client.writes).toHaveLength(1)
    expect(client.writes[0]).toMatch(/^(?:data: .*"word".*\n\n){3}data: .*"stop".*\n\ndata: \[DONE\]\n\n$/)
    expect(client.over).toBe(true)
  })

  test('with characters outside of ASCII are passed on unchanged', async () => {
    const { connection, client } = await begun()
    connection.write(...words(2, 'wörd 語 \u{1f600}'), ...last)
    await turn()
    expect(client.writes).toHaveLength(1)
    expect(client.writes[0]?.startsWith(words(2, 'wörd 語 \u{1f600}').join(''))).toBe(true)
  })

  test('are written with the frames before an error, the error, and no [DONE]', async () => {
    const { connection, client } = await begun()
    connection.write(...words(2), 'data: {"error":{"message":"secret","code":500}}\n\n', ...words(1))
    await turn()
    expect(client.writes.join('')).toMatch(/^(?:data: .*"word".*\n\n){2}data: \{"error":.*\}\n\n$/)
    expect([client.writes.join('').includes('secret'), client.over, connection.aborted]).toEqual([false, true, true])
  })
})

test('a frame reaches the client when it is complete, wherever it is cut', async () => {
  const { connection, client } = await begun()
  const [word = ''] = words(1)
  for (let cut = 1; cut < word.length; cut++) {
    connection.write(word.slice(0, cut))
    await turn()
    expect(client.writes).toEqual([])
    connection.write(word.slice(cut))
    await turn()
    expect(client.writes.splice(0)).toEqual([word])
  }
})

test('a chunk takes no promise, whether the chunks come together or one by one', async () => {
  const burst = async (count: number) => {
    const { connection } = await begun()
    return promisesOf(async () => {
      connection.write(...words(count), ...last)
      await turn()
    })
  }
  const paced = async (count: number) => {
    const { connection } = await begun()
    const [word = ''] = words(1)
    return promisesOf(
      () =>
        new Promise((resolve) => {
          let written = 0
          const next = () => {
            connection.write(word)
            if (++written < count) setImmediate(next)
            else setImmediate(resolve)
          }
          next()
        }),
    )
  }
  // A few belong to the end of the stream, and to the test itself.
  for (const stream of [burst, paced]) expect(await stream(500)).toBeLessThan(50)
})

test('a stream of 50 chunks takes fewer promises than chunks from the request to the end of the response', async () => {
  const gateway = gatewayOf()
  const chunks = [role, ...words(50), ...last]
  const stream = async () => {
    const { reply, connected } = open(gateway)
    const connection = await connected
    connection.write(...chunks)
    connection.end()
    const { body } = await reply
    const client = new Client()
    if (typeof body === 'object' && 'start' in body) body.start(client)
    expect([client.writes.length, client.over]).toEqual([1, true])
  }
  const counts: number[] = []
  for (let run = 0; run < 5; run++) counts.push(await promisesOf(stream))
  // Four belong to the test: its function, the connection, and awaiting both.
  expect(Math.min(...counts) - 4).toBeLessThan(50)
})

test('a client that does not read pauses the vendor, and then gets all there is', async () => {
  const { connection, client } = await begun()
  client.reads = false
  const large = words(1, 'x'.repeat(64 * 1024))
  let written = 0
  while (!connection.paused && written < 100) {
    connection.write(...large)
    written++
    await turn()
  }
  expect(client.writes).toHaveLength(1)
  expect(written).toBeLessThan(8)
  client.read()
  await turn()
  expect([connection.paused, client.writes.length]).toEqual([false, 2])
  connection.write(...last)
  await turn()
  expect(client.writes.join('').split('xxx"').length - 1).toBe(written)
  expect(client.over).toBe(true)
})
