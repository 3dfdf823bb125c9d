/** A price that lacks the rate for what a request asks for refuses it, so that the host is not left with the difference. */
import { describe, expect, test } from 'vitest'
import type { ModelOptions, PriceOptions } from '../../src/index.ts'
import { createGateway } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import { scene, whole } from './scene.ts'

const text = { input: '2.5', output: '10' }
const hello = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 }
const spoken = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }
const recording = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
const heard = { messages: [{ role: 'user', content: [recording] }], max_tokens: 100 }
const cached = [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }]

async function asked(
  price: PriceOptions,
  name: string,
  body: object,
  path = '/v1/chat/completions',
  model?: Partial<ModelOptions>,
) {
  const { url, vendor, ledger } = await scene(whole, {
    model: { price, providerModel: name, ...model },
    billing: { currency: 'EUR' },
  })
  await ledger.credit({ account: 'acme', amount: 100_000_000n, reference: 'start' })
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', ...body }),
  })
  const { error } = (await response.json()) as { error?: { param: string | null; message: string } }
  return { status: response.status, param: error?.param, message: error?.message, calls: vendor.requests.length }
}

describe('a request is refused by the name of the part that has no rate', () => {
  test.each<[string, string, object, string, PriceOptions]>([
    ['an answer in audio', 'gpt-4o-audio-preview', { ...hello, ...spoken }, 'modalities', { outputAudio: '80' }],
    ['a voice alone', 'gpt-4o-audio-preview', { ...hello, audio: spoken.audio }, 'audio', { outputAudio: '80' }],
    ['a recording', 'gpt-4o-audio-preview', heard, 'messages[0].content[0]', { inputAudio: '40' }],
    ['images', 'gpt-5-image', { ...hello, modalities: ['text', 'image'] }, 'modalities', { outputImage: '40' }],
    [
      'a cache of an hour',
      'claude-sonnet-4-5',
      { messages: [{ role: 'user', content: cached }], max_tokens: 9 },
      'messages',
      { cacheWrite1h: '5' },
    ],
  ])('%s', async (_, name, body, param, more) => {
    const refused = await asked(text, name, body)
    expect([refused.status, refused.param, refused.calls]).toEqual([400, param, 0])
    expect(refused.message).toContain('has no price for')
    expect(await asked({ ...text, ...more }, name, body)).toMatchObject({ status: 200, calls: 1 })
    // A price of the request alone covers everything.
    expect(await asked({ request: '1' }, name, body)).toMatchObject({ status: 200 })
  })

  test("the vendor's own tools", async () => {
    const body = { ...hello, web_search_options: {} }
    const allow = ['web_search_options']
    const refused = await asked(text, 'gpt-4o', body, undefined, { allow })
    expect([refused.status, refused.param, refused.calls]).toEqual([400, 'tools', 0])
    const fees = { ...text, tools: { web_search: '0.01' } }
    expect(await asked(fees, 'gpt-4o', body, undefined, { allow })).toMatchObject({ status: 200 })
  })
})

test('requests that ask for text alone are served at rates of text', async () => {
  expect(await asked(text, 'gpt-4o-audio-preview', hello)).toMatchObject({ status: 200 })
  expect(await asked(text, 'gpt-4o', { ...hello, modalities: ['text'] })).toMatchObject({ status: 200 })
})

describe('a model that does more than text in every request needs a rate for it', () => {
  const create = (price: PriceOptions, providerModel: string) =>
    createGateway({
      models: { m: { provider: openai({ apiKey: 'x' }), providerModel, price } },
      billing: { currency: 'EUR' },
    })

  test.each<[string, string, PriceOptions]>([
    ['gpt-4o-search-preview', 'request', { request: '0.025' }],
    ['sonar-pro', 'request', { tools: { web_search: '0.005' } }],
    ['google/gemini-2.5-flash-image', 'outputImage', { outputImage: '30' }],
  ])('%s', async (name, part, more) => {
    // The provider also makes vectors, for which the price suffices.
    expect(await asked(text, name, hello)).toMatchObject({ status: 503, calls: 0 })
    expect(() => create({ ...text, ...more }, name)).not.toThrow()
    expect(await asked({ ...text, ...more }, name, hello)).toMatchObject({ status: 200 })
  })

  test('and holds the fee of its searches', async () => {
    const { url, ledger } = await scene(whole, {
      model: { price: { ...text, request: '0.025' }, providerModel: 'gpt-4o-search-preview' },
      billing: { currency: 'EUR' },
    })
    await ledger.credit({ account: 'acme', amount: 20_000n, reference: 'start' })
    const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'm', ...hello }),
    })
    expect(response.status).toBe(429)
  })
})
