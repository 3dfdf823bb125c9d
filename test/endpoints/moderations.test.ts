/** `POST /v1/moderations`: all forms of input, unchanged bytes of the vendor, missing fields, limits and charges. */
import { defineProvider, demo, openai, type Provider } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { memoryLedger, type GatewayOptions } from '../../src/index.ts'
import { moderationCategories as categories, type ModerationList } from '../../src/wire/moderations.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { faults } from '../openapi.ts'
import { hasShared } from '../shared.ts'
import { clientOf, errorOf, post } from './ask.ts'

const latest = 'omni-moderation-latest'
const input = 'x'

const all = <Value>(value: Value) => Object.fromEntries(categories.map((name) => [name, value]))
const result = {
  flagged: false,
  categories: all(false),
  category_scores: all(0.25),
  category_applied_input_types: all(['text']),
}

/** In OpenAI's formatting, with a field that its document does not contain. */
const openaiAnswer = JSON.stringify({ id: 'modr-1', model: latest, results: [{ ...result, new: 1 }] }, undefined, 2)
const answering: VendorReply = (_, response) =>
  void response.setHeader('content-type', 'application/json').end(openaiAnswer)

async function over(
  reply: VendorReply,
  options: Parameters<typeof openai>[0] = {},
  more: Partial<GatewayOptions> = {},
) {
  const vendor = await vendorFor(reply)
  const provider = openai({ baseURL: vendor.baseURL, ...options })
  const hosted = await hostedWith({ models: { [latest]: provider }, retry: { maxAttempts: 1 }, ...more })
  return { ...hosted, vendor }
}

const made = (moderate: NonNullable<Provider['moderate']>) =>
  hostedWith({ models: { m: defineProvider({ name: 'made', moderate }) }, retry: { maxAttempts: 1 } })

