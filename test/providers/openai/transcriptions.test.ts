import { describe, expect, it } from 'vitest'
import { openai } from '../../../src/providers/index.ts'
import { errorOf, formOf, send, type Entry } from '../../endpoints/forms.ts'
import { contentOf, readBody } from '../../http/form.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { hasShared, sharedBytes } from '../../shared.ts'

const json = { 'content-type': 'application/json' }
const model: Entry = ['model', 'm']
const sound: Entry = ['file', new Blob(['sound'], { type: 'audio/wav' }), 'a.wav']

function ask(url: string, ...fields: Entry[]): Promise<Response> {
  return send(url, '/audio/transcriptions', formOf(sound, model, ...fields))
}

async function answering(type: string, body: string | Buffer, status = 200) {
  const vendor = await vendorFor((_, response) => void response.writeHead(status, { 'content-type': type }).end(body))
  const provider = openai({ baseURL: vendor.baseURL })
  return {
    vendor,
    ...(await hostedWith({ models: { m: { provider, providerModel: 'whisper-9' } }, retry: { maxAttempts: 1 } })),
  }
}

describe('transcriptions of an OpenAI-compatible vendor', () => {
  it.skipIf(!hasShared)('returns the vendor’s bytes, and counts the seconds', async () => {
    const recorded = sharedBytes('recordings/openai/transcription-verbose.json')
    const { url, vendor, receipt } = await answering('application/json', recorded)
    const response = await ask(url, ['response_format', 'verbose_json'], ['timestamp_granularities[]', 'word'])
    expect(Buffer.from(await response.arrayBuffer())).toEqual(recorded)
    expect(await receipt()).toMatchObject({ units: { seconds: 37 } })
    const { headers, body } = vendor.requests[0] ?? {}
    const sent = await contentOf(await readBody(body as Buffer, headers?.['content-type'] as string))
    expect(sent.map(({ name, value }) => [name, String(value)])).toEqual([
      ['file', 'sound'],
      ['model', 'whisper-9'],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
    ])
  })

  it('requests JSON for plain text, because only JSON has usage', async () => {
    const said = { text: 'Hello', usage: { type: 'duration', seconds: 3 } }
    const { url, vendor, receipt } = await answering('application/json', JSON.stringify(said))
    const response = await ask(url, ['response_format', 'text'])
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe('Hello\n')
    expect(await receipt()).toMatchObject({ units: { seconds: 3 } })
    expect(vendor.requests[0]?.body.toString()).toMatch(/name="response_format"\r\n\r\njson\r\n/)
  })

  it.each([
    [{ duration: '8.47' }, 8.47],
    [{ usage: { type: 'duration', seconds: 3 }, duration: 'long' }, 3],
    [{ duration: 'long' }, 1],
    [{ duration: -5 }, 1],
    [{ duration: 0 }, 1],
    [{ segments: [{ start: 0, end: 'the end', text: 'Hello' }] }, 1],
    [{ usage: { type: 'duration', seconds: -3 } }, 1],
  ])(
    'counts the seconds that the vendor states as a number or in digits, and else estimates them: %j',
    async (more, seconds) => {
      const { url, receipt } = await answering('application/json', JSON.stringify({ text: 'Hello', ...more }))
      expect((await ask(url)).status).toBe(200)
      expect((await receipt()).units).toEqual({ seconds })
    },
  )

  it.each([
    [{ segments: null, words: null }],
    [{ segments: {}, words: 5 }],
    [{ segments: [null], words: [{ word: 7 }] }],
    [{ segments: [{ start: 'a', end: null, text: 'Hello' }] }],
  ])('reads a transcript whose parts are none: %j', async (parts) => {
    const { url, receipt } = await answering(
      'application/json',
      JSON.stringify({ text: 'Hello', duration: 2, ...parts }),
    )
    for (const format of ['json', 'verbose_json', 'srt', 'vtt', 'diarized_json']) {
      const response = await ask(url, ['response_format', format])
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hello')])
      expect((await receipt()).units).toEqual({ seconds: 2 })
    }
  })

  it('streams segments whose ends are no numbers, and estimates their seconds', async () => {
    const events = [
      { type: 'transcript.text.segment', id: 's', start: 0, end: 'the end', text: 'Hello', speaker: 'A' },
      { type: 'transcript.text.done', text: 'Hello' },
    ]
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    const { url, receipt } = await answering('text/event-stream', body)
    expect(await (await ask(url, ['stream', 'true'])).text()).toContain('the end')
    expect((await receipt()).units).toEqual({ seconds: 1 })
  })

  it('returns subtitles with their own content type, whatever the vendor’s is', async () => {
    const vtt = 'WEBVTT\n\n00:00:00.000 --> 00:00:04.000\nHello\n\n'
    const { url, receipt } = await answering('text/plain', vtt)
    const response = await ask(url, ['response_format', 'vtt'])
    expect(response.headers.get('content-type')).toBe('text/vtt; charset=utf-8')
    expect(await response.text()).toBe(vtt)
    expect(await receipt()).toMatchObject({ units: { seconds: 4 } })
  })

  it('converts the JSON of a vendor without subtitles to subtitles', async () => {
    const said = { text: 'Hello', segments: [{ id: 0, start: 0, end: 1, text: ' Hello' }] }
    const { url } = await answering('application/json; charset=utf-8', JSON.stringify(said))
    const response = await ask(url, ['response_format', 'srt'])
    expect(await response.text()).toBe('1\n00:00:00,000 --> 00:00:01,000\nHello\n\n')
  })

  it('streams each event, and counts the usage', async () => {
    const usage = { type: 'tokens', input_tokens: 14, output_tokens: 1, total_tokens: 15 }
    const frames = [
      'data: {"type":"transcript.text.delta","delta":"Hi","logprobs":[]}\n\n',
      `data: {"type":"transcript.text.done","text":"Hi","usage":${JSON.stringify(usage)}}\n\n`,
      'data: [DONE]\n\n',
    ]
    const { url, receipt } = await answering('text/event-stream', frames.join(''))
    expect(await (await ask(url, ['stream', 'true'])).text()).toBe(frames.join(''))
    expect(await receipt()).toMatchObject({ usage: { prompt_tokens: 14, completion_tokens: 1 }, stream: true })
  })

  it('ends a stream that the vendor truncates with an error', async () => {
    const { url } = await answering('text/event-stream', 'data: {"type":"transcript.text.delta","delta":"Hi"}\n\n')
    const text = await (await ask(url, ['stream', 'true'])).text()
    expect(text).toContain('"code":"service_unavailable"')
    expect(text).not.toContain('[DONE]')
  })

  it.each([
    ['no text', 'application/json', '{"duration":1}', 200, 503],
    ['an HTML page', 'text/html', '<html>', 200, 503],
    ['an error inside a 200', 'application/json', '{"error":{"type":"invalid_request_error"}}', 200, 400],
    ['a 400', 'application/json', '{"error":{"message":"secret"}}', 400, 400],
    ['a 500', 'application/json', '{}', 500, 503],
  ])('fails when the vendor sends %s', async (_, type, body, status, expected) => {
    const { url } = await answering(type, body, status)
    const error = await errorOf(await ask(url))
    expect(error.status).toBe(expected)
    expect(error.message).not.toContain('secret')
  })

  it('retries after a failure with the stored upload', async () => {
    let requests = 0
    const vendor = await vendorFor((_, response) => {
      const good = requests++ > 0
      response.writeHead(good ? 200 : 500, json).end(good ? '{"text":"Hello"}' : '{}')
    })
    const { url } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) }, retry: { backoffMs: 1 } })
    expect(await (await ask(url)).json()).toEqual({ text: 'Hello' })
    const [first, second] = vendor.requests.map(({ body }) =>
      body.toString().replaceAll(/modelhatch-[\w-]+/g, 'boundary'),
    )
    expect(second).toBe(first)
  })
})
