import { describe, expect, it } from 'vitest'
import { memoryLedger } from '../../../src/index.ts'
import { defineProvider, type TranscriptAnswer, retrySame, tryNext } from '../../../src/providers/index.ts'
import type { Call } from '../../../src/providers/contract.ts'
import type { Transcript, TranscriptEvent, TranscriptionRequest } from '../../../src/wire/transcriptions.ts'
import { hostedWith } from '../../hosted.ts'
import { errorOf, formOf, read, send, type Entry } from '../forms.ts'

const sound: Entry = ['file', new Blob(['sound'], { type: 'audio/wav' }), 'a.wav']
const model: Entry = ['model', 'm']

const spoken: Transcript = {
  text: 'Good morning. Good --> night.',
  language: 'english',
  duration: 3723.5,
  segments: [
    { id: 0, start: 0, end: 1.25, text: ' Good morning.' },
    { id: 1, start: 1.25, end: 3723.5, text: ' Good --> \r\r night.\n\n' },
  ],
  words: [{ word: 'Good', start: 0, end: 0.5 }],
  usage: { type: 'duration', seconds: 3724 },
}

function listener(answer: (call: Call<TranscriptionRequest>) => TranscriptAnswer | Promise<TranscriptAnswer>) {
  return defineProvider({ name: 'listener', transcribe: answer })
}

async function ask(transcript: TranscriptAnswer, ...fields: Entry[]) {
  const { url } = await hostedWith({ models: { m: listener(() => transcript) } })
  const response = await send(url, '/audio/transcriptions', formOf(sound, model, ...fields))
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

async function dataOf(response: Response) {
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '')
  return frames.map((frame) => (frame === 'data: [DONE]' ? 'done' : JSON.parse(frame.replace(/^data: /, ''))))
}

describe('the formats of a transcript', () => {
  const jsonType = 'application/json; charset=utf-8'
  const textType = 'text/plain; charset=utf-8'

  it('json: text and usage; the default', async () => {
    for (const fields of [[], [['response_format', 'json'] as const]]) {
      const { type, text } = await ask(spoken, ...fields)
      expect([type, JSON.parse(text)]).toEqual([jsonType, { text: spoken.text, usage: spoken.usage }])
    }
  })

  it('text: the text and a line break', async () => {
    expect(await ask(spoken, ['response_format', 'text'])).toEqual({
      status: 200,
      type: textType,
      text: `${spoken.text}\n`,
    })
  })

  it('srt: numbered cues with commas; text cannot start a cue', async () => {
    expect(await ask(spoken, ['response_format', 'srt'])).toEqual({
      status: 200,
      type: textType,
      text: '1\n00:00:00,000 --> 00:00:01,250\nGood morning.\n\n2\n00:00:01,250 --> 01:02:03,500\nGood ->\nnight.\n\n',
    })
  })

  it('vtt: the header, and cues with points', async () => {
    expect(await ask(spoken, ['response_format', 'vtt'])).toEqual({
      status: 200,
      type: 'text/vtt; charset=utf-8',
      text: 'WEBVTT\n\n00:00:00.000 --> 00:00:01.250\nGood morning.\n\n00:00:01.250 --> 01:02:03.500\nGood ->\nnight.\n\n',
    })
  })

  it('verbose_json: language, duration and the requested timestamps', async () => {
    const verbose = async (...granularities: string[]) => {
      const fields = granularities.map((each): Entry => ['timestamp_granularities[]', each])
      return JSON.parse((await ask(spoken, ['response_format', 'verbose_json'], ...fields)).text)
    }
    const { segments, ...rest } = await verbose()
    const { text, language, duration, usage } = spoken
    expect(rest).toEqual({ task: 'transcribe', text, language, duration, usage })
    expect(segments).toHaveLength(2)
    expect(segments[1]).toMatchObject({ id: 1, start: 1.25, end: 3723.5, seek: 0, tokens: [], temperature: 0 })
    expect(Object.keys(await verbose('word'))).not.toContain('segments')
    expect(await verbose('word', 'segment')).toMatchObject({ words: spoken.words, segments })
  })

  it('diarized_json: segments with speakers', async () => {
    const { text } = await ask(spoken, ['response_format', 'diarized_json'])
    expect(JSON.parse(text)).toMatchObject({
      task: 'transcribe',
      duration: 3723.5,
      segments: [
        { type: 'transcript.text.segment', id: 'seg_001', start: 0, end: 1.25, speaker: 'A' },
        { id: 'seg_002' },
      ],
    })
  })

  it('have one cue if only the duration is known, and are rejected without timestamps', async () => {
    const srt: Entry = ['response_format', 'srt']
    expect((await ask({ text: 'Hi', duration: 2 }, srt)).text).toBe('1\n00:00:00,000 --> 00:00:02,000\nHi\n\n')
    const { status, text } = await ask({ text: 'Hi' }, srt)
    expect(status).toBe(400)
    expect(JSON.parse(text).error).toMatchObject({ code: 'unsupported_value', param: 'response_format' })
  })

  it('are passed on unchanged if the provider returns text', async () => {
    expect((await ask('as it is', ['response_format', 'vtt'])).text).toBe('as it is')
    expect(JSON.parse((await ask('as it is')).text)).toEqual({ text: 'as it is' })
  })
})

