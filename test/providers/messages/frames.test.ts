/** Streams of Anthropic's Messages API on their way to a client of that API: the same bytes, however they arrive. */
import { MessageFrames } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { Flow } from '../../../src/http/flow.ts'
import { DeltaTemplates } from '../../../src/providers/messages/delta-template.ts'
import { readMessageFrames } from '../../../src/providers/messages/frames.ts'
import type { MessageEvent, MessageUsage } from '../../../src/wire/messages.ts'
import { usageOfMessage } from '../../../src/wire/message-usage.ts'
import { hasShared } from '../../shared.ts'
import { bytesOf, cutsOf, recordingsOf } from '../recordings.ts'

interface Passed {
  readonly text: string
  readonly textBytes: number
  readonly usage: unknown
  readonly error?: string
}

const templates = new DeltaTemplates()

async function passed(pieces: readonly Buffer[], rename?: string, known = templates): Promise<Passed> {
  let text = ''
  let textBytes = 0
  let usage: MessageUsage | undefined
  const result = () => ({ text, textBytes, usage: usage && usageOfMessage(usage) })
  try {
    const flow = readMessageFrames(each(pieces), {
      rename,
      failure: (error) => new Error(JSON.stringify(error)),
      templates: known,
    })
    expect(flow).toBeInstanceOf(Flow)
    for await (const piece of flow) {
      if (!(piece instanceof MessageFrames)) throw new TypeError('an event instead of frames')
      text += typeof piece.frames === 'string' ? piece.frames : Buffer.from(piece.frames).toString()
      textBytes += piece.textBytes
      usage = piece.usage ?? usage
    }
    return result()
  } catch (error) {
    return { ...result(), error: (error as Error & { cause?: Error }).cause?.message ?? (error as Error).message }
  }
}

async function* each(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}

/** What a client gets of a recording: without a repetition of the first event, on which the official client fails. */
function expected(bytes: Buffer): string {
  const frames = bytes.toString('utf8').trimEnd().split('\n\n')
  const whole = frames.filter((frame, index) => index === 0 || frame !== frames[0])
  const isOver = (frame: string, index: number) =>
    frame.startsWith('event: error') || (index > 0 && frame.startsWith('event: message_start'))
  const end = whole.findIndex(isOver)
  return (end < 0 ? whole : whole.slice(0, end)).map((frame) => `${frame.replace(/^\n/, '')}\n\n`).join('')
}

const streams = recordingsOf('anthropic').filter(({ stream }) => stream)

describe.skipIf(!hasShared)('a recorded stream', () => {
  test.each(streams)('passes byte for byte, also when it is cut at any byte: $file', async (recording) => {
    const bytes = bytesOf(recording)
    const whole = await passed([bytes])
    if (recording.expect.error === undefined) expect(whole.error).toBeUndefined()
    expect(whole.text).toBe(expected(bytes))
    for (const cut of cutsOf(bytes)) {
      const split = await passed([bytes.subarray(0, cut), bytes.subarray(cut)])
      if (JSON.stringify(split) !== JSON.stringify(whole)) expect(split, `cut at byte ${cut}`).toEqual(whole)
    }
    expect(await passed([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole)
  })

  test.each(streams)('is an error when truncated anywhere before its last event: $file', async (recording) => {
    const bytes = bytesOf(recording)
    const mark = bytes.indexOf('"message_stop"')
    const end = mark < 0 ? bytes.length : mark
    for (const cut of cutsOf(bytes).filter((byte) => byte <= end)) {
      const short = await passed([bytes.subarray(0, cut)])
      if (short.error === undefined) expect(short, `truncated at ${cut}`).toBe('an error')
    }
  })

  test.each(streams.filter(({ expect: { usage, error } }) => usage && !error))(
    'has the usage that the vendor bills, and the size of its text: $file',
    async (recording) => {
      const bytes = bytesOf(recording)
      const { usage, textBytes } = await passed([bytes])
      const { prompt_tokens, completion_tokens } = usage as Record<string, number>
      const { usage: expected, usage_also_accepted: also } = recording.expect
      expect([expected, also].map((each) => [each?.prompt_tokens, each?.completion_tokens])).toContainEqual([
        prompt_tokens,
        completion_tokens,
      ])
      expect(textBytes).toBe(sizeOf(bytes))
    },
  )

  test.each(streams)('has the public name of its model, and no other byte changes: $file', async (recording) => {
    const bytes = bytesOf(recording)
    const plain = await passed([bytes])
    const renamed = await passed([bytes], 'our "name"')
    const named = /"model": ?"[^"]+"/.exec(plain.text)?.[0] ?? ''
    expect(renamed).toEqual({ ...plain, text: plain.text.replace(named, () => '"model":"our \\"name\\""') })
  })
})

/** The size of all deltas, by parsing each event. */
function sizeOf(bytes: Buffer): number {
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.startsWith('data:'))
  return lines
    .map((line) => (JSON.parse(line.slice(5)) as { delta?: Record<string, string> }).delta ?? {})
    .map(({ type, text, partial_json: input, thinking, content }) => {
      return Buffer.byteLength(text ?? input ?? thinking ?? (type === 'compaction_delta' ? content : '') ?? '')
    })
    .reduce((sum, size) => sum + size, 0)
}

