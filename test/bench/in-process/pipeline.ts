/**
 * Measures the gateway without sockets in this process: requests are passed to `gateway.handle`, and a stand-in for the
 * connection pool delivers the vendor's bytes. What remains is the gateway's own work. The arguments are the root of the
 * checkout to measure and a scenario.
 */
import { createHook } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { completion, frames, scenarioNamed } from '../traffic.ts'
import { serveParent } from '../child.ts'

const [root = '', name = 'json'] = process.argv.slice(2)
const { chunks, body } = scenarioNamed(name)
const urlOf = (path: string) => pathToFileURL(join(root, path)).href
const { createGateway } = (await import(urlOf('src/index.ts'))) as typeof import('modelhatch')
const { openai } = (await import(urlOf('src/providers/index.ts'))) as typeof import('modelhatch/providers')

const reply = chunks === 0 ? [Buffer.from(completion(name))] : frames(name, chunks).map((frame) => Buffer.from(frame))
const headers = { 'content-type': chunks === 0 ? 'application/json' : 'text/event-stream; charset=utf-8' }
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

const gateway = createGateway({
  models: { [name]: openai({ apiKey: 'sk-vendor', baseURL: 'http://127.0.0.1:9/v1' }) },
  keys: { 'sk-bench': {} },
})
const text = Buffer.from(body(name))
const requestHeaders = { authorization: 'Bearer sk-bench', 'content-type': 'application/json' }

async function request(): Promise<void> {
  const { signal } = new AbortController()
  const exchange = { method: 'POST', target: '/v1/chat/completions', headers: requestHeaders, signal }
  const answer = await gateway.handle({ ...exchange, body: { state: 'text', text } })
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
  counts: async () => ({ promises: await promises(), kilobytes: await allocated() }),
})
