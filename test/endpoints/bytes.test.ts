/** Responses of bytes that are not events, such as audio. */
import { expect, onTestFinished, test } from 'vitest'
import { Observer } from '../../src/observing/observe.ts'
import type { Receipt } from '../../src/billing/receipt.ts'
import type { CallEndpoint } from '../../src/endpoints/endpoint.ts'
import { jsonOrder } from '../../src/endpoints/order.ts'
import { Serving } from '../../src/endpoints/serving.ts'
import type { Sink, StreamBody } from '../../src/http/exchange.ts'
import { Heartbeat } from '../../src/http/heartbeat.ts'
import { JsonBody } from '../../src/http/json-body.ts'
import { OpenCalls } from '../../src/http/open-calls.ts'
import { defaultSizes } from '../../src/http/sizes.ts'
import type { Provider } from '../../src/providers/contract.ts'
import { Breaker } from '../../src/routing/breaker.ts'
import { Work } from '../../src/providers/work.ts'

/** All byte values, which are not valid UTF-8. */
const sound = Uint8Array.from({ length: 256 }, (_, at) => at)

async function served(bytes: (heartbeat: Heartbeat) => AsyncIterable<Uint8Array>, beat = 60_000) {
  const receipt = Promise.withResolvers<Receipt>()
  const heartbeat = new Heartbeat(beat)
  const endpoint: CallEndpoint<object, AsyncIterable<Uint8Array>> = {
    name: 'sounds',
    makes: undefined,
    read: () => Promise.reject(new TypeError('it was read already')),
    ask: async () => bytes(heartbeat),
    whole: (answer) => ({ contentType: 'audio/mpeg', bytes: answer }),
  }
  const serving = new Serving({
    retry: { maxAttempts: 1 },
    timeouts: {},
    breaker: new Breaker({}, Date.now),
    heartbeat,
    random: Math.random,
    observer: new Observer(),
  })
  const provider: Provider = { name: 'p' }
  const deployments = [{ provider, model: 'm', order: 0, weight: 1 }]
  const client = new AbortController()
  const reply = await serving.serve(
    endpoint,
    {
      id: 'req_1',
      caller: { account: 'a', group: 'g' },
      attribution: {},
      order: jsonOrder<object>(JsonBody.fromValue({ model: 'm' }, defaultSizes), false),
      model: { id: 'm', created: 1, ownedBy: 'us', deployments },
      startedAt: 0,
      elapsedMs: () => 1,
      work: new Work(),
      deliver: receipt.resolve,
    },
    new OpenCalls(0).open(client.signal, undefined),
  )
  const pieces: Uint8Array[] = []
  const ends: string[] = []
  const sink: Sink & { closed: boolean } = {
    closed: false,
    write: (piece) => pieces.push(Buffer.from(piece)) > 0,
    drained: () => Promise.resolve(),
    end: (whole = true) => void ends.push(whole ? 'whole' : 'broken'),
    destroy: () => void ends.push('cut'),
  }
  onTestFinished(() => client.abort())
  ;(reply.body as StreamBody).start(sink)
  return { reply, ends, pieces, sink, heartbeat, receipt: await receipt.promise }
}

test('bytes are passed on unchanged with their content type, and the receipt follows the last one', async () => {
  const { reply, pieces, ends, receipt } = await served(async function* () {
    yield sound
    yield sound
  })
  expect([reply.status, reply.headers]).toEqual([200, { 'content-type': 'audio/mpeg' }])
  expect(Buffer.concat(pieces)).toEqual(Buffer.concat([sound, sound]))
  expect(ends).toEqual(['whole'])
  expect(receipt).toMatchObject({ endpoint: 'sounds', outcome: 'completed', firstByteMs: 1 })
})

test('if the bytes break off, the connection is cut without an error text, and the request has failed', async () => {
  const { pieces, ends, receipt } = await served(async function* () {
    yield sound
    throw new Error('the vendor is gone')
  })
  expect(Buffer.concat(pieces)).toEqual(Buffer.from(sound))
  expect(ends).toEqual(['cut', 'broken'])
  expect(receipt).toMatchObject({ outcome: 'failed', code: 'server_error' })
})

test('no keep-alive frames are written between bytes', async () => {
  const { pieces, ends } = await served(async function* (heartbeat) {
    yield sound
    const beaten = Promise.withResolvers<void>()
    const beating = { quiet: 0, beat: () => beaten.resolve() }
    heartbeat.add(beating)
    await beaten.promise
    heartbeat.remove(beating)
    yield sound
  }, 4)
  expect(Buffer.concat(pieces)).toEqual(Buffer.concat([sound, sound]))
  expect(ends).toEqual(['whole'])
})
