/** Usage of vendors with other field names than OpenAI: what clients receive, and what is charged. */
import { openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { memoryLedger } from '../../../src/money/ledger/memory.ts'
import type { PriceOptions } from '../../../src/money/prices/price-options.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { post } from '../ask.ts'
import { formOf, send, type Entry } from '../forms.ts'

const sound: Entry = ['file', new Blob(['sound'], { type: 'audio/wav' }), 'a.wav']
const mistral = { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 3_264, completion_tokens: 635 }
const counted = { type: 'tokens', input_tokens: 2_629, output_tokens: 635, total_tokens: 3_264 }

async function world(body: object | readonly object[], price: PriceOptions) {
  const vendor = await vendorFor((_, response) => {
    const [type, text] = Array.isArray(body)
      ? ['text/event-stream', body.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('')]
      : ['application/json', JSON.stringify(body)]
    response.writeHead(200, { 'content-type': type }).end(text)
  })
  const ledger = memoryLedger()
  await ledger.credit({ account: 'a', amount: 1_000_000_000n, reference: 'order' })
  const hosted = await hostedWith({
    models: { m: { provider: openai({ preset: 'mistral', baseURL: vendor.baseURL }), price } },
    keys: { 'sk-test': { account: 'a' } },
    billing: { currency: 'CNY' },
    storage: { ledger },
  })
  return {
    ...hosted,
    ask: (...fields: Entry[]) => send(hosted.url, '/audio/transcriptions', formOf(['model', 'm'], sound, ...fields)),
    cost: async () => (await hosted.receipt()).charge?.cost,
  }
}

const tokens = { input: '1', inputAudio: '1', output: '2' }

describe('a transcript of Mistral', () => {
  const whole = { model: 'voxtral-mini', text: 'Hello', language: 'en', segments: [], usage: mistral }

  test('reports its tokens like OpenAI, and is charged by them', async () => {
    const { ask, cost, receipts } = await world(whole, tokens)
    expect(await (await ask()).json()).toMatchObject({ text: 'Hello', usage: counted })
    // 2,629 tokens at 1 per million, and 635 at 2 per million.
    expect(await cost()).toBe('0.003899')
    expect(receipts[0]).toMatchObject({ usageSource: 'reported', units: { seconds: 203 } })
  })

  test('is charged by the reported seconds', async () => {
    const { ask, cost } = await world(whole, { second: '0.001' })
    expect(await (await ask(['response_format', 'verbose_json'])).json()).toMatchObject({ duration: 203 })
    expect(await cost()).toBe('0.203')
  })

  test('in a stream has the events and counts of OpenAI', async () => {
    const events = [
      { type: 'transcription.language', audio_language: 'en' },
      { type: 'transcription.text.delta', text: 'Hel' },
      { type: 'transcription.text.delta', text: 'lo' },
      { type: 'transcription.segment', text: 'Hello', start: 0, end: 2, speaker_id: 'A' },
      { ...whole, type: 'transcription.done' },
    ]
    const { ask, cost } = await world(events, tokens)
    const text = await (await ask(['stream', 'true'])).text()
    const said = text
      .split('\n\n')
      .flatMap((frame) => (frame.startsWith('data: {') ? [JSON.parse(frame.slice(6))] : []))
    expect(said).toMatchObject([
      { type: 'transcript.text.delta', delta: 'Hel' },
      { type: 'transcript.text.delta', delta: 'lo' },
      { type: 'transcript.text.segment', text: 'Hello', speaker: 'A' },
      { type: 'transcript.text.done', text: 'Hello', usage: counted },
    ])
    expect(text).not.toContain('prompt_tokens')
    expect(await cost()).toBe('0.003899')
  })

  test('that is truncated is an error', async () => {
    const { ask } = await world([{ type: 'transcription.text.delta', text: 'Hel' }], tokens)
    expect((await (await ask(['stream', 'true'])).text()).split('data: ').at(-1)).toContain('"error"')
  })
})

test.each([
  [{ text: 'Hello', usage: { type: 'duration', seconds: 3 } }],
  [{ text: 'Hello' }],
  [{ text: 'Hello', usage: null }],
  [{ text: 'Hello', usage: { some: 'thing' } }],
  [{ text: 'Hello', usage: { prompt_tokens: 3 } }],
  [{ text: 'Hello', usage: { type: 'tokens', prompt_tokens: 3, completion_tokens: 2 } }],
  [{ text: 'Hello', usage: { input_tokens: 3, output_tokens: 2 } }],
])('a request with a price is never free: %o', async (body) => {
  for (const price of [tokens, { second: '0.001' }]) {
    const { ask, cost } = await world(body, price)
    const { usage } = (await (await ask()).json()) as { usage?: { type: string } }
    if (usage) expect(['tokens', 'duration']).toContain(usage.type)
    expect(Number(await cost())).toBeGreaterThan(0)
  }
})

test.each<[string, string, object, object]>([
  [
    'chats',
    '/chat/completions',
    { messages: [{ role: 'user', content: 'Hi' }] },
    { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] },
  ],
  ['completions', '/completions', { prompt: 'Hi' }, { choices: [{ index: 0, text: 'Hi', finish_reason: 'stop' }] }],
  ['embeddings', '/embeddings', { input: 'Hi' }, { data: [{ index: 0, embedding: [0.5] }] }],
  ['images', '/images/generations', { prompt: 'Hi' }, { created: 1, data: [{ b64_json: 'UE5H' }] }],
])('%s are counted with both names of the token counts', async (_, path, request, answer) => {
  const names = [
    { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
    { input_tokens: 7, output_tokens: 2, total_tokens: 9 },
  ]
  for (const usage of names) {
    const { url, cost } = await world({ id: 'x', model: 'm', ...answer, usage }, tokens)
    const reply = (await post(url, path, { model: 'm', ...request })).json as { usage: Record<string, number> }
    expect(reply.usage[path.startsWith('/images') ? 'input_tokens' : 'prompt_tokens']).toBe(7)
    expect(await cost()).toBe('0.000011')
  }
})
