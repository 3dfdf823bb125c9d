/** Keys of vendors: several, from functions, and refused ones. */
import { expect, describe, test, vi, afterEach } from 'vitest'
import { openai, type KeyContext, type Provider } from 'modelhatch/providers'
import { askChat, hostedWith, vendorFor } from '../../hosted.ts'

const noModel = { message: 'Project p does not have access to model m', code: 'model_not_found' }
const bearer = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
const json = { 'content-type': 'application/json' }
const answer = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'pong' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})

/** A vendor that answers with a status for each key: 200 unless `refusals` has another. */
async function vendorWith(
  refusals: Record<string, number | (() => number)>,
  headers: Record<string, string> = {},
  error: object = { message: 'no' },
) {
  const keys: string[] = []
  const vendor = await vendorFor((request, response) => {
    const key = String(request.headers.authorization).replace('Bearer ', '')
    keys.push(key)
    const refusal = refusals[key] ?? 200
    const status = typeof refusal === 'function' ? refusal() : refusal
    response.writeHead(status, { ...json, ...(status === 200 ? {} : headers) })
    response.end(status === 200 ? answer : JSON.stringify({ error }))
  })
  return { keys, baseURL: vendor.baseURL }
}

const hosted = (provider: Provider) =>
  hostedWith({ models: { m: provider, other: provider }, retry: { maxAttempts: 1 } })

afterEach(() => void vi.useRealTimers())

describe('several keys', () => {
  test('of which two are dead: no request fails, and each dead one is asked once', async () => {
    const { keys, baseURL } = await vendorWith({ a: 401, b: 402 })
    const { url } = await hosted(openai({ baseURL, apiKey: ['a', 'b', 'c', 'd'] }))
    for (let call = 0; call < 20; call++) {
      const response = await askChat(url, { messages: [{ role: 'user', content: `Question ${call}` }] })
      expect(response.status).toBe(200)
    }
    expect(keys.filter((key) => key === 'a')).toHaveLength(1)
    expect(keys.filter((key) => key === 'b')).toHaveLength(1)
    expect(new Set(keys)).toEqual(new Set(['a', 'b', 'c', 'd']))
  })

  test('serve a conversation with the same one, and others with others', async () => {
    const { keys, baseURL } = await vendorWith({})
    const { url } = await hosted(openai({ baseURL, apiKey: ['a', 'b', 'c', 'd'] }))
    for (let turn = 0; turn < 6; turn++) await askChat(url, { prompt_cache_key: 'one' })
    expect(new Set(keys).size).toBe(1)
    for (let session = 0; session < 24; session++) await askChat(url, { prompt_cache_key: `session ${session}` })
    expect(new Set(keys).size).toBe(4)
  })

  test('that are all spent: 503 with the time of the earliest', async () => {
    const { keys, baseURL } = await vendorWith({ a: 429, b: 429 }, { 'retry-after': '120' })
    const { url } = await hosted(openai({ baseURL, apiKey: ['a', 'b'] }))
    expect((await askChat(url)).status).toBe(429)
    const response = await askChat(url)
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_credentials_exhausted' } })
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(30)
    expect(keys).toHaveLength(2)
  })

  test('are each left alone as long as the vendor says, and then tried again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let status = 429
    const { keys, baseURL } = await vendorWith({ a: () => status }, { 'retry-after': '60' })
    const { url } = await hosted(openai({ baseURL, apiKey: ['a', 'b'] }))
    const ask = async () => expect((await askChat(url, { prompt_cache_key: key })).status).toBe(200)
    // One that belongs to the limited key.
    let key = ''
    for (let name = 0; keys.at(-2) !== 'a'; name++) {
      key = `session ${name}`
      await ask()
    }
    keys.length = 0
    await ask()
    expect(keys).toEqual(['b'])
    status = 200
    vi.setSystemTime(Date.now() + 61_000)
    await ask()
    expect(keys).toEqual(['b', 'a'])
  })

  test('refused for one model serve the others', async () => {
    let refused = true
    const { keys, baseURL } = await vendorWith({ a: () => (refused ? 403 : 200), b: 200 }, {}, noModel)
    const { url } = await hosted(openai({ baseURL, apiKey: ['a', 'b'] }))
    for (let call = 0; call < 4; call++) expect((await askChat(url, { prompt_cache_key: `${call}` })).status).toBe(200)
    expect(keys.filter((key) => key === 'a')).toHaveLength(1)
    refused = false
    for (let call = 0; call < 8; call++) await askChat(url, { model: 'other', prompt_cache_key: `${call}` })
    expect(keys.filter((key) => key === 'a').length).toBeGreaterThan(1)
  })
})