const start =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","model":"c","usage":{"input_tokens":3}}}\n\n'
const delta = (text: string, spaces = '') =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${text}}${spaces}}\n\n`
const end =
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}\n\n' +
  'event: message_stop\ndata: {"type":"message_stop"}\n\n'

test('text in any spelling of JSON passes, and counts as what it says', async () => {
  const texts = ['"a"', '"\\u00e9\\n\\"\\\\"', '"ü€𝄞"', '"\\ud834\\udd1e"', '""', '" \\"text\\":\\"x\\" "']
  const stream = start + texts.map((text, index) => delta(text, ' '.repeat(index))).join('') + end
  const result = await passed([Buffer.from(stream)], undefined, new DeltaTemplates())
  expect(result.text).toBe(stream)
  expect(result.textBytes).toBe(texts.reduce((sum, text) => sum + Buffer.byteLength(JSON.parse(text) as string), 0))
})

test('signatures are not content that is charged', async () => {
  const signature =
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}}\n\n'
  const result = await passed([Buffer.from(start + signature + signature + end)], undefined, new DeltaTemplates())
  expect(result).toMatchObject({ text: start + signature + signature + end, textBytes: 0 })
})

test('a frame that only begins like a known one is read for itself', async () => {
  const known = delta('"abc"')
  const odd = known.replace('}}', '},"usage":{"input_tokens":9}}')
  const broken = known.replace('"}}', '"}')
  expect((await passed([Buffer.from(start + known + odd + end)])).text).toBe(start + known + odd + end)
  expect(await passed([Buffer.from(start + known + broken + end)])).toMatchObject({
    text: start + known,
    error: 'the vendor sent an event that is not JSON',
  })
})

test('comments are dropped, and an event without its name gets it, which the official clients go by', async () => {
  const stream = `: hello\n\n${start}data: {"type":"ping"}\n\n: again\n\n${delta('"x"')}${end}`
  const { text } = await passed([Buffer.from(stream)])
  expect(text).toBe(`${start}event: ping\ndata: {"type":"ping"}\n\n${delta('"x"')}${end}`)
})

test('events after the end of the message are not passed on', async () => {
  expect((await passed([Buffer.from(start + end + delta('"late"'))])).text).toBe(start + end)
})

test('content before the start of the message, or an end without a stop reason, is an error', async () => {
  expect(await passed([Buffer.from(delta('"x"'))])).toMatchObject({
    text: '',
    error: expect.stringContaining('before'),
  })
  const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'
  expect(await passed([Buffer.from(start + stop)])).toMatchObject({
    text: start,
    error: expect.stringContaining('stop'),
  })
})

test('a consumer of objects gets the events with the public name', async () => {
  const flow = readMessageFrames(each([Buffer.from(start + delta('"x"') + end)]), {
    rename: 'ours',
    parsed: true,
    failure: () => new Error('none'),
    templates,
  })
  const events: MessageEvent[] = []
  for await (const piece of flow) events.push(piece as MessageEvent)
  expect(events.map(({ type }) => type)).toEqual([
    'message_start',
    'content_block_delta',
    'message_delta',
    'message_stop',
  ])
  expect(events[0]).toMatchObject({ message: { model: 'ours' } })
})
