/** Recorded streams of vendors with other formats, as messages: the order of events, and the content. */
import { describe, expect, test } from 'vitest'
import { toolId } from '../../../src/formats/messages/tool-id.ts'
import { emptyResult } from '../../../src/testing/chat-result.ts'
import { assertResult, bytesOf, cutsOf, recordingsOf, type Recording } from '../../providers/recordings.ts'
import { hasShared } from '../../shared.ts'
import { requireOrder, type Streamed } from './event-order.ts'
import { readers, relay } from './relayed.ts'

const vendors =
  'anthropic openai gemini azure xai deepseek groq mistral moonshot openrouter alibaba proxy snowflake google-compat perplexity together lmstudio'
const streams = vendors
  .split(' ')
  .flatMap(recordingsOf)
  .filter(({ wire, stream, expect: { finish_reason: end, error } }) => stream && (end || error) && readers[wire])

describe.skipIf(!hasShared)('a recorded stream', () => {
  test('there are some of each wire', () => {
    expect(new Set(streams.map(({ wire }) => wire))).toEqual(new Set(Object.keys(readers)))
  })

  test.each(streams)('has its content, calls and usage in order: $vendor $file', async (recording) => {
    const relayed = await relay(recording.wire, [bytesOf(recording)])
    const message = requireOrder(relayed.text)
    assertResult(resultOf(message, relayed.usage), expected(recording))
    if (message.error === undefined) requireUsage(message, recording)
  })

  test.each(streams)('is the same when cut at any byte: $vendor $file', async (recording) => {
    const bytes = bytesOf(recording)
    const whole = await gist(recording.wire, [bytes])
    for (const cut of cutsOf(bytes)) {
      const result = await gist(recording.wire, [bytes.subarray(0, cut), bytes.subarray(cut)])
      if (result !== whole) expect(JSON.parse(result), `cut at byte ${cut}`).toEqual(JSON.parse(whole))
    }
  })

  test.each(streams)('ends with an error or as usual when truncated anywhere: $vendor $file', async (recording) => {
    const bytes = bytesOf(recording)
    for (const cut of cutsOf(bytes)) {
      const { text } = await relay(recording.wire, [bytes.subarray(0, cut)])
      requireOrder(text)
    }
  })
})

/** What a client puts together, whatever pieces it arrives in. */
async function gist(wire: string, pieces: readonly Buffer[]): Promise<string> {
  const { text, usage, textBytes } = await relay(wire, pieces)
  const { events: _, ...message } = requireOrder(text)
  return madeIds(JSON.stringify([message, usage, textBytes]))
}

/** Without the ids that the gateway makes, which are in states too. */
function madeIds(text: string): string {
  const opened = text.replaceAll(/(?<=mh1\.[\w-]+\.)[\w-]+/g, (packed) =>
    Buffer.from(packed, 'base64url').toString('utf8').replaceAll('"', "'"),
  )
  return opened.replaceAll(/(?:call|toolu)_[0-9a-f]{24}/g, 'made')
}

const finishes: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

type ChatResult = ReturnType<typeof emptyResult>

function resultOf(message: Streamed, usage: ChatResult['usage']): ChatResult {
  const { error, content } = message
  const text = (type: string, field: string) =>
    content.map((block) => (block['type'] === type ? String(block[field]) : '')).join('')
  const calls = content.filter(({ type }) => type === 'tool_use')
  return {
    ...emptyResult(),
    content: text('text', 'text'),
    reasoning: text('thinking', 'thinking'),
    calls: calls.map(({ id, name, input }) => ({
      id: String(id),
      name: String(name),
      arguments: typeof input === 'string' ? input : JSON.stringify(input),
      extra: {},
    })),
    finish: error === undefined ? (finishes[message.stopReason ?? ''] ?? null) : null,
    ...(usage !== undefined && { usage }),
    ...(error !== undefined && { error: { status: undefined, code: undefined } }),
  }
}

/** Ids that Claude would reject are replaced; the content before an error, and its code, belong to chats. */
function expected({ expect: wanted }: Recording): Recording['expect'] {
  const { error, tool_calls: calls, logprobs: _, ...rest } = wanted
  return {
    ...rest,
    ...(calls && {
      tool_calls: calls.map((call) => ({
        ...call,
        id: call.id !== null && toolId(call.id) === call.id ? call.id : null,
      })),
    }),
    ...(error && { error: { kind: 'in_stream' }, before_error: {} }),
  }
}

/** The counts of the message add up to those of the vendor. */
function requireUsage({ usage }: Streamed, { expect: { usage: counts, usage_also_accepted: also } }: Recording): void {
  const wanted = also ?? counts
  if (!wanted) return
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage
  expect(Number(input) + Number(read) + Number(written)).toBe(wanted.prompt_tokens)
  expect([read, written, usage['output_tokens']]).toEqual([
    wanted.cached_tokens,
    wanted.cache_write_tokens,
    wanted.completion_tokens,
  ])
}
