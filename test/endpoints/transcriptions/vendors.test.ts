/** The newer forms of transcripts, by OpenAI's client: what each vendor receives of them, answers, refuses, and costs. */
import { openai, type Provider } from 'modelhatch/providers'
import OpenAI, { toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import { memoryLedger } from '../../../src/money/ledger/memory.ts'
import type { PriceOptions } from '../../../src/money/prices/price-options.ts'
import { contentOf, readBody } from '../../http/form.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { faults } from '../../openapi.ts'
import { hasShared } from '../../shared.ts'
import { wav } from '../../sound.ts'
import { formOf, send, type Entry } from '../forms.ts'

type Make = (baseURL: string) => Provider
type Asked = Omit<OpenAI.Audio.TranscriptionCreateParams, 'file' | 'model'>

const makes: Readonly<Record<'openai' | 'groq' | 'openrouter' | 'mistral', Make>> = {
  openai: (baseURL) => openai({ baseURL, apiKey: 'k' }),
  groq: (baseURL) => openai({ preset: 'groq', baseURL, apiKey: 'k' }),
  openrouter: (baseURL) => openai({ preset: 'openrouter', baseURL, apiKey: 'k' }),
  mistral: (baseURL) => openai({ preset: 'mistral', baseURL, apiKey: 'k' }),
}

/** A vendor with one answer: an object, or the events of a stream. */
async function world(make: Make, answer: object, price: PriceOptions = { second: '1' }) {
  const vendor = await vendorFor((_, response) => {
    const events = Array.isArray(answer) ? answer.map((each) => `data: ${JSON.stringify(each)}\n\n`) : undefined
    response.setHeader('content-type', events === undefined ? 'application/json' : 'text/event-stream')
    response.end(events?.join('') ?? JSON.stringify(answer))
  })
  const ledger = memoryLedger()
  await ledger.credit({ account: 'a', amount: 1_000_000_000_000n, reference: 'order' })
  const hosted = await hostedWith({
    models: { m: { provider: make(vendor.baseURL), price } },
    keys: { 'sk-test': { account: 'a' } },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  const client = new OpenAI({ baseURL: `${hosted.url}/v1`, apiKey: 'sk-test', maxRetries: 0 })
  const ask = async (asked: Asked) =>
    client.audio.transcriptions.create({
      ...asked,
      model: 'm',
      file: await toFile(wav({ seconds: 9 }), 'a.wav'),
    } as never)
  return {
    ...hosted,
    vendor,
    ask: ask as (asked: Asked) => Promise<unknown>,
    events: async (asked: Asked) => {
      const events: { type: string }[] = []
      for await (const event of (await ask({ ...asked, stream: true })) as unknown as AsyncIterable<{ type: string }>)
        events.push(event)
      if (hasShared) for (const event of events) expect(faults(schemas[event.type] ?? '', event)).toEqual([])
      return events
    },
    /** The text fields that the vendor received. */
    sent: async () => {
      const { headers, body } = vendor.requests.at(-1) ?? {}
      const parts = await contentOf(await readBody(body as Buffer, headers?.['content-type'] as string))
      return parts.flatMap(({ name, value }) => (name === 'file' || name === 'model' ? [] : [[name, String(value)]]))
    },
  }
}

const schemas: Readonly<Record<string, string>> = {
  'transcript.text.delta': 'TranscriptTextDeltaEvent',
  'transcript.text.segment': 'TranscriptTextSegmentEvent',
  'transcript.text.done': 'TranscriptTextDoneEvent',
}

const usage = { type: 'tokens', input_tokens: 90, output_tokens: 4, total_tokens: 94 }
const voxtral = { prompt_audio_seconds: 9, prompt_tokens: 4, completion_tokens: 6, total_tokens: 100 }
const logprobs = [{ token: 'Hi', logprob: -0.1, bytes: [72, 105] }]
const said = [
  { text: 'Hello.', start: 0, end: 4 },
  { text: 'Yes?', start: 4, end: 9 },
]
const bySpeaker = [
  { type: 'transcript.text.segment', id: 'seg_001', ...said[0], speaker: 'A' },
  { type: 'transcript.text.segment', id: 'seg_002', ...said[1], speaker: 'B' },
]

describe('by speakers', () => {
  test('OpenAI gets the known speakers and the chunking, and its answer is passed on', async () => {
    const answer = { task: 'transcribe', duration: 9, text: 'Hello. Yes?', segments: bySpeaker, usage }
    const { ask, sent } = await world(makes.openai, answer)
    const reference = 'data:audio/wav;base64,UklGRg=='
    const asked: Asked = {
      response_format: 'diarized_json',
      known_speaker_names: ['agent'],
      known_speaker_references: [reference],
    }
    expect(await ask({ ...asked, chunking_strategy: { type: 'server_vad', threshold: 0.6 } })).toEqual(answer)
    expect(await sent()).toEqual(
      expect.arrayContaining([
        ['response_format', 'diarized_json'],
        ['known_speaker_names[]', 'agent'],
        ['known_speaker_references[]', reference],
        ['chunking_strategy[type]', 'server_vad'],
        ['chunking_strategy[threshold]', '0.6'],
      ]),
    )
  })

  const segments = said.map((each, at) => ({
    ...each,
    type: 'transcription_segment',
    speaker_id: 'AB'[at],
    score: 0.9,
  }))

  test('Mistral is asked to tell them apart, and its answer has OpenAI’s form', async () => {
    const { ask, sent } = await world(makes.mistral, { text: 'Hello. Yes?', segments, language: null, usage: voxtral })
    const diarized = await ask({ response_format: 'diarized_json', chunking_strategy: 'auto' })
    expect(diarized).toMatchObject({ task: 'transcribe', duration: 9, text: 'Hello. Yes?', segments: bySpeaker })
    if (hasShared) expect(faults('CreateTranscriptionResponseDiarizedJson', diarized)).toEqual([])
    expect(await sent()).toEqual([
      ['diarize', 'true'],
      ['timestamp_granularities', 'segment'],
    ])
  })

  test('are events of a stream, also of a vendor that does not stream', async () => {
    const whole = await world(makes.mistral, { text: 'Hello. Yes?', segments, usage: voxtral })
    const expected = [
      { type: 'transcript.text.delta' },
      ...bySpeaker,
      { type: 'transcript.text.done', text: 'Hello. Yes?' },
    ]
    expect(await whole.events({ response_format: 'diarized_json' })).toMatchObject(expected)
    const streaming = await world(makes.mistral, [
      { type: 'transcription.text.delta', text: 'Hello. Yes?' },
      ...segments.map((each) => ({ ...each, type: 'transcription.segment' })),
      { type: 'transcription.done', text: 'Hello. Yes?', segments: [], usage: voxtral },
    ])
    expect(await streaming.events({ response_format: 'diarized_json' })).toMatchObject(expected)
    const costs = await Promise.all([whole, streaming].map(async ({ receipt }) => (await receipt()).charge?.cost))
    expect(costs).toEqual(['9', '9'])
  })
})

describe('word times', () => {
  const words = [
    { word: 'Hello.', start: 0, end: 4 },
    { word: 'Yes?', start: 4, end: 9 },
  ]
  const asked: Asked = { response_format: 'verbose_json', timestamp_granularities: ['word'] }

  test.each(['openai', 'groq', 'openrouter'] as const)('%s gets the granularity', async (name) => {
    const { ask, sent } = await world(makes[name], {
      task: 'transcribe',
      language: 'english',
      duration: 9,
      text: 'x',
      words,
    })
    expect(await ask(asked)).toMatchObject({ words })
    expect(Object.fromEntries(await sent())).toEqual({
      response_format: 'verbose_json',
      'timestamp_granularities[]': 'word',
    })
  })

  test('Mistral has them in the place of segments', async () => {
    const { ask, sent } = await world(makes.mistral, { text: 'Hello. Yes?', segments: said, usage: voxtral })
    const verbose = await ask(asked)
    expect(verbose).toMatchObject({ duration: 9, words })
    expect(verbose).not.toHaveProperty('segments')
    expect(await sent()).toEqual([['timestamp_granularities', 'word']])
  })
})

describe('log probabilities', () => {
  test('are passed on, and in a stream of a vendor that did not stream too', async () => {
    const { ask, events, sent } = await world(makes.openai, { text: 'Hi', logprobs, usage })
    expect(await ask({ include: ['logprobs'] })).toMatchObject({ logprobs })
    expect(await sent()).toEqual([['include[]', 'logprobs']])
    expect(await events({ include: ['logprobs'] })).toEqual([
      { type: 'transcript.text.delta', delta: 'Hi', logprobs },
      { type: 'transcript.text.done', text: 'Hi', logprobs, usage },
    ])
  })
})

test.each(['groq', 'openrouter'] as const)('%s, without streams and subtitles, is asked for segments', async (name) => {
  const answer = { text: 'Hello. Yes?', segments: said, duration: 9 }
  const { ask, events, sent } = await world(makes[name], answer)
  expect(await ask({ response_format: 'srt', chunking_strategy: 'auto' })).toContain(
    '00:00:04,000 --> 00:00:09,000\nYes?',
  )
  expect(await sent()).toEqual([['response_format', 'verbose_json']])
  expect((await events({})).map(({ type }) => type)).toEqual(['transcript.text.delta', 'transcript.text.done'])
  expect(await sent()).toEqual([])
})

test('Mistral gets keywords as its own terms', async () => {
  const { ask, sent } = await world(makes.mistral, { text: 'Hi', usage: voxtral })
  await ask({ keywords: ['Galileo', 'New York, NY'] })
  expect(await sent()).toEqual([
    ['context_bias', 'Galileo'],
    ['context_bias', 'New_York_NY'],
  ])
})

describe.each(['groq', 'openrouter', 'mistral'] as const)('%s refuses by name', (name) => {
  const lacking: [string, Entry][] = [
    ['include', ['include[]', 'logprobs']],
    ['known_speaker_names', ['known_speaker_names[]', 'agent']],
    ['chunking_strategy', ['chunking_strategy[type]', 'server_vad']],
    name === 'mistral'
      ? ['timestamp_granularities', ['response_format', 'verbose_json']]
      : ['response_format', ['response_format', 'diarized_json']],
  ]

  test.each(lacking)('%s', async (param, entry) => {
    const { url, vendor } = await world(makes[name], { text: 'x' })
    const both: Entry[] = ['word', 'segment'].map((each) => ['timestamp_granularities[]', each])
    const more = param === 'timestamp_granularities' ? both : []
    const file: Entry = ['file', new Blob(['sound']), 'a.wav']
    const response = await send(url, '/audio/transcriptions', formOf(['model', 'm'], file, entry, ...more))
    expect(await response.json()).toMatchObject({ error: { param } })
    expect([response.status, vendor.requests]).toEqual([400, []])
  })

  test('a field that arrives after a large file', async () => {
    const { url } = await world(makes[name], { text: 'x' })
    const file: Entry = ['file', new Blob([Buffer.alloc(20_000_000)]), 'a.wav']
    const response = await send(url, '/audio/transcriptions', formOf(['model', 'm'], file, ['include[]', 'logprobs']))
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'include' } }])
  })
})

