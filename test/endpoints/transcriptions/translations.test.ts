/** Translations of speech over the wires of vendors, by OpenAI's client: what they receive, answer, and cost. */
import { defineProvider, openai, type Provider } from 'modelhatch/providers'
import OpenAI, { toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import { memoryLedger } from '../../../src/money/ledger/memory.ts'
import type { PriceOptions } from '../../../src/money/prices/price-options.ts'
import { mask, type GatewayOptions } from '../../../src/index.ts'
import { contentOf, readBody } from '../../http/form.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { wav } from '../../sound.ts'
import { errorOf, formOf, send, type Entry } from '../forms.ts'

const text = 'Good morning.'
const segments = [{ id: 0, start: 0, end: 2, text }]

/** Answers, as the documentation of each vendor shows them, for nine seconds of audio. */
const vendors: Readonly<
  Record<string, readonly [make: (baseURL: string) => Provider, answer: object, price: PriceOptions]>
> = {
  // whisper-1: $0.006 a minute.
  openai: [
    (baseURL) => openai({ baseURL, apiKey: 'k' }),
    { text, usage: { type: 'duration', seconds: 9 } },
    { hour: '0.36' },
  ],
  // whisper-large-v3: $0.111 an hour, and at least ten seconds.
  groq: [
    (baseURL) => openai({ preset: 'groq', baseURL, apiKey: 'k' }),
    { text, x_groq: { id: 'req_1' } },
    { hour: '0.111', minimumSeconds: 10 },
  ],
  // By the token, on a server of the host.
  vllm: [
    (baseURL) => openai({ preset: 'vllm', baseURL }),
    { text, usage: { type: 'tokens', input_tokens: 90, output_tokens: 4, total_tokens: 94 } },
    { input: '1', inputAudio: '1', output: '2' },
  ],
}

async function world(
  make: (baseURL: string) => Provider,
  answer: object,
  options: Partial<GatewayOptions> = {},
  price = {},
) {
  const vendor = await vendorFor((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  const ledger = memoryLedger()
  await ledger.credit({ account: 'a', amount: 1_000_000_000n, reference: 'order' })
  const hosted = await hostedWith({
    models: { m: { provider: make(vendor.baseURL), providerModel: 'whisper-9', price } },
    keys: { 'sk-test': { account: 'a' } },
    billing: { currency: 'USD' },
    storage: { ledger },
    ...options,
  })
  return { ...hosted, vendor, client: new OpenAI({ baseURL: `${hosted.url}/v1`, apiKey: 'sk-test', maxRetries: 0 }) }
}

const sound = () => toFile(wav({ seconds: 9 }), 'a.wav')
const model: Entry = ['model', 'm']
const file: Entry = ['file', new Blob([wav({ seconds: 1 })]), 'a.wav']

describe.each(Object.entries(vendors))('%s', (name, [make, answer, price]) => {
  test('gets the form, and its answer is passed on', async () => {
    const { client, vendor, receipt } = await world(make, answer, {}, price)
    const asked = { model: 'm', file: await sound(), prompt: 'Greetings', temperature: 0.5 }
    expect(await client.audio.translations.create(asked)).toMatchObject({ text })
    const { url, headers, body } = vendor.requests[0] ?? {}
    expect(url).toBe('/v1/audio/translations')
    const sent = await contentOf(await readBody(body as Buffer, headers?.['content-type'] as string))
    const fields = sent
      .filter(({ name: each }) => each !== 'file')
      .map(({ name: each, value }) => [each, String(value)])
    expect(Object.fromEntries(fields)).toEqual({ model: 'whisper-9', prompt: 'Greetings', temperature: '0.5' })
    expect(sent.find(({ name: each }) => each === 'file')?.value).toEqual(wav({ seconds: 9 }))
    expect(await receipt()).toMatchObject({ endpoint: 'audio.translations', units: { seconds: 9 } })
  })

  test('is charged by its published rule, ten times the same', async () => {
    const { client, receipts } = await world(make, answer, {}, price)
    for (let nth = 0; nth < 10; nth++) await client.audio.translations.create({ model: 'm', file: await sound() })
    await expect.poll(() => receipts.length).toBe(10)
    // 9 × 0.006 / 60; 10 × 0.111 / 3,600; 90 × 1 and 4 × 2 for a million.
    const expected = { openai: '0.0009', groq: '0.000309', vllm: '0.000098' }[name]
    expect(receipts.map(({ charge }) => charge?.cost)).toEqual(Array.from({ length: 10 }, () => expected))
  })
})

test('verbose_json is written for a vendor that knows the times, and is a translation into English', async () => {
  const { client } = await world(vendors['vllm']?.[0] as never, { text, language: 'de', segments, duration: 2 })
  const asked = { model: 'm', file: await sound(), response_format: 'verbose_json' } as const
  const plain = defineProvider({
    name: 'own',
    translateSpeech: () => ({ text, segments, duration: 2, language: 'de' }),
  })
  const { client: own } = await world(() => plain, {})
  expect(await client.audio.translations.create(asked)).toMatchObject({ text, segments })
  expect(await own.audio.translations.create(asked)).toMatchObject({
    task: 'translate',
    language: 'english',
    duration: 2,
    text,
    segments,
  })
})

test.each<[string, Provider]>([
  ['Mistral', openai({ preset: 'mistral', apiKey: 'k' })],
  ['OpenRouter', openai({ preset: 'openrouter', apiKey: 'k' })],
  ['a model that only transcribes', defineProvider({ name: 'listener', transcribe: () => ({ text }) })],
])('%s is refused by name', async (_, provider) => {
  const { url, receipts } = await hostedWith({ models: { m: provider } })
  expect(await errorOf(await send(url, '/audio/translations', formOf(model, file)))).toMatchObject({
    status: 400,
    code: 'unsupported_value',
    param: 'model',
    message: expect.stringContaining('cannot translate speech') as string,
  })
  expect(receipts).toMatchObject([{ outcome: 'failed' }])
})

test.each<[string, Entry[], string]>([
  ['no model', [file], 'model'],
  ['no file', [model], 'file'],
  ['two files', [model, file, file], 'file'],
  ['the format of speakers', [model, file, ['response_format', 'diarized_json']], 'response_format'],
  ['a temperature above 1', [model, file, ['temperature', '2']], 'temperature'],
])('a form with %s is refused', async (_, entries, param) => {
  const { url } = await hostedWith({
    models: { m: defineProvider({ name: 'own', translateSpeech: () => ({ text }) }) },
  })
  expect(await errorOf(await send(url, '/audio/translations', formOf(...entries)))).toMatchObject({
    status: 400,
    param,
  })
})

test('is never streamed, and is masked where it is inspected', async () => {
  const mail = 'ada@example.com'
  const provider = defineProvider({ name: 'own', translateSpeech: () => ({ text: `Write to ${mail}.` }) })
  const { url } = await hostedWith({ models: { m: provider }, inspect: [mask({ answers: true })] })
  const response = await send(url, '/audio/translations', formOf(model, file, ['stream', 'true']))
  expect(response.headers.get('content-type')).toContain('application/json')
  expect(await response.text()).not.toContain(mail)
})

test('a price without a part for recordings, and an empty balance, reach no vendor', async () => {
  const [make, answer] = vendors['openai'] as (typeof vendors)[string]
  const unpriced = await world(make, answer, {}, { input: '1', output: '1' })
  expect((await send(unpriced.url, '/audio/translations', formOf(model, file))).status).toBe(503)
  const poor = await world(make, answer, { storage: { ledger: memoryLedger() } }, { hour: '3600000' })
  expect((await send(poor.url, '/audio/translations', formOf(model, file))).status).toBe(429)
  expect([unpriced.vendor.requests, poor.vendor.requests]).toEqual([[], []])
})
