/** Requests that wait for the response to another one: when the wait ends, and that disconnects leave nothing behind. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createGateway,
  GatewayError,
  memoryIdempotencyStore,
  type Exchange,
  type Sink,
  type StreamBody,
} from '../../../src/index.ts'
import { Observer } from '../../../src/observe/observe.ts'
import { Idempotency } from '../../../src/admission/idempotency/idempotency.ts'
import { demo } from '../../../src/providers/index.ts'
import { Guard } from '../../../src/records/guard.ts'
import { scene, whole, type SceneOptions } from '../scene.ts'
import { ask, gated, question } from './keyed.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heap(): number {
  collect()
  return process.memoryUsage().heapUsed
}

/** A first request at a vendor that does not respond, and a second one that waits for it. */
async function waiting(options: SceneOptions = {}) {
  const { reply, received, open } = gated(whole)
  onTestFinished(open)
  const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let calls = 0
  const stage = await scene(reply, { ...options, authenticate: () => arrivals[calls++]?.resolve() as undefined })
  const first = ask(stage.url)
  await received
  const second = ask(stage.url)
  await arrivals[1]?.promise
  return { ...stage, first, second }
}

describe('a waiting request ends', () => {
  test('when the vendor times out: both get the same error', async () => {
    // Long enough for the second request to arrive on a machine that stalls for seconds.
    const { first, second, vendor } = await waiting({ timeouts: { firstContentMs: 6_000 } })
    expect(await first).toMatchObject({ status: 503 })
    expect((await second).text).toBe((await first).text)
    expect(vendor.requests).toHaveLength(1)
  })

  test('when the gateway closes', async () => {
    const { first, second, gateway } = await waiting()
    await gateway.close({ graceMs: 0 })
    expect([(await first).status, (await second).status]).toEqual([503, 503])
  })

  test('when the first client does not read its stream and is cut off: the next request calls the vendor', async () => {
    const gateway = createGateway({
      keys: { 'sk-test': {} },
      models: { m: demo({ paceMs: 0 }) },
      timeouts: { stallMs: 20 },
    })
    onTestFinished(() => gateway.close({ graceMs: 0 }))
    const streamed = { ...question, stream: true }
    const { body } = await gateway.handle(exchangeOf(streamed))
    ;(body as StreamBody).start(unread())
    const next = await gateway.handle(exchangeOf(streamed))
    expect(next.headers).not.toHaveProperty('idempotent-replayed')
    ;(next.body as StreamBody).start({ ...unread(), closed: true })
  })
})

test('clients that disconnect while waiting leave no memory behind', async () => {
  const guard = new Guard({ name: 'the store', timeoutMs: 1_000, now: () => performance.now() })
  const store = memoryIdempotencyStore()
  const idempotency = new Idempotency({
    store,
    guard,
    keepMs: 1_000,
    maxBytes: 1_000,
    leaseMs: 30_000,
    resumeMs: 0,
    observer: new Observer(),
  })
  const begin = async (signal: AbortSignal) => {
    const keyed = { id: crypto.randomUUID(), caller: { account: 'a', group: 'g' }, exchange: exchangeOf({}, signal) }
    return idempotency.begin('r', keyed, { json: () => '{}' } as never)
  }
  await begin(new AbortController().signal)
  let disconnected = 0
  const before = heap()
  for (let request = 0; request < 5_000; request++) {
    const disconnect = new AbortController()
    const waiting = begin(disconnect.signal).catch((error: GatewayError) => error.code)
    await new Promise((resolve) => setImmediate(resolve))
    disconnect.abort()
    if ((await waiting) === 'client_closed') disconnected++
  }
  expect(disconnected).toBe(5_000)
  expect((heap() - before) / 5_000).toBeLessThan(400)
})

function exchangeOf(body: object, signal: AbortSignal = new AbortController().signal): Exchange {
  return {
    method: 'POST',
    target: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-test', 'idempotency-key': 'k', 'content-type': 'application/json' },
    body: { state: 'text', text: JSON.stringify(body) },
    signal,
  }
}

/** A client that reads one chunk and then stops. */
function unread(): Sink {
  const cut = Promise.withResolvers<void>()
  return {
    closed: false,
    write: () => false,
    drained: () => cut.promise,
    end: () => undefined,
    destroy() {
      Object.assign(this, { closed: true })
      cut.resolve()
    },
  }
}