describe('a transcription', () => {
  it('passes the fields, in every spelling, and the file to the provider', async () => {
    const seen: unknown[] = []
    const provider = listener(async (call) => {
      seen.push(call.request, await read(call.form))
      return spoken
    })
    const { url } = await hostedWith({ models: { m: provider } })
    const fields: Entry[] = [
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities', 'segment'],
      ['include[0]', 'logprobs'],
      ['languages', 'en'],
      ['languages', 'de'],
      ['keywords[]', 'Galileo'],
      ['temperature', '0.5'],
      ['chunking_strategy', 'auto'],
    ]
    expect((await send(url, '/audio/transcriptions', formOf(sound, ...fields, model))).status).toBe(200)
    expect(seen[0]).toEqual({
      model: 'm',
      timestamp_granularities: ['word', 'segment'],
      include: ['logprobs'],
      languages: ['en', 'de'],
      keywords: ['Galileo'],
      temperature: 0.5,
      chunking_strategy: 'auto',
    })
    expect(seen[1]).toEqual([['file', 'sound', 'a.wav', 'audio/wav'], ...fields, model])
  })

  it('accepts a file of any type or without one, and an upload of unknown length', async () => {
    const seen: unknown[] = []
    const provider = listener(async (call) => {
      seen.push(await read(call.form))
      return spoken
    })
    const { url } = await hostedWith({ models: { m: provider } })
    const form = formOf(model, ['file', new Blob(['sound']), 'a.mp3'])
    const request = new Request('http://x', { method: 'POST', body: form })
    const response = await fetch(`${url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': request.headers.get('content-type') ?? '' },
      body: request.body,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(200)
    expect(seen).toEqual([[model, ['file', 'sound', 'a.mp3', 'application/octet-stream']]])
  })

  it.each<[string, Entry[], string]>([
    ['without a model', [sound], 'model'],
    ['without a file', [model], 'file'],
    ['with text instead of a file', [model, ['file', 'sound']], 'file'],
    ['with two files', [model, sound, sound], 'file'],
    ['with an unknown format', [model, sound, ['response_format', 'doc']], 'response_format'],
    ['with a temperature above 1', [model, sound, ['temperature', '1.1']], 'temperature'],
    [
      'with unknown timestamp granularities',
      [model, sound, ['timestamp_granularities[]', 'letter']],
      'timestamp_granularities[0]',
    ],
    ['with an invalid "stream"', [model, sound, ['stream', 'maybe']], 'stream'],
  ])('%s is rejected', async (_, entries, param) => {
    const { url } = await hostedWith({ models: { m: listener(() => spoken) } })
    const response = await send(url, '/audio/transcriptions', formOf(...entries))
    expect(await errorOf(response)).toMatchObject({ status: 400, param })
  })

  it('as JSON is rejected, and the error names the right media type', async () => {
    const { url } = await hostedWith({ models: { m: listener(() => spoken) } })
    const response = await send(url, '/audio/transcriptions', '{}', { 'content-type': 'application/json' })
    const { status, message } = await errorOf(response)
    expect(status).toBe(415)
    expect(message).toContain('multipart/form-data')
  })

  it('by a model that only supports chat is rejected', async () => {
    const { url } = await hostedWith({ models: { m: defineProvider({ name: 'talker' }) } })
    const response = await send(url, '/audio/transcriptions', formOf(model, sound))
    expect(await errorOf(response)).toMatchObject({ status: 400, code: 'unsupported_value', param: 'model' })
  })

  it('is counted in the receipt by seconds or tokens', async () => {
    const usage = { type: 'tokens', input_tokens: 10, output_tokens: 3, total_tokens: 13 } as const
    const { url, receipt } = await hostedWith({
      models: {
        seconds: listener(() => spoken),
        tokens: listener(() => ({ text: 'Hi', usage })),
        cues: listener(() => 'WEBVTT\n\n00:01.000 --> 00:02.500\nHi\n\n'),
      },
    })
    const ask = (id: string) =>
      send(url, '/audio/transcriptions', formOf(['model', id], sound, ['response_format', 'vtt']))
    await ask('seconds')
    expect(await receipt()).toMatchObject({ endpoint: 'audio.transcriptions', units: { seconds: 3724 } })
    await send(url, '/audio/transcriptions', formOf(['model', 'tokens'], sound))
    expect(await receipt()).toMatchObject({
      usage: { prompt_tokens: 10, completion_tokens: 3 },
      usageSource: 'reported',
    })
    await ask('cues')
    expect(await receipt()).toMatchObject({ units: { seconds: 2.5 } })
  })

  it('with deltas that are not strings is passed on unchanged', async () => {
    async function* pieces() {
      yield { type: 'transcript.text.delta', delta: 5 } as never
    }
    const { url } = await hostedWith({ models: { m: listener(pieces) } })
    const response = await send(url, '/audio/transcriptions', formOf(model, sound, ['stream', 'true']))
    expect(await response.text()).toMatch(/"delta":5.*"text":"5".*\[DONE\]/s)
  })

  it('of unknown duration is charged by a duration estimated from its text', async () => {
    const text = 'a'.repeat(150)
    async function* pieces(): AsyncGenerator<TranscriptEvent> {
      yield { type: 'transcript.text.delta', delta: text }
    }
    const usage = { type: 'tokens', input_tokens: 10, output_tokens: 3, total_tokens: 13 } as const
    const paid = async (transcript: TranscriptAnswer) => {
      const ledger = memoryLedger()
      await ledger.credit({ account: 'acme', amount: 10_000_000n, reference: 'top-up' })
      const { url, receipt } = await hostedWith({
        keys: { 'sk-test': { account: 'acme' } },
        models: { m: { provider: listener(() => transcript), price: { second: '0.01' } } },
        storage: { ledger },
        billing: { currency: 'CNY' },
      })
      await (await send(url, '/audio/transcriptions', formOf(model, sound))).arrayBuffer()
      return (await receipt()).charge?.cost
    }
    expect(await Promise.all([{ text }, text, pieces(), { text, usage }, { text: '' }].map(paid))).toEqual([
      '0.1',
      '0.1',
      '0.1',
      '0.1',
      '0.01',
    ])
  })
})

describe('a streamed transcript', () => {
  const stream: Entry = ['stream', 'true']
  const pieces = listener(async function* () {
    yield { type: 'transcript.text.delta', delta: 'Good ' }
    yield { type: 'transcript.text.delta', delta: 'morning' }
  })

  it('has the events of the provider, and a done event if the provider sends none', async () => {
    const { url } = await hostedWith({ models: { m: pieces } })
    expect(await dataOf(await send(url, '/audio/transcriptions', formOf(model, sound, stream)))).toEqual([
      { type: 'transcript.text.delta', delta: 'Good ' },
      { type: 'transcript.text.delta', delta: 'morning' },
      { type: 'transcript.text.done', text: 'Good morning' },
      'done',
    ])
  })

  it('is made from a non-streaming one, and the other way round', async () => {
    const { url } = await hostedWith({ models: { pieces, whole: listener(() => spoken) } })
    const whole = await send(url, '/audio/transcriptions', formOf(['model', 'pieces'], sound))
    expect(await whole.json()).toEqual({ text: 'Good morning' })
    const events = await dataOf(await send(url, '/audio/transcriptions', formOf(['model', 'whole'], sound, stream)))
    expect(events.map((event) => event.type ?? event)).toEqual([
      'transcript.text.delta',
      'transcript.text.done',
      'done',
    ])
  })

  it('can be requested by the last field of a large upload', async () => {
    const { url } = await hostedWith({
      models: {
        m: listener(async function* (call: Call<TranscriptionRequest>) {
          const parts = await read(call.form)
          yield { type: 'transcript.text.delta', delta: String(parts[1]?.[1]).slice(-3) }
          yield { type: 'transcript.text.done', text: String(call.stream) }
        }),
      },
      sizes: { uploadMemoryBytes: 1_000 },
    })
    const large: Entry = ['file', new Blob([`${'x'.repeat(500_000)}end`]), 'a.wav']
    expect(await dataOf(await send(url, '/audio/transcriptions', formOf(model, large, stream)))).toEqual([
      { type: 'transcript.text.delta', delta: 'end' },
      { type: 'transcript.text.done', text: 'true' },
      'done',
    ])
  })

  it('that fails before its first event gets an HTTP status', async () => {
    const nothing: TranscriptEvent[] = []
    const provider = listener(async function* () {
      yield* nothing
      throw tryNext(new Error('cut'))
    })
    const { url } = await hostedWith({ models: { m: provider } })
    expect((await send(url, '/audio/transcriptions', formOf(model, sound, stream))).status).toBe(503)
  })
})

describe('a large upload that is passed on while it arrives', () => {
  const sizes = { uploadMemoryBytes: 1_000 }
  const large: Entry = ['file', new Blob(['x'.repeat(500_000)]), 'a.wav']

  it('is rejected for invalid fields before the file, before a provider is called', async () => {
    const { url, receipts } = await hostedWith({ models: { m: listener(() => spoken) }, sizes })
    const response = await send(url, '/audio/transcriptions', formOf(model, ['temperature', 'hot'], large))
    expect(await errorOf(response)).toMatchObject({ status: 400, param: 'temperature' })
    expect(receipts).toEqual([])
  })

  it('is rejected for invalid fields after the file', async () => {
    const provider = listener(async (call) => {
      await read(call.form)
      return spoken
    })
    const { url, receipt } = await hostedWith({ models: { m: provider }, sizes })
    const response = await send(url, '/audio/transcriptions', formOf(model, large, ['temperature', 'hot']))
    expect(await errorOf(response)).toMatchObject({ status: 400, param: 'temperature' })
    expect(await receipt()).toMatchObject({ outcome: 'failed', attempts: 1 })
  })

  it('is not retried once part of it was sent', async () => {
    let tried = 0
    const provider = listener(async (call) => {
      tried++
      await read(call.form)
      throw retrySame(new Error('cut'))
    })
    const { url } = await hostedWith({ models: { m: provider }, sizes })
    const response = await send(url, '/audio/transcriptions', formOf(model, large))
    expect(await errorOf(response)).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(tried).toBe(1)
  })

  it('is kept if there is another deployment', async () => {
    const failing = listener(async (call) => {
      await read(call.form)
      throw tryNext(new Error('cut'))
    })
    const good = listener(async (call) => ({ text: String((await read(call.form))[1]?.[1]).slice(0, 3) }))
    const { url } = await hostedWith({ models: { m: { route: [{ provider: failing }, { provider: good }] } }, sizes })
    const response = await send(url, '/audio/transcriptions', formOf(model, large))
    expect(await response.json()).toEqual({ text: 'xxx' })
  })

  it('is retried if none of it was sent, and if it was kept', async () => {
    let tried = 0
    const provider = listener(async (call) => {
      if (tried++ % 2 === 0) throw retrySame(new Error('refused'))
      await read(call.form)
      return spoken
    })
    const { url } = await hostedWith({ models: { m: provider }, sizes, retry: { backoffMs: 1 } })
    expect((await send(url, '/audio/transcriptions', formOf(model, large))).status).toBe(200)
    expect((await send(url, '/audio/transcriptions', formOf(large, model))).status).toBe(200)
    expect(tried).toBe(4)
  })
})
