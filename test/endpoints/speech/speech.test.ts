/** `POST /v1/audio/speech`: bytes and events over each vendor's wire, charges, refusals, and clients that leave. */
import { once } from 'node:events'
import { createOpenAI } from '@ai-sdk/openai'
import { generateSpeech } from 'ai'
import { describe, expect, test } from 'vitest'
import { fromAiSdk } from '../../../adapters/bridges/ai-sdk/ai-sdk.ts'
import { memoryLedger, type GatewayOptions, type PriceOptions } from '../../../src/index.ts'
import { defineProvider, demo, elevenlabs, gemini, openai, type Provider } from '../../../src/providers/index.ts'
import type { VendorReply } from '../../../src/testing/vendor.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { thorough } from '../../long.ts'
import { faults } from '../../openapi.ts'
import { hasShared } from '../../shared.ts'
import { clientOf, errorOf, framesOf, post } from '../ask.ts'
import { minimax, samples, vendors, wavFile } from './vendors.ts'

const body = { model: 'm', input: 'Hello, world', voice: 'v' } as const

function speak(url: string, more: object = {}, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...more }),
    ...init,
  })
}

async function over(reply: VendorReply, make: (baseURL: string) => Provider, more: Partial<GatewayOptions> = {}) {
  const vendor = await vendorFor(reply)
  const hosted = await hostedWith({ models: { m: make(vendor.baseURL) }, retry: { maxAttempts: 1 }, ...more })
  return { ...hosted, vendor }
}

async function billed(provider: Provider, price: PriceOptions) {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 100_000_000n, reference: 'start' })
  return hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: { m: { provider, price } },
    storage: { ledger },
    billing: { currency: 'USD' },
  })
}

