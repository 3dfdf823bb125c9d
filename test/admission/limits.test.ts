import { connect } from 'node:net'
import { once } from 'node:events'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/providers/index.ts'
import { createGateway, memoryLimitStore, type LimitStore } from '../../src/index.ts'
import { askChat } from '../hosted.ts'
import { scene, streamEvents, whole } from './scene.ts'

const limited = (rate: object) => ({ groups: { default: { models: '*' as const, rate } } })

function askWith(url: string, key: string, body: object = {}): Promise<Response> {
  return askChat(url, body, { headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } })
}

describe('a limit of requests', () => {
  test('admits requests up to the limit and rejects the next with retry-after', async () => {
    const { url, vendor } = await scene(whole, {
      ...limited({ requests: '2/min' }),
      clock: () => 0,
      storage: { limits: memoryLimitStore({ clock: () => 0 }) },
    })
    const first = await askChat(url)
    expect(first.status).toBe(200)
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('2')
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1')
    expect(first.headers.get('x-ratelimit-reset-requests')).toBe('30s')
    expect((await askChat(url)).headers.get('x-ratelimit-remaining-requests')).toBe('0')
    const rejected = await askChat(url)
    expect(rejected.status).toBe(429)
    expect(await rejected.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', type: 'rate_limit_exceeded' } })
    expect(rejected.headers.get('retry-after')).toBe('30')
    expect(rejected.headers.get('retry-after-ms')).toBe('30000')
    expect(vendor.requests).toHaveLength(2)
  })

  test('admits the next request once the bucket is refilled', async () => {
    let now = 1_000_000
    const { url } = await scene(whole, {
      ...limited({ requests: '2/min' }),
      clock: () => now,
      storage: { limits: memoryLimitStore({ clock: () => now }) },
    })
    await askChat(url)
    await askChat(url)
    now += 29_999
    expect((await askChat(url)).status).toBe(429)
    now += 1
    expect((await askChat(url)).status).toBe(200)
    expect((await askChat(url)).status).toBe(429)
  })

  test('rejects an exhausted key before the request body is read', async () => {
    const { url } = await scene(whole, limited({ requests: '1/min' }))
    await askChat(url)
    const { port } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-test\r\ncontent-length: 9\r\n\r\n',
    )
    const [response] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    expect(response.toString()).toMatch(/^HTTP\/1\.1 429 /)
  })

  test('counts requests that fail validation', async () => {
    const { url } = await scene(whole, limited({ requests: '3/min' }))
    expect((await askChat(url, { temperature: 9 })).status).toBe(400)
    expect((await askChat(url, { model: 'unknown' })).status).toBe(404)
    expect((await askChat(url)).status).toBe(200)
    expect((await askChat(url)).status).toBe(429)
  })

  test('makes the official client wait and retry', async () => {
    const { url, vendor } = await scene(whole, limited({ requests: { limit: 10, periodMs: 1_000, burst: 1 } }))
    const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1` })
    const send = async () => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    await send()
    expect((await send()).choices[0]?.message.content).toBe('Hi')
    expect(vendor.requests).toHaveLength(2)
  })

  test('with more than a minute to wait tells clients not to retry', async () => {
    const { url } = await scene(whole, limited({ requests: '1/h' }))
    await askChat(url)
    const rejected = await askChat(url)
    expect(rejected.headers.get('x-should-retry')).toBe('false')
    expect(rejected.headers.get('retry-after')).toBe('60')
  })
})

describe('the scope of a limit', () => {
  const keys = {
    'sk-test': { account: 'one' },
    'sk-two': { account: 'one' },
    'sk-three': { account: 'two', group: 'default' },
  }

  test('is each account of a group by default, across its keys', async () => {
    const { url } = await scene(whole, { keys, ...limited({ requests: '1/min' }) })
    expect((await askWith(url, 'sk-test')).status).toBe(200)
    expect((await askWith(url, 'sk-two')).status).toBe(429)
    expect((await askWith(url, 'sk-three')).status).toBe(200)
  })

  test('is each key with per: key', async () => {
    const { url } = await scene(whole, { keys, ...limited({ requests: '1/min', per: 'key' }) })
    expect((await askWith(url, 'sk-test')).status).toBe(200)
    expect((await askWith(url, 'sk-two')).status).toBe(200)
    expect((await askWith(url, 'sk-two')).status).toBe(429)
  })

  test('is the whole group with per: all', async () => {
    const { url } = await scene(whole, { keys, ...limited({ requests: '1/min', per: 'all' }) })
    expect((await askWith(url, 'sk-test')).status).toBe(200)
    expect((await askWith(url, 'sk-three')).status).toBe(429)
  })

  test('is all callers of a model for the limit of a model', async () => {
    const { url } = await scene(whole, { keys, model: { rate: { requests: '1/min' } } })
    expect((await askWith(url, 'sk-test')).status).toBe(200)
    expect((await askWith(url, 'sk-three')).status).toBe(429)
  })

  test('is one key for the limit of a key, in addition to that of its group', async () => {
    const { url } = await scene(whole, {
      keys: { ...keys, 'sk-two': { account: 'one', rate: { requests: '1/min' } } },
      ...limited({ requests: '9/min' }),
    })
    const response = await askWith(url, 'sk-two')
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('1')
    expect((await askWith(url, 'sk-two')).status).toBe(429)
    expect((await askWith(url, 'sk-test')).status).toBe(200)
  })

  test('a request rejected by one limit consumes nothing from the others', async () => {
    const { url } = await scene(whole, {
      keys: { 'sk-test': { account: 'one', rate: { requests: '3/min' } } },
      models: (provider) => ({ m: { provider, rate: { requests: '1/h' } }, other: { provider } }),
    })
    await askChat(url)
    expect((await askChat(url)).status).toBe(429)
    expect((await askChat(url)).status).toBe(429)
    expect((await askChat(url, { model: 'other' })).status).toBe(200)
    expect((await askChat(url, { model: 'other' })).status).toBe(200)
    expect((await askChat(url, { model: 'other' })).status).toBe(429)
  })
})

describe('a limit of concurrent requests', () => {
  test('rejects a request over the limit and admits it once another has ended', async () => {
    const open: (() => void)[] = []
    const { url, receipt } = await scene(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(streamEvents[0])
        open.push(() => response.end(streamEvents.slice(1).join('')))
      },
      limited({ concurrent: 2 }),
    )
    const streams = await Promise.all([askChat(url, { stream: true }), askChat(url, { stream: true })])
    const rejected = await askChat(url, { stream: true })
    expect(rejected.status).toBe(429)
    expect(rejected.headers.get('retry-after')).toBe('1')
    open[0]?.()
    await receipt()
    expect((await askChat(url, { stream: true })).status).toBe(200)
    for (const end of open) end()
    await Promise.all(streams.map(async (stream) => stream.text()))
  })

  test('never rejects sequential requests of one client, however slow the store is', async () => {
    const { url } = await scene(whole, { ...limited({ concurrent: 1 }), storage: { limits: slow(memoryLimitStore()) } })
    for (let request = 0; request < 5; request++) expect((await askChat(url)).status).toBe(200)
  })

  test('of a model applies across keys', async () => {
    const end = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const { url } = await scene(
      async (request, response) => {
        started.resolve()
        await end.promise
        await whole(request, response)
      },
      { keys: { 'sk-test': {}, 'sk-two': {} }, model: { rate: { concurrent: 1 } } },
    )
    const first = askChat(url)
    await started.promise
    expect((await askWith(url, 'sk-two')).status).toBe(429)
    end.resolve()
    expect((await first).status).toBe(200)
    expect((await askWith(url, 'sk-two')).status).toBe(200)
  })
})

describe('a limit of tokens', () => {
  test.each([
    ['4,096 tokens', {}, {}, 4_096],
    ['the maximum output of the model if that is less', { maxOutputTokens: 500 }, {}, 500],
    ['limits.outputTokens if set', {}, { limits: { outputTokens: 700 } }, 700],
  ])('reserves %s for a response of unstated length until it ends', async (_, model, options, expected) => {
    const { url } = await scene(whole, { model, ...options, ...limited({ tokens: '100000/min' }) })
    const left = Number((await askChat(url)).headers.get('x-ratelimit-remaining-tokens'))
    expect(Math.abs(100_000 - expected - left)).toBeLessThan(100)
  })

  test('consumes an estimate, corrected by the usage that the vendor reports', async () => {
    const { url } = await scene(whole, limited({ tokens: '2000/min' }))
    const first = await askChat(url, { max_tokens: 1_000 })
    const left = Number(first.headers.get('x-ratelimit-remaining-tokens'))
    expect(first.headers.get('x-ratelimit-limit-tokens')).toBe('2000')
    expect(left).toBeLessThan(1_000)
    expect(left).toBeGreaterThan(900)
    // Had the first not been corrected to 30 tokens, the second would not fit.
    const second = await askChat(url, { max_tokens: 1_900 })
    expect(second.status).toBe(200)
  })

  test('is overdrawn by a response longer than estimated, and rejects requests until it is refilled', async () => {
    const { url } = await scene(whole, {
      ...limited({ tokens: '25/min' }),
      limits: { outputTokens: 1 },
    })
    expect((await askChat(url)).status).toBe(200)
    const rejected = await askChat(url)
    expect(rejected.status).toBe(429)
    expect(await rejected.json()).toMatchObject({ error: { message: expect.stringContaining('tokens') } })
  })

  test('tells clients not to retry a request larger than the limit', async () => {
    const { url, vendor } = await scene(whole, limited({ tokens: '500/min' }))
    const rejected = await askChat(url, { max_tokens: 600 })
    expect(rejected.status).toBe(429)
    expect(rejected.headers.get('x-should-retry')).toBe('false')
    expect(await rejected.json()).toMatchObject({ error: { message: expect.stringContaining('Shorten it') } })
    expect(vendor.requests).toHaveLength(0)
    // A response of unstated length is assumed to fit.
    expect((await askChat(url)).status).toBe(200)
  })

  test('is refunded in full when the request fails', async () => {
    let failing = true
    const { url } = await scene(
      (request, response) => {
        if (failing) response.writeHead(500).end()
        else void whole(request, response)
      },
      limited({ tokens: '1000/min' }),
    )
    expect((await askChat(url, { max_tokens: 900 })).status).toBe(503)
    failing = false
    expect((await askChat(url, { max_tokens: 900 })).status).toBe(200)
  })
})

describe('while the limit store is down', () => {
  const down: LimitStore = {
    take: () => Promise.reject(new Error('connection rejected')),
    give: () => Promise.reject(new Error('connection rejected')),
    renew: () => Promise.reject(new Error('connection rejected')),
  }

  test('rejects requests with 503 and retry-after', async () => {
    const { url, vendor } = await scene(whole, { ...limited({ requests: '2/min' }), storage: { limits: down } })
    const rejected = await askChat(url)
    expect(rejected.status).toBe(503)
    expect(rejected.headers.get('retry-after')).toBe('1')
    expect(vendor.requests).toHaveLength(0)
  })

  test('enforces the limits per process with whenDown: local', async () => {
    const { url } = await scene(whole, {
      ...limited({ requests: '2/min', concurrent: 1 }),
      limits: { whenDown: 'local' },
      storage: { limits: down },
    })
    expect((await askChat(url)).status).toBe(200)
    expect((await askChat(url)).status).toBe(200)
    expect((await askChat(url)).status).toBe(429)
  })
})

describe('an invalid limit', () => {
  const provider: Provider = { name: 'x' }
  const create = (rate: object) => () => createGateway({ models: { m: provider }, ...limited(rate) })

  test('is rejected with an error that names the option', () => {
    expect(create({ requests: '60' })).toThrow(/groups\.default\.rate\.requests: must be like '60\/min'/)
    expect(create({ concurrent: 0 })).toThrow(/groups\.default\.rate\.concurrent/)
    expect(create({ request: '60/min' })).toThrow(/groups\.default\.rate/)
    expect(() => createGateway({ models: { m: { provider, rate: { tokens: 'x' as never } } } })).toThrow(
      /models\["m"\]\.rate\.tokens/,
    )
  })
})

async function later<T>(act: () => T | Promise<T>): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, 5))
  return act()
}

/** Delays every call of the store. */
function slow(store: LimitStore): LimitStore {
  return {
    take: (claim) => later(() => store.take(claim)),
    give: (returned) => later(() => later(() => store.give(returned))),
    renew: (holders, leaseMs) => later(() => store.renew(holders, leaseMs)),
  }
}