test('more speakers than OpenAI knows are refused', async () => {
  const { ask, vendor } = await world(makes.openai, { text: 'x' })
  await expect(ask({ known_speaker_names: ['a', 'b', 'c', 'd', 'e'] })).rejects.toMatchObject({
    status: 400,
    param: 'known_speaker_names',
  })
  expect(vendor.requests).toEqual([])
})

/** Ten requests of nine seconds by the vendors' published rules. */
const priced: [string, Make, object, PriceOptions, string][] = [
  // gpt-4o-transcribe: $2.50 and $10 for a million tokens.
  ['tokens', makes.openai, { text: 'Hi', usage }, { input: '2.5', inputAudio: '2.5', output: '10' }, '0.000265'],
  // whisper-1: $0.006 a minute.
  ['minutes', makes.openai, { text: 'Hi', usage: { type: 'duration', seconds: 9 } }, { hour: '0.36' }, '0.0009'],
  // whisper-large-v3: $0.111 an hour, and at least ten seconds.
  ['hours, with a minimum', makes.groq, { text: 'Hi' }, { hour: '0.111', minimumSeconds: 10 }, '0.000309'],
  // voxtral-mini: $0.003 a minute; its tokens are no price.
  ['minutes beside tokens', makes.mistral, { text: 'Hi', usage: voxtral }, { hour: '0.18' }, '0.00045'],
  ['seconds', makes.openrouter, { text: 'Hi', usage: { seconds: 9, cost: 1 } }, { second: '0.0001' }, '0.0009'],
]

test.each(priced)('a price by %s, streamed or not', async (_, make, answer, price, cost) => {
  const { ask, events, receipts } = await world(make, answer, price)
  for (let nth = 0; nth < 5; nth++) {
    await ask({})
    await events({})
  }
  await expect.poll(() => receipts.length).toBe(10)
  expect(receipts.map(({ charge }) => charge?.cost)).toEqual(Array.from({ length: 10 }, () => cost))
})