describe.each(Object.entries(vendors))('%s', (_, { make, reply, received, path, used }) => {
  test('gets the request in its own form, and the client the file', async () => {
    const { url, vendor, receipt } = await over(reply, make)
    const answer = await speak(url, { response_format: 'wav' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/wav'])
    expect(Buffer.from(await answer.arrayBuffer()).equals(wavFile)).toBe(true)
    expect(vendor.requests[0]?.url).toBe(path)
    expect(vendor.requests[0]?.json).toMatchObject(received)
    expect(await receipt()).toMatchObject({ endpoint: 'audio.speech', outcome: 'completed', stream: true, ...used })
  })

  test.runIf(hasShared)('the client may have events', async () => {
    const { url } = await over(reply, make)
    const { text, status } = await post(url, '/audio/speech', { ...body, response_format: 'wav', stream_format: 'sse' })
    const events = framesOf({ status, text, json: undefined }).map((frame) => JSON.parse(frame) as { audio: string })
    const audio = Buffer.concat(events.slice(0, -1).map((event) => Buffer.from(event.audio, 'base64')))
    expect(audio.equals(wavFile)).toBe(true)
    expect(faults('SpeechAudioDeltaEvent', events[0])).toEqual([])
    expect(faults('SpeechAudioDoneEvent', events.at(-1))).toEqual([])
  })
})

test('minimax makes samples, and counts its characters', async () => {
  const { url, vendor, receipt } = await over(minimax.reply, minimax.make)
  const answer = await speak(url, { response_format: 'pcm' })
  expect(answer.headers.get('content-type')).toBe('audio/pcm')
  expect(Buffer.from(await answer.arrayBuffer()).equals(samples)).toBe(true)
  expect(vendor.requests[0]?.json).toMatchObject(minimax.received)
  expect(await receipt()).toMatchObject(minimax.used)
})

test('an error that minimax sends with status 200 has the status that it means', async () => {
  const reply: VendorReply = (_, response) =>
    void response
      .setHeader('content-type', 'application/json')
      .end('{"base_resp":{"status_code":1002,"status_msg":"secret"}}')
  const { url } = await over(reply, minimax.make)
  const answer = await post(url, '/audio/speech', body)
  expect([answer.status, answer.text.includes('secret')]).toEqual([429, false])
})

describe('the official clients', () => {
  test('openai: bytes as they come', async () => {
    const { url } = await hostedWith({ models: { m: demo({ paceMs: 0 }) } })
    const response = await clientOf(url).audio.speech.create({ ...body, response_format: 'wav' })
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1', 8, 12)).toBe('WAVE')
  })

  test('AI SDK: generateSpeech, of a gateway whose model is a speech model of the SDK', async () => {
    const reply: VendorReply = (_, response) => void response.setHeader('content-type', 'audio/wav').end(wavFile)
    const { url, vendor } = await over(reply, (baseURL) =>
      fromAiSdk(createOpenAI({ baseURL, apiKey: 'k' }).speech('tts')),
    )
    const sdk = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-test' })
    const { audio } = await generateSpeech({
      model: sdk.speech('m'),
      text: body.input,
      voice: 'v',
      outputFormat: 'wav',
    })
    expect(Buffer.from(audio.uint8Array).equals(wavFile)).toBe(true)
    expect(vendor.requests[0]?.json).toMatchObject({
      model: 'tts',
      input: body.input,
      voice: 'v',
      response_format: 'wav',
    })
  })
})

describe('the price', () => {
  const replies = vendors['groq, in bytes'] as (typeof vendors)[string]

  test('of a million characters, for each character of the text', async () => {
    const vendor = await vendorFor(replies.reply)
    const { url, receipts } = await billed(replies.make(vendor.baseURL), { characters: '15' })
    // Ten requests, by OpenAI's rule for tts-1: $15 for a million characters.
    for (let nth = 0; nth < 10; nth++) await (await speak(url)).arrayBuffer()
    await expect.poll(() => receipts.length).toBe(10)
    expect(receipts.map(({ charge }) => charge?.cost)).toEqual(Array.from({ length: 10 }, () => '0.00018'))
  })

  test('of tokens, those of the audio at their own', async () => {
    const { make, reply } = vendors['openai, in events with usage'] as (typeof vendors)[string]
    const vendor = await vendorFor(reply)
    // gpt-4o-mini-tts: $0.60 and $12 for a million tokens of text and of audio.
    const { url, receipt } = await billed(make(vendor.baseURL), { input: '0.6', output: '0', outputAudio: '12' })
    await (await speak(url, { response_format: 'wav' })).arrayBuffer()
    // (14 × 0.6 + 42 × 12) / 1,000,000, rounded up.
    expect((await receipt()).charge?.cost).toBe('0.000513')
  })

  test('is never zero by mistake: a price without a part for speech is refused', async () => {
    const { url } = await billed(demo(), { image: '1' })
    expect((await speak(url, { response_format: 'wav' })).status).toBe(503)
  })

  test('is held: a text that the balance does not cover is not spoken', async () => {
    // 12 characters at 15 each, of a balance of 100.
    const { url, receipts } = await billed(demo(), { characters: '15000000' })
    expect([(await speak(url)).status, receipts.length]).toEqual([429, 0])
  })
})

describe('refusals by name', () => {
  test.each<[string, Provider, object, string]>([
    [
      'a model that cannot speak',
      defineProvider({ name: 'mute', chat: () => Promise.reject(new Error('x')) }),
      {},
      'model',
    ],
    ['a format that the vendor lacks', gemini({ apiKey: 'k' }), { response_format: 'mp3' }, 'response_format'],
    ['a speed that the vendor lacks', gemini({ apiKey: 'k' }), { speed: 2 }, 'speed'],
    ['instructions that the vendor lacks', elevenlabs({ apiKey: 'k' }), { instructions: 'Sing.' }, 'instructions'],
    ['no text', demo(), { input: '' }, 'input'],
    ['a text that is too long', demo(), { input: 'x'.repeat(40_001) }, 'input'],
    ['no voice', demo(), { voice: undefined }, 'voice'],
    ['an unknown format', demo(), { response_format: 'midi' }, 'response_format'],
    ['a speed out of range', demo(), { speed: 5 }, 'speed'],
  ])('%s', async (_, provider, more, param) => {
    const { url } = await hostedWith({ models: { m: provider } })
    const answer = await post(url, '/audio/speech', { ...body, ...more })
    expect([answer.status, errorOf(answer).param]).toEqual([400, param])
  })
})

test('a speech that breaks off is cut, so that it does not look complete', async () => {
  const { url, receipt } = await over(
    (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/wav', 'content-length': String(wavFile.length) })
      response.write(wavFile.subarray(0, 50_000), () => response.destroy())
    },
    (baseURL) => openai({ baseURL, preset: 'groq' }),
  )
  const answer = await speak(url)
  await expect(answer.arrayBuffer()).rejects.toThrow()
  expect(await receipt()).toMatchObject({ outcome: 'failed' })
})

test('an error before the first audio is an HTTP error, and the next deployment speaks', async () => {
  const broken = await vendorFor((_, response) => void response.writeHead(500).end('secret'))
  const { make, reply } = vendors['groq, in bytes'] as (typeof vendors)[string]
  const working = await vendorFor(reply)
  const models = { a: make(broken.baseURL), b: make(working.baseURL), m: { route: ['a', 'b'] } }
  const { url } = await hostedWith({ models, retry: { maxAttempts: 1 } })
  const failed = await post(url, '/audio/speech', { ...body, model: 'a' })
  expect([failed.status, failed.text.includes('secret')]).toEqual([503, false])
  expect((await speak(url)).status).toBe(200)
})

test('a repeated request with an Idempotency-Key gets the same bytes, and is charged once', async () => {
  const { url, receipts } = await hostedWith({ models: { m: demo({ paceMs: 0 }) } })
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json', 'idempotency-key': 'k' }
  const [first, second] = [await speak(url, {}, { headers }), await speak(url, {}, { headers })]
  const [left, right] = [Buffer.from(await first.arrayBuffer()), Buffer.from(await second.arrayBuffer())]
  expect([left.equals(right), second.headers.get('content-type'), receipts.length]).toEqual([true, 'audio/wav', 1])
})

const leaving = thorough ? 1_000 : 200

test(`of ${leaving} clients that leave half-way, each pays for what was made, and nothing stays open`, async () => {
  let open = 0
  const vendor = await vendorFor(async (_, response) => {
    open++
    response.on('close', () => open--)
    response.writeHead(200, { 'content-type': 'audio/wav' })
    // Half of the file; the rest never comes.
    response.write(wavFile.subarray(0, 44 + 48_000))
    await once(response, 'close')
  })
  const provider = openai({ baseURL: vendor.baseURL, preset: 'groq' })
  const { url, receipts, gateway } = await billed(provider, { characters: '15', outputAudio: '12' })
  const leave = async () => {
    const controller = new AbortController()
    const answer = await speak(url, {}, { signal: controller.signal })
    await answer.body?.getReader().read()
    controller.abort()
  }
  for (let batch = 0; batch < leaving / 100; batch++) await Promise.all(Array.from({ length: 100 }, leave))
  await expect.poll(() => receipts.length, { timeout: 30_000 }).toBe(leaving)
  await expect.poll(() => open, { timeout: 30_000 }).toBe(0)
  expect(
    receipts.filter(({ outcome, charge }) => outcome === 'cancelled' && charge?.basis === 'delivered'),
  ).toHaveLength(leaving)
  // Twelve characters in any case, and at most the second of audio that was made.
  for (const { charge } of receipts) {
    expect(Number(charge?.cost)).toBeGreaterThanOrEqual(0.00018)
    expect(Number(charge?.cost)).toBeLessThan(0.00018 + (26 * 12) / 1_000_000)
  }
  expect((await gateway.admin.accounts.find('acme'))?.held).toBe('0')
}, 60_000)

test.each<[string, (baseURL: string) => Provider]>([
  ['OpenAI', (baseURL) => openai({ baseURL, preset: 'groq', apiKey: 'k' })],
  ['ElevenLabs', (baseURL) => elevenlabs({ baseURL, apiKey: 'k' })],
])('a page that a proxy sends in the place of audio is an error: %s', async (_, make) => {
  const page: VendorReply = (__, response) => void response.setHeader('content-type', 'text/html').end('<p>canary')
  const { url, receipt } = await over(page, make)
  const answer = await speak(url)
  expect(answer.status).toBe(503)
  expect(await answer.text()).not.toContain('canary')
  expect(await receipt()).toMatchObject({ outcome: 'failed', usage: { total_tokens: 0 } })
})