describe('a refused key of two', () => {
  const ask = async (error: object, status: number, later = 0, headers: Record<string, string> = {}) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { keys, baseURL } = await vendorWith({ a: status }, headers, error)
    const { url } = await hosted(openai({ baseURL, apiKey: ['a', 'b'] }))
    const statuses: number[] = []
    const some = async (model: string) => {
      for (let call = 0; call < 8; call++)
        statuses.push((await askChat(url, { model, prompt_cache_key: `${call}` })).status)
    }
    await some('m')
    await some('other')
    const soon = keys.filter((key) => key === 'a').length
    vi.setSystemTime(Date.now() + later)
    await some('m')
    return { statuses: new Set(statuses), soon, later: keys.filter((key) => key === 'a').length - soon }
  }

  test.each([
    ['without access', 401, { message: 'Incorrect API key' }],
    ['without permission', 403, { message: 'The country is not served', type: 'forbidden' }],
    ['without credit', 402, { message: 'Insufficient Balance' }],
    ['whose quota is used up', 429, { code: 'insufficient_quota', message: 'You exceeded your current quota' }],
    ['without credit at Anthropic', 400, { type: 'invalid_request_error', message: 'Your credit balance is too low' }],
    ['at its limit of a day', 429, { details: [{ violations: [{ quotaId: 'RequestsPerDayPerProjectPerModel' }] }] }],
  ])('%s is left alone for ten minutes, for all models', async (_, status, error) => {
    expect(await ask(error, status, 500_000)).toEqual({ statuses: new Set([200]), soon: 1, later: 0 })
    expect(await ask(error, status, 601_000)).toEqual({ statuses: new Set([200]), soon: 1, later: 1 })
  })

  test('at its limit of the moment is tried again after seconds', async () => {
    expect(await ask({ code: 'rate_limit_exceeded' }, 429, 11_000)).toMatchObject({ soon: 1, later: 1 })
    expect(await ask({}, 429, 11_000, { 'retry-after': '60' })).toMatchObject({ soon: 1, later: 0 })
  })

  test('whose content a moderator rejects serves what follows', async () => {
    const { soon, later } = await ask({ message: 'flagged', metadata: { reasons: ['x'], flagged_input: 'y' } }, 403)
    expect(soon + later).toBeGreaterThan(6)
  })

  test('and paused stays so when a request from before is answered', async () => {
    const released = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    let asked = 0
    const vendor = await vendorFor(async ({ headers }, response) => {
      if (headers.authorization === 'Bearer a' && asked++ === 0) {
        begun.resolve()
        await released.promise
      } else if (headers.authorization === 'Bearer a') return void response.writeHead(429, json).end('{}')
      response.writeHead(200, json).end(answer)
    })
    const { url } = await hosted(openai({ baseURL: vendor.baseURL, apiKey: ['a', 'b'] }))
    // Without a conversation, keys are taken in turn.
    const plain = () => askChat(url, {}, { headers: { ...bearer, 'x-modelhatch-affinity': 'none' } })
    const early = plain()
    await begun.promise
    for (let call = 0; call < 3; call++) expect((await plain()).status).toBe(200)
    expect(asked).toBe(2)
    released.resolve()
    expect((await early).status).toBe(200)
    for (let call = 0; call < 4; call++) expect((await plain()).status).toBe(200)
    expect(asked).toBe(2)
  })
})

