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
  test('lets through as many as it says and refuses the next with advice when to come again', async () => {
    const { url, vendor } = await scene(whole, limited({ requests: '2/min' }))
    const first = await askChat(url)
    expect(first.status).toBe(200)
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('2')
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1')
    expect(first.headers.get('x-ratelimit-reset-requests')).toBe('30s')
    expect((await askChat(url)).headers.get('x-ratelimit-remaining-requests')).toBe('0')
    const refused = await askChat(url)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', type: 'rate_limit_exceeded' } })
    expect(Number(refused.headers.get('retry-after'))).toBe(30)
    expect(Number(refused.headers.get('retry-after-ms'))).toBeGreaterThan(29_000)
    expect(vendor.requests).toHaveLength(2)
  })

  test('admits again when it is refilled', async () => {
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

  test('is known to be used up before the body of the next request is read', async () => {
    const { url } = await scene(whole, limited({ requests: '1/min' }))
    await askChat(url)
    const { port } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-test\r\ncontent-length: 9\r\n\r\n',
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 429 /)
  })

  test('counts requests that are refused for what they ask', async () => {
    const { url } = await scene(whole, limited({ requests: '3/min' }))
    expect((await askChat(url, { temperature: 9 })).status).toBe(400)
    expect((await askChat(url, { model: 'unknown' })).status).toBe(404)
    expect((await askChat(url)).status).toBe(200)
    expect((await askChat(url)).status).toBe(429)
  })

  test('makes the official client wait and try again', async () => {
    const { url, vendor } = await scene(whole, limited({ requests: { limit: 10, periodMs: 1_000, burst: 1 } }))
    const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1` })
    const ask = async () => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    await ask()
    expect((await ask()).choices[0]?.message.content).toBe('Hi')
    expect(vendor.requests).toHaveLength(2)
  })

  test('that opens again in more than a minute tells clients not to try', async () => {
    const { url } = await scene(whole, limited({ requests: '1/h' }))
    await askChat(url)
    const refused = await askChat(url)
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(refused.headers.get('retry-after')).toBe('60')
  })
})

describe('a limit counts', () => {
  const keys = {
    'sk-test': { account: 'one' },
    'sk-two': { account: 'one' },
    'sk-three': { account: 'two', group: 'default' },
  }

  test('for each account of a group, whatever key it uses', async () => {
    const { url } = await scene(whole, { keys, ...limited({ requests: '1/min' }) })
    expect((await askWith(url, 'sk-test')).status).toBe(200)
    expect((await askWith(url, 'sk-two')).status).toBe(429)
    expect((await askWith(url, 'sk-three')).status).toBe(200)
  })

  test('for each key, where it says so', async () => {
    const { url } = await scene(whole, { keys, ...limited({ requests: '1/min', per: 'key' }) })
    expect((await askWith(url, 'sk-test')).status).toBe(200)
    expect((await askWith(url, 'sk-two')).status).toBe(200)
    expect((await askWith(url, 'sk-two')).status).toBe(429)
  })

  test('for all of a group together, where it says so', async () => {
    const { url } = await scene(whole, { keys, ...limited({ requests: '1/min', per: 'all' }) })
    expect((await askWith(url, 'sk-test')).status).toBe(200)
    expect((await askWith(url, 'sk-three')).status).toBe(429)
  })

  test('for all callers of a model together', async () => {
    const { url } = await scene(whole, { keys, model: { rate: { requests: '1/min' } } })
    expect((await askWith(url, 'sk-test')).status).toBe(200)
    expect((await askWith(url, 'sk-three')).status).toBe(429)
  })

  test('for a key of its own beside that of its group', async () => {
    const { url } = await scene(whole, {
      keys: { ...keys, 'sk-two': { account: 'one', rate: { requests: '1/min' } } },
      ...limited({ requests: '9/min' }),
    })
    const answer = await askWith(url, 'sk-two')
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('1')
    expect((await askWith(url, 'sk-two')).status).toBe(429)
    expect((await askWith(url, 'sk-test')).status).toBe(200)
  })

  test('all or nothing: what one limit refuses is not drawn from the others', async () => {
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

describe('a limit of concurrent calls', () => {
  test('refuses the call too many, and admits it when one has ended', async () => {
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
    const refused = await askChat(url, { stream: true })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    open[0]?.()
    await receipt()
    expect((await askChat(url, { stream: true })).status).toBe(200)
    for (const end of open) end()
    await Promise.all(streams.map(async (stream) => stream.text()))
  })

  test('never refuses a client that asks one thing after the other, however slow the store is', async () => {
    const { url } = await scene(whole, { ...limited({ concurrent: 1 }), storage: { limits: slow(memoryLimitStore()) } })
    for (let asked = 0; asked < 5; asked++) expect((await askChat(url)).status).toBe(200)
  })

  test('of a model, held over several keys, is kept by the store', async () => {
    const end = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const { url } = await scene(
      async (request, response) => {
        begun.resolve()
        await end.promise
        await whole(request, response)
      },
      { keys: { 'sk-test': {}, 'sk-two': {} }, model: { rate: { concurrent: 1 } } },
    )
    const first = askChat(url)
    await begun.promise
    expect((await askWith(url, 'sk-two')).status).toBe(429)
    end.resolve()
    expect((await first).status).toBe(200)
    expect((await askWith(url, 'sk-two')).status).toBe(200)
  })
})

describe('a limit of tokens', () => {
  test.each([
    ['4,096 tokens', {}, {}, 4_096],
    ['what the model can write if that is less', { maxOutputTokens: 500 }, {}, 500],
    ['what the options say', {}, { limits: { outputTokens: 700 } }, 700],
  ])('counts a response of unstated length as %s until it has ended', async (_, model, options, expected) => {
    const { url } = await scene(whole, { model, ...options, ...limited({ tokens: '100000/min' }) })
    const left = Number((await askChat(url)).headers.get('x-ratelimit-remaining-tokens'))
    expect(Math.abs(100_000 - expected - left)).toBeLessThan(100)
  })

  test('is drawn by estimate and corrected by what the vendor counts', async () => {
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

  test('is overdrawn by an answer longer than expected, and refuses until that is made good', async () => {
    const { url } = await scene(whole, {
      ...limited({ tokens: '25/min' }),
      limits: { outputTokens: 1 },
    })
    expect((await askChat(url)).status).toBe(200)
    const refused = await askChat(url)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('tokens') } })
  })

  test('that a request can never meet is told as such', async () => {
    const { url, vendor } = await scene(whole, limited({ tokens: '500/min' }))
    const refused = await askChat(url, { max_tokens: 600 })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('Shorten it') } })
    expect(vendor.requests).toHaveLength(0)
    // An answer of unstated length is expected to fit.
    expect((await askChat(url)).status).toBe(200)
  })

  test('is given back in full by a call that failed', async () => {
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
    take: () => Promise.reject(new Error('connection refused')),
    give: () => Promise.reject(new Error('connection refused')),
    renew: () => Promise.reject(new Error('connection refused')),
  }

  test('calls are refused with 503 and advice to try again', async () => {
    const { url, vendor } = await scene(whole, { ...limited({ requests: '2/min' }), storage: { limits: down } })
    const refused = await askChat(url)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(vendor.requests).toHaveLength(0)
  })

  test('each process keeps the limits by itself, where the options say so', async () => {
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

describe('a limit that makes no sense', () => {
  const provider: Provider = { name: 'x' }
  const create = (rate: object) => () => createGateway({ models: { m: provider }, ...limited(rate) })

  test('is refused by the name of the option', () => {
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

/** Answers a little later. */
function slow(store: LimitStore): LimitStore {
  return {
    take: (claim) => later(() => store.take(claim)),
    give: (returned) => later(() => later(() => store.give(returned))),
    renew: (holders, leaseMs) => later(() => store.renew(holders, leaseMs)),
  }
}
