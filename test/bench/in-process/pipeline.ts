/**
 * Measures the gateway without sockets in this process: requests are passed to `gateway.handle`, and a stand-in for the
 * connection pool delivers the vendor's bytes. What remains is the gateway's own work. The arguments are the root of the
 * checkout to measure and a scenario; after its name, the word `metered` stands for rate limits and prices, `native` for
 * Anthropic's messages at a vendor that has them, `translated` for messages at a vendor that only chats, `fair` for the option
 * `fairness` far from the vendor's limit, `otel` and `prometheus` for telemetry.
 */
import { createHook } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { message, messageBody, messageFrames } from '../message-traffic.ts'
import { completion, frames, scenarioNamed } from '../traffic.ts'
import { serveParent } from '../child.ts'
import { allocationsOf } from './allocations.ts'
import { telemetryOf } from '../telemetry/kinds.ts'

const [root = '', scenario = 'json'] = process.argv.slice(2)
const [name = '', variant] = scenario.split(' ')
const { chunks, body } = scenarioNamed(name)
const metered = variant === 'metered' ? variant : undefined
const isNative = variant === 'native'
const telemetry = variant === 'otel' || variant === 'prometheus' ? telemetryOf(variant, '') : []
const asksMessages = isNative || variant === 'translated'
const urlOf = (path: string) => pathToFileURL(join(root, path)).href
const { createGateway } = (await import(urlOf('src/index.ts'))) as typeof import('modelhatch')
const { anthropic, openai } = (await import(urlOf('src/providers/index.ts'))) as typeof import('modelhatch/providers')
const { NodeExchange } = (await import(
  urlOf('adapters/hosts/exchange.ts')
)) as typeof import('../../../adapters/hosts/exchange.ts')

const [whole, streamed] = isNative ? [message, messageFrames] : [completion, frames]
const reply = chunks === 0 ? [Buffer.from(whole(name))] : streamed(name, chunks).map((frame) => Buffer.from(frame))
const headers = {
  'content-type': chunks === 0 ? 'application/json' : 'text/event-stream; charset=utf-8',
  ...(variant === 'fair' && {
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': '30000000',
    'x-ratelimit-remaining-tokens': '29999984',
    'x-ratelimit-reset-tokens': '0s',
  }),
}
const controller = { paused: false, aborted: false, reason: null, pause() {}, resume() {}, abort() {} }

// Each frame is a separate read of the connection within one turn, as a vendor's burst arrives.
const { Pool } = createRequire(join(root, 'package.json'))('undici')
Pool.prototype.dispatch = (_: unknown, handler: Record<string, (...values: unknown[]) => void>) => {
  handler['onRequestStart']?.(controller, {})
  handler['onBodySent']?.(0)
  handler['onRequestSent']?.()
  setImmediate(() => {
    handler['onResponseStart']?.(controller, 200, headers, 'OK')
    for (const piece of reply) handler['onResponseData']?.(controller, piece)
    handler['onResponseEnd']?.(controller, {})
  })
  return true
}

const provider = (isNative ? anthropic : openai)({ apiKey: 'sk-vendor', baseURL: 'http://127.0.0.1:9/v1' })
const rate = { requests: '1000000000/s', tokens: '100000000000/s', concurrent: 9_999 } as const
const gateway =
  metered === undefined
    ? createGateway({
        models: { [name]: provider },
        keys: { 'sk-bench': {} },
        ...(variant === 'fair' && { fairness: {} }),
        ...(telemetry.length > 0 && { telemetry }),
      })
    : createGateway({
        models: { [name]: { provider, price: { input: '2', output: '8' } } },
        keys: { 'sk-bench': { group: 'everyone', account: 'bench' } },
        groups: { everyone: { models: '*', rate } },
        billing: { currency: 'CNY' },
      })
if (metered !== undefined) {
  await gateway.admin.accounts.topUp({ account: 'bench', amount: '1000000000', reference: 'bench' })
}
const text = Buffer.from(asksMessages ? messageBody({ body }, name) : body(name))
const target = asksMessages ? '/v1/messages' : '/v1/chat/completions'
const incoming = {
  method: 'POST',
  headers: {
    authorization: 'Bearer sk-bench',
    'content-type': 'application/json',
    ...(asksMessages && { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'claude-code-20250219' }),
  },
  on() {},
}
const outgoing = { closed: false, on() {}, once() {} }

async function request(): Promise<void> {
  const host = { request: incoming as never, response: outgoing as never, host: incoming }
  const exchange = new NodeExchange({ ...host, target, body: { state: 'text', text } })
  const answer = await gateway.handle(exchange)
  if (answer.status !== 200) throw new Error(`the gateway responded with ${answer.status}`)
  if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) return
  const stream = answer.body
  await new Promise<void>((resolve) => {
    stream.start({
      closed: false,
      write: () => true,
      drained: () => Promise.resolve(),
      end: () => resolve(),
      destroy: () => resolve(),
    })
  })
}

/** Microseconds of this thread's CPU per request, within a slice of about 20 ms. */
async function slice(): Promise<number> {
  const begun = cpu()
  let count = 0
  for (; count < 10 || cpu() - begun < 20_000; count++) await request()
  return (cpu() - begun) / count
}

function cpu(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** The engine compiles a busy server in tiers; the last one is reached after some seconds. */
async function warm(): Promise<void> {
  const begun = cpu()
  while (cpu() - begun < 4_000_000) await request()
}

/** Promises created per request, without those of this loop. */
async function promises(): Promise<number> {
  let created = 0
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PROMISE') created++
    },
  }).enable()
  for (let done = 0; done < 100; done++) await request()
  hook.disable()
  return Math.round(created / 100) - (chunks === 0 ? 2 : 3)
}

/** Kilobytes allocated per request: too few requests for a collection between the two readings. */
async function allocated(): Promise<number> {
  const readings: number[] = []
  for (let reading = 0; reading < 5; reading++) {
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    for (let done = 0; done < 40; done++) await request()
    readings.push((process.memoryUsage().heapUsed - before) / 40 / 1_024)
  }
  return readings.sort((left, right) => left - right)[2] as number
}

serveParent({
  warm,
  slice,
  allocations: () => allocationsOf(request),
  counts: async () => ({ promises: await promises(), kilobytes: await allocated() }),
})