describe('a key of two after its pause', () => {
  test('is tried again seconds after a request with it that was never answered', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const statuses = [429, 0, 200]
    const keys: unknown[] = []
    const vendor = await vendorFor(({ headers }, response) => {
      const { authorization: key } = headers
      keys.push(key)
      const status = key === 'Bearer a' ? statuses.shift() : 200
      if (status === 0) response.destroy()
      else response.writeHead(status ?? 200, { ...json, 'retry-after': '1' }).end(status === 429 ? '{}' : answer)
    })
    const { url } = await hosted(openai({ baseURL: vendor.baseURL, apiKey: ['a', 'b'] }))
    const some = async () => {
      for (let call = 0; call < 4; call++) await askChat(url, { prompt_cache_key: `${call}` })
      return keys.splice(0).filter((key) => key === 'Bearer a').length
    }
    expect(await some()).toBe(1)
    vi.setSystemTime(Date.now() + 1_001)
    // One request tries it, and the others leave it alone.
    expect(await some()).toBe(1)
    vi.setSystemTime(Date.now() + 10_001)
    expect(await some()).toBeGreaterThan(1)
  })

  test('is not asked forever by one request, however short the pauses are', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let asked = 0
    // Each answer takes longer than the pause of the key that was refused before.
    const refusal = () => {
      vi.setSystemTime(Date.now() + 10)
      return ++asked < 50 ? 429 : 200
    }
    const { baseURL } = await vendorWith({ a: refusal, b: refusal }, { 'retry-after-ms': '1' })
    const { url } = await hosted(openai({ baseURL, apiKey: ['a', 'b'] }))
    expect((await askChat(url)).status).toBe(429)
    expect(asked).toBe(5)
  })
})

describe('a function for a header', () => {
  test('is sent beside the key, and gets model and account', async () => {
    const seen: [authorization: unknown, team: unknown, trace: unknown][] = []
    const vendor = await vendorFor(({ headers }, response) => {
      seen.push([headers.authorization, headers['x-team'], headers['x-trace']])
      response.writeHead(200, json).end(answer)
    })
    let traces = 0
    const headers = {
      'X-Team': ({ model, account }: KeyContext) => `${model} of ${account}`,
      'x-trace': () => `trace ${++traces}`,
      'x-fixed': 'fixed',
    }
    for (const apiKey of ['a', ['a'], () => 'a']) {
      const { url } = await hostedWith({
        keys: { 'sk-test': { account: 'acme' } },
        models: { m: openai({ baseURL: vendor.baseURL, apiKey, headers }) },
      })
      expect((await askChat(url)).status).toBe(200)
    }
    expect(seen).toEqual([1, 2, 3].map((trace) => ['Bearer a', 'm of acme', `trace ${trace}`]))
  })

  test('that returns a token with its end is asked again after a 401, once for a request', async () => {
    const seen: unknown[] = []
    const vendor = await vendorFor(({ headers }, response) => {
      seen.push(headers['x-token'])
      const status = headers['x-token'] === 'token-2' ? 200 : 401
      response.writeHead(status, json).end(status === 200 ? answer : '{}')
    })
    let tokens = 0
    const token = () => ({ token: `token-${++tokens}`, expiresAt: Date.now() + 3_600_000 })
    const { url } = await hosted(openai({ baseURL: vendor.baseURL, headers: { 'x-token': token } }))
    expect((await askChat(url)).status).toBe(200)
    expect((await askChat(url)).status).toBe(200)
    expect(seen).toEqual(['token-1', 'token-2', 'token-2'])
  })

  test('that fails does not reach the vendor, and its message does not reach the client', async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(200, json).end(answer))
    const failing = () => Promise.reject(new Error('secret-1'))
    const { url } = await hosted(openai({ baseURL: vendor.baseURL, headers: { 'x-token': failing } }))
    const response = await askChat(url)
    expect(response.status).toBe(503)
    expect(await response.text()).not.toContain('secret-1')
    expect(vendor.requests).toHaveLength(0)
  })
})