const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(400_000)}` } } as const

describe('openai()', () => {
  test('receives the unchanged request, and its response is passed on byte for byte', async () => {
    const { url, vendor, receipt } = await over(answering)
    const { status, text } = await post(url, '/moderations', { model: latest, input: ['x'], future: { a: 1 } })
    expect([status, text]).toEqual([200, openaiAnswer])
    const [{ url: path, body } = {}] = vendor.requests
    expect(path).toBe('/v1/moderations')
    expect(body?.toString()).toBe(JSON.stringify({ model: latest, input: ['x'], future: { a: 1 } }))
    expect(await receipt()).toMatchObject({
      endpoint: 'moderations',
      outcome: 'completed',
      stream: false,
      usage: { completion_tokens: 0 },
      usageSource: 'estimated',
    })
  })

  test('receives its own name of the model, and the client gets the name it sent', async () => {
    const { url, vendor } = await over(answering, { modelNames: { [latest]: 'theirs' } })
    const { json } = await post(url, '/moderations', { input })
    expect(vendor.requests[0]?.json).toEqual({ input, model: 'theirs' })
    expect(json).toMatchObject({ id: 'modr-1', model: latest, results: [{ flagged: false, new: 1 }] })
  })

  test.each<[number, string, number, string]>([
    [429, '{"error":{"message":"secret","code":"rate_limit_exceeded"}}', 429, 'rate_limit_exceeded'],
    [500, 'secret', 503, 'service_unavailable'],
    [200, 'secret', 503, 'service_unavailable'],
    [200, '{"error":{"message":"secret"}}', 503, 'service_unavailable'],
    [200, '{"results":"secret"}', 503, 'service_unavailable'],
    [200, '{"results":[null]}', 503, 'service_unavailable'],
    [200, JSON.stringify({ results: [] }), 503, 'service_unavailable'],
    [200, JSON.stringify({ results: [result, result] }), 503, 'service_unavailable'],
  ])('an invalid response (%i %s) becomes an error of the gateway', async (sent, body, status, code) => {
    const { url } = await over((_, response) => void response.writeHead(sent).end(body))
    const answer = await post(url, '/moderations', { input })
    expect([answer.status, errorOf(answer).code]).toEqual([status, code])
    expect(answer.text).not.toContain('secret')
  })

  test('token counts of a vendor are used', async () => {
    const usage = { prompt_tokens: 7, total_tokens: 7 }
    const { url, receipt } = await over(
      (_, response) => void response.end(JSON.stringify({ results: [result], usage })),
    )
    await post(url, '/moderations', { input })
    expect(await receipt()).toMatchObject({ usage: { total_tokens: 7 }, usageSource: 'reported' })
  })
})

describe('the official client', () => {
  const models = { [latest]: demo(), guard: demo() }

  test('gets a result for each text of a list, by omni-moderation-latest if it names no model', async () => {
    const { url } = await hostedWith({ models, defaultModel: 'guard' })
    const answer = await clientOf(url).moderations.create({ input: ['good morning', 'I will kill you'] })
    expect(answer.id).toMatch(/^modr-[0-9a-f]{32}$/)
    expect(answer.model).toBe(latest)
    expect(answer.results.map(({ flagged }) => flagged)).toEqual([false, true])
    const [good, bad] = answer.results
    expect(Object.keys(good?.categories ?? {})).toEqual([...categories])
    expect(bad?.categories).toMatchObject({ violence: true, hate: false })
    expect(bad?.category_scores.violence).toBeGreaterThan(0.5)
    if (hasShared) expect(faults('CreateModerationResponse', answer)).toEqual([])
  })

  test('gets one result for a text, and one for all parts, which reports that images were not checked', async () => {
    const client = clientOf((await hostedWith({ models })).url)
    const one = await client.moderations.create({ model: 'guard', input: 'you stupid idiot' })
    expect(one).toMatchObject({ model: 'guard', results: [{ flagged: true, categories: { harassment: true } }] })
    const parts = [{ type: 'text', text: 'a murder' } as const, picture]
    const both = await client.moderations.create({ model: 'guard', input: parts })
    expect(both.results).toHaveLength(1)
    expect(both.results[0]).toMatchObject({ flagged: true, category_applied_input_types: { violence: ['text'] } })
    const seen = await client.moderations.create({ model: 'guard', input: [picture] })
    expect(seen.results[0]).toMatchObject({ flagged: false, category_applied_input_types: all([]) })
  })

  test('the same text has the same scores, and a subcategory never a higher one than its category', async () => {
    const client = clientOf((await hostedWith({ models })).url)
    const text = 'I hate you, die; a naked child and blood; how to steal a gun'
    const [first, second] = (await client.moderations.create({ input: [text, text] })).results
    expect(first).toEqual(second)
    const scores: Record<string, number> = { ...first?.category_scores }
    expect(Object.keys(scores)).toHaveLength(13)
    for (const [name, score] of Object.entries(scores)) {
      const wider = scores[name.split('/')[0] ?? '']
      expect(score, name).toBeLessThanOrEqual(wider ?? 0)
    }
  })
})

test('missing fields of a provider are filled in', async () => {
  const { url } = await made(() => ({ results: [{ categories: { violence: true, illicit: null } }] }))
  const { json } = await post(url, '/moderations', { model: 'm', input })
  const { results, ...head } = json as ModerationList
  expect(head).toMatchObject({ id: expect.stringMatching(/^modr-/), model: 'm' })
  expect(results).toEqual([
    {
      flagged: true,
      categories: { ...all(false), violence: true, illicit: null },
      category_scores: all(0),
      category_applied_input_types: all([]),
    },
  ])
})

test('a model without moderation is rejected with the parameter "model"', async () => {
  const { url } = await hostedWith({ models: { m: defineProvider({ name: 'nothing' }) } })
  const answer = await post(url, '/moderations', { model: 'm', input })
  expect([answer.status, errorOf(answer).param]).toEqual([400, 'model'])
})

test.each<[string, object]>([
  ['input', {}],
  ['input', { input: null }],
  ['input', { input: 7 }],
  ['input', { input: [] }],
  ['input[0]', { input: [7] }],
  ['input[1]', { input: ['a', { type: 'text', text: 'b' }] }],
  ['input[1]', { input: [{ type: 'text', text: 'b' }, 'a'] }],
  ['input[0]', { input: [{ type: 'text' }] }],
  ['input[0]', { input: [{ type: 'image_url', image_url: 'https://a' }] }],
  ['input[0]', { input: [{ type: 'input_audio', text: 'b' }] }],
  ['model', { model: 7, input }],
])('a request with an invalid %s is rejected before a provider is called: %j', async (param, body) => {
  const { url, receipts } = await hostedWith({ models: { '*': demo() } })
  const answer = await post(url, '/moderations', { model: 'm', ...body })
  expect([answer.status, errorOf(answer).param]).toEqual([400, param])
  expect(receipts).toEqual([])
})

test('"stream" is ignored: the response is not streamed', async () => {
  const { url, receipt } = await made(() => ({ results: [result] }))
  const { json } = await post(url, '/moderations', { model: 'm', input, stream: true })
  expect(json).toMatchObject({ results: [{ flagged: false }] })
  expect(await receipt()).toMatchObject({ stream: false })
})

describe('the caller', () => {
  const models = { guard: { provider: demo(), price: { request: '0.5' } }, free: { provider: demo(), price: {} } }
  const options: GatewayOptions = {
    models,
    keys: { 'sk-test': { account: 'acme' } },
    groups: { default: { models: ['guard', 'free'], rate: { requests: '4/day', tokens: '3000/day' } } },
    storage: { ledger: memoryLedger() },
    billing: { currency: 'CNY' },
  }

  test('pays the price per request, if the model has one, and sees only models of its group', async () => {
    const { url, gateway, receipt } = await hostedWith(options)
    const ask = (model: string) => post(url, '/moderations', { model, input })
    const free = await ask('free')
    expect([free.status, (await receipt()).charge?.cost]).toEqual([200, '0'])
    expect(errorOf(await ask('guard')).code).toBe('insufficient_quota')
    await gateway.admin.accounts.topUp({ account: 'acme', amount: '1', reference: 'r' })
    expect((await ask('guard')).status).toBe(200)
    expect((await receipt()).charge).toMatchObject({ cost: '0.5', overage: '0' })
    expect(errorOf(await ask(latest)).code).toBe('model_not_found')
    expect((await ask('free')).status).toBe(429)
  })

  test('is limited by texts and images, and an image counts the same whatever its size', async () => {
    const { url, receipt } = await hostedWith(options)
    const pictures = (count: number) => {
      const parts = Array.from({ length: count }, () => picture)
      return post(url, '/moderations', { model: 'free', input: parts })
    }
    expect((await pictures(1)).status).toBe(200)
    const { usage } = await receipt()
    expect(usage.prompt_tokens).toBeGreaterThan(1_000)
    expect(usage.prompt_tokens).toBeLessThan(1_100)
    expect((await pictures(3)).status).toBe(429)
  })
})
