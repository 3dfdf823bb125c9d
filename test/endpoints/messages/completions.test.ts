/** A completion becomes the same message whether it is converted at once or from its chunks. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Context } from '../../../src/endpoints/endpoint.ts'
import { completionOf } from '../../../src/endpoints/chat/completion.ts'
import { chunksOfCompletion } from '../../../src/endpoints/chat/completion-chunks.ts'
import { messages } from '../../../src/endpoints/messages/messages.ts'
import { writtenMessage } from '../../../src/endpoints/messages/message-json.ts'
import { GatewayError } from '../../../src/errors.ts'
import type { Call, ChatAnswer } from '../../../src/providers/contract.ts'
import type { ChatCompletion } from '../../../src/wire/chat.ts'
import type { Message, MessageRequest } from '../../../src/wire/messages.ts'
import type { Usage } from '../../../src/wire/usage.ts'
import { bytesOf, recordingsOf } from '../../providers/recordings.ts'
import { hasShared } from '../../shared.ts'

const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
const recorded = (hasShared ? ['openai', 'azure', 'deepseek', 'groq', 'mistral', 'moonshot', 'openrouter', 'xai'] : [])
  .flatMap(recordingsOf)
  .filter(({ wire, stream, expect: { error } }) => wire === 'openai.chat' && !stream && !error)

const tool = { name: 'tool', input_schema: {} }
const bodies = [
  {},
  { tools: [tool] },
  { tools: [tool], thinking: { type: 'adaptive' } },
  { thinking: { type: 'adaptive', display: 'omitted' }, stop_sequences: ['END', 'b'] },
  // More than a vendor takes: the gateway enforces the last one.
  { stop_sequences: ['1', '2', '3', '4', 'c'] },
]

describe.skipIf(!hasShared)('a recorded completion', () => {
  test('there are some', () => expect(recorded.length).toBeGreaterThan(3))

  test.each(recorded)('$vendor $file', async (recording) => {
    for (const body of bodies) await requireSame(JSON.parse(bytesOf(recording).toString()) as ChatCompletion, body)
  })
})

const state = fc.option(fc.constantFrom({ google: { thought_signature: 's' } }, '', null, {}), { nil: undefined })
const calls = fc.array(
  fc.record(
    {
      id: fc.constantFrom('call_1', 'call_2', 'call_0123456789abcdef01234567', 'not ok!', 'x'.repeat(80)),
      type: fc.constant('function'),
      function: fc.record({
        name: fc.constantFrom('tool', 'other', ''),
        arguments: fc.constantFrom('{"x":1}', '{}', '', '{"x":', '[1]', '"text"', '1', 'null', '{} {}', ' {"x":1}\n'),
      }),
      custom: fc.constant({ name: 'free', input: 'text' }),
      extra_content: state,
    },
    { requiredKeys: ['id', 'type'] },
  ),
  { maxLength: 3 },
)
const text = fc.constantFrom('', ' ', '\n\n', 'a', ' a END of b', 'abc', '“é”\ud83d\ude00 ', 'ends with 1')
const orNull = (values: fc.Arbitrary<string>) => fc.option(values, { nil: null })
const plain = fc.record({ role: fc.constant('assistant'), content: text, refusal: fc.constant(null) })
/** Nearly plain: one field that may change the message. */
const marked = fc.tuple(
  plain,
  fc.constantFrom<object>(
    { extra_content: { google: {} } },
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] },
    { reasoning_content: 'Hm' },
    { reasoning: 'Hm' },
    { refusal: 'No' },
    { tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'tool', arguments: '{}' } }] },
    { annotations: [{ type: 'url_citation' }] },
  ),
)
const any = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.oneof(orNull(text), fc.constant([{ type: 'text', text: 'part' }])),
    refusal: orNull(text),
    reasoning_content: orNull(text),
    reasoning: fc.oneof(orNull(text), fc.constant({ summary: 'not a text' })),
    reasoning_details: fc.constantFrom(null, [], '', [{ type: 'reasoning.encrypted', data: 'x' }]),
    thinking_blocks: fc.constantFrom(null, [{ type: 'thinking', thinking: 'Hm', signature: 's' }]),
    extra_content: state,
    annotations: fc.constant([]),
    tool_calls: fc.option(calls, { nil: null }),
  },
  { requiredKeys: ['role', 'content'] },
)
const message = fc.oneof(
  plain,
  marked.map(([base, more]) => ({ ...base, ...more })),
  any,
)
const choice = fc.record(
  {
    index: fc.constantFrom(0, 0, 0, 1),
    message,
    finish_reason: fc.constantFrom('stop', 'length', 'tool_calls', 'function_call', 'content_filter', 'eos', null),
    logprobs: fc.constantFrom(null, { content: [] }),
    stop_reason: fc.constantFrom('END', 'c', 1, null),
    matched_stop: fc.constantFrom('b', 'other', 7),
  },
  { requiredKeys: ['message', 'finish_reason'] },
)
const counts = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const completion = fc.record(
  {
    object: fc.constant('chat.completion'),
    choices: fc.array(choice, { minLength: 1, maxLength: 2 }),
    usage: fc.constantFrom(
      null,
      counts,
      { ...counts, total_tokens: 20, prompt_tokens_details: { cached_tokens: 5 } },
      // Counts that are none.
      { ...counts, prompt_tokens_details: { cached_tokens: '5"', cache_write_tokens: {} } },
      { ...counts, completion_tokens_details: { reasoning_tokens: 3 }, server_tool_use: { web_search_requests: 1 } },
    ),
    service_tier: fc.constant('flex'),
  },
  { requiredKeys: ['object', 'choices'] },
)