describe('a function', () => {
  test('is asked once by concurrent requests, and its token kept until it ends', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let asked = 0
    const { keys, baseURL } = await vendorWith({})
    const apiKey = async () => ({ token: `t${++asked}`, expiresAt: Date.now() + 3_600_000 })
    const { url } = await hosted(openai({ baseURL, apiKey }))
    await Promise.all(Array.from({ length: 50 }, () => askChat(url)))
    expect(asked).toBe(1)
    vi.setSystemTime(Date.now() + 3_400_000)
    // In the background, while the kept one still serves.
    expect((await askChat(url)).status).toBe(200)
    await vi.waitFor(() => expect(asked).toBe(2))
    await askChat(url)
    expect(keys.at(-1)).toBe('t2')
  })

  test('that fails in the background does not fail a request while the token lasts', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let asked = 0
    const { baseURL } = await vendorWith({})
    const apiKey = async () => {
      if (++asked > 1) throw new Error('the token endpoint is down')
      return { token: 't', expiresAt: Date.now() + 3_600_000 }
    }
    const { url } = await hosted(openai({ baseURL, apiKey }))
    await askChat(url)
    vi.setSystemTime(Date.now() + 3_500_000)
    for (let call = 0; call < 3; call++) expect((await askChat(url)).status).toBe(200)
    vi.setSystemTime(Date.now() + 100_000)
    const response = await askChat(url)
    expect(response.status).toBe(503)
    expect(await response.text()).not.toContain('token endpoint')
  })

  test('renews a token once for 500 concurrent requests, and once a second while it fails', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let asked = 0
    let isDown = false
    const { keys, baseURL } = await vendorWith({})
    const apiKey = async () => {
      asked++
      if (isDown) throw new Error('the token endpoint is down')
      return { token: `t${asked}`, expiresAt: Date.now() + 3_600_000 }
    }
    const { url } = await hosted(openai({ baseURL, apiKey }))
    await askChat(url)
    const burst = async (requests: number) => {
      const statuses = await Promise.all(
        Array.from({ length: requests }, async () => {
          const response = await askChat(url)
          await response.arrayBuffer()
          return response.status
        }),
      )
      expect(new Set(statuses)).toEqual(new Set([200]))
    }
    vi.setSystemTime(Date.now() + 3_310_000)
    isDown = true
    asked = 0
    for (let second = 0; second < 10; second++) {
      await burst(10)
      vi.setSystemTime(Date.now() + 1_001)
    }
    expect(asked).toBe(10)
    isDown = false
    asked = 0
    await burst(500)
    expect(asked).toBe(1)
    await burst(1)
    expect(keys.at(-1)).toBe('t1')
  }, 60_000)

  test('may return headers with their end', async () => {
    const { keys, baseURL } = await vendorWith({})
    const apiKey = () => ({ headers: { Authorization: 'Bearer whole' }, expiresAt: Date.now() + 60_000 })
    const { url } = await hosted(openai({ baseURL, apiKey }))
    expect((await askChat(url)).status).toBe(200)
    expect(keys).toEqual(['whole'])
  })

  test('is asked again after a 401, once for a request', async () => {
    let asked = 0
    const { keys, baseURL } = await vendorWith({ t1: 401, t3: 401, t4: 401 })
    const { url } = await hosted(
      openai({ baseURL, apiKey: () => ({ token: `t${++asked}`, expiresAt: Date.now() + 3_600_000 }) }),
    )
    expect((await askChat(url)).status).toBe(200)
    expect(keys).toEqual(['t1', 't2'])
    asked = 2
    const again = openai({ baseURL, apiKey: () => `t${++asked}` })
    const { url: other } = await hosted(again)
    expect((await askChat(other)).status).toBe(503)
    expect(keys.slice(2)).toEqual(['t3', 't4'])
  })

  test('is asked again at most once a second, however many of its tokens the vendor refuses', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let asked = 0
    const { keys, baseURL } = await vendorWith(Object.fromEntries([1, 2, 3, 4].map((nth) => [`t${nth}`, 401])))
    const token = () => ({ token: `t${++asked}`, expiresAt: Date.now() + 3_600_000 })
    const { url } = await hosted(openai({ baseURL, apiKey: token }))
    for (let call = 0; call < 10; call++) expect((await askChat(url)).status).toBe(503)
    expect(asked).toBe(2)
    expect(keys).toHaveLength(11)
    vi.setSystemTime(Date.now() + 1_001)
    for (let call = 0; call < 10; call++) await askChat(url)
    expect(asked).toBe(3)
  })

  test('with a parameter learns account and model, and never shares a token between two of them', async () => {
    const { keys: used, baseURL } = await vendorWith({})
    const contexts: KeyContext[] = []
    let release: () => void = () => undefined
    const started = new Promise<void>((resolve) => (release = resolve))
    const apiKey = async (context: KeyContext) => {
      contexts.push(context)
      if (contexts.length === 4) release()
      // All of the four are under way before the first one has its token.
      await started
      return { token: `${context.account}-${context.model}`, expiresAt: Date.now() + 3_600_000 }
    }
    const provider = openai({ baseURL, apiKey })
    const accounts = ['ada', 'bob']
    const { url } = await hostedWith({
      keys: Object.fromEntries(accounts.map((account) => [`sk-${account}`, { account }])),
      models: { m: provider, other: provider },
    })
    const ask = async (account: string, model: string) => {
      const headers = { ...json, authorization: `Bearer sk-${account}` }
      expect((await askChat(url, { model, prompt_cache_key: 'same' }, { headers })).status).toBe(200)
    }
    const pairs = accounts.flatMap((account) => ['m', 'other'].map((model) => [account, model] as const))
    await Promise.all([...pairs, ...pairs].map((pair) => ask(...pair)))
    await Promise.all(pairs.map((pair) => ask(...pair)))
    const expected = ['ada-m', 'ada-other', 'bob-m', 'bob-other']
    expect(used.toSorted()).toEqual(expected.flatMap((token) => [token, token, token]))
    expect(contexts).toHaveLength(4)
    for (const context of contexts) {
      expect(Object.keys(context).sort()).toEqual(['account', 'model', 'signal'])
      expect(context.signal.aborted).toBe(false)
    }
  })

  test('whose parameter has a default or is a rest gets no context, so that its token can serve all', async () => {
    const { keys: used, baseURL } = await vendorWith({})
    const seen: unknown[] = []
    const expiresAt = Date.now() + 3_600_000
    const sources = [
      (...given: unknown[]) => ({ token: `rest-${seen.push(given.length)}`, expiresAt }),
      (context: Partial<KeyContext> = {}) => ({ token: `default-${seen.push(context.account)}`, expiresAt }),
    ]
    const models = Object.fromEntries(sources.map((apiKey, at) => [`m${at}`, openai({ baseURL, apiKey })]))
    const { url } = await hostedWith({ keys: { 'sk-ada': { account: 'ada' }, 'sk-bob': { account: 'bob' } }, models })
    for (const model of Object.keys(models))
      for (const account of ['ada', 'bob'])
        await askChat(url, { model }, { headers: { ...json, authorization: `Bearer sk-${account}` } })
    expect(seen).toEqual([0, undefined])
    expect(used).toEqual(['rest-1', 'rest-1', 'default-2', 'default-2'])
  })

  test('with a parameter is asked again after a 401, for this account and model only', async () => {
    let asked = 0
    const { keys: used, baseURL } = await vendorWith({ 'bob-2': 401 })
    const apiKey = ({ account }: KeyContext) => ({ token: `${account}-${++asked}`, expiresAt: Date.now() + 3_600_000 })
    const { url } = await hostedWith({
      keys: { 'sk-ada': { account: 'ada' }, 'sk-bob': { account: 'bob' } },
      models: { m: openai({ baseURL, apiKey }) },
    })
    for (const account of ['ada', 'bob', 'ada', 'bob']) {
      const headers = { ...json, authorization: `Bearer sk-${account}` }
      expect((await askChat(url, {}, { headers })).status).toBe(200)
    }
    expect(used).toEqual(['ada-1', 'bob-2', 'bob-3', 'ada-1', 'bob-3'])
  })

  test('of signed requests sees what is sent', async () => {
    const { keys, baseURL } = await vendorWith({})
    const seen: string[] = []
    const credentials = {
      headers({
        method,
        url,
        body,
        model,
      }: {
        method: string
        url: string
        body: Uint8Array | undefined
        model: string | undefined
      }) {
        seen.push(`${method} ${new URL(url).pathname} ${model} ${body?.length}`)
        return { authorization: 'Bearer signed' }
      },
    }
    const { url } = await hosted(openai({ baseURL, credentials }))
    await askChat(url)
    expect(keys).toEqual(['signed'])
    expect(seen[0]).toMatch(/^POST \/v1\/chat\/completions m \d+$/)
  })
})

test.each([[[]], [['a', '']], [[undefined as unknown as string]]])('the keys %j are refused', (apiKey) => {
  expect(() => openai({ apiKey })).toThrow('apiKey')
})