test('a completion of any shape', async () => {
  await fc.assert(
    fc.asyncProperty(completion, fc.constantFrom(...bodies), (raw, body) =>
      requireSame(raw as unknown as ChatCompletion, body),
    ),
    { numRuns: 1_000 },
  )
})

async function requireSame(raw: ChatCompletion, body: object): Promise<void> {
  // Generated ids are in it, so that both ways have the same ones.
  const whole = completionOf(raw, head, false)
  const [once, fromChunks] = [await asked(whole, body), await asked(chunksOfCompletion(whole), body)]
  const isExact = whole.usage !== undefined || !mayDrop(whole)
  expect(isExact ? once : withoutEstimate(once)).toEqual(isExact ? fromChunks : withoutEstimate(fromChunks))
}

/** Whether the chunks may lack a part, such as a call without a name, which an estimate of the whole completion includes. */
function mayDrop({ choices }: ChatCompletion): boolean {
  return choices.length > 1 || choices.some((each) => each.message.tool_calls)
}

function withoutEstimate(result: Result): Result {
  return result.message === undefined ? result : { ...result, message: { ...result.message, usage: {} } }
}

interface Result {
  readonly message?: Message
  readonly [field: string]: unknown
}

/** The message and what the meter was told, or the error. */
async function asked(answer: ChatAnswer, body: object): Promise<Result> {
  const request: MessageRequest = {
    model: 'm',
    max_tokens: 1_000,
    messages: [{ role: 'user', content: 'Hi' }],
    ...body,
  }
  const field = (name: string) => request[name]
  const meter: { usage?: Usage; textBytes: number; serviceTier?: string } = { textBytes: 0 }
  const order = { ...request, request, field, promptTokens: 10 }
  const context = { id: 'req_1', startedAt: 1_000, order, meter } as unknown as Context<MessageRequest>
  const call = { ...order, publicModel: 'm', stream: false, signal: new AbortController().signal }
  try {
    const provider = { name: 'p', chat: () => answer }
    const open = await messages.ask(provider, call as unknown as Call<MessageRequest>, context)
    if (open.kind === 'stream') throw new TypeError('the message was not requested as a stream')
    expect(open.isMade).toBe(true)
    expect(writtenMessage(open.message)).toBe(JSON.stringify(open.message))
    return { message: open.message, usage: meter.usage, serviceTier: meter.serviceTier }
  } catch (error) {
    return { error: GatewayError.from(error).code, text: String(error) }
  }
}
