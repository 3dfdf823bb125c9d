/** A recorded completion becomes the same message whether it is converted at once or from its chunks. */
import { describe, expect, test } from 'vitest'
import type { Context } from '../../../src/endpoints/endpoint.ts'
import { completionOf } from '../../../src/endpoints/chat/completion.ts'
import { messages } from '../../../src/endpoints/messages/messages.ts'
import { GatewayError } from '../../../src/errors.ts'
import type { Call, ChatAnswer } from '../../../src/providers/contract.ts'
import type { ChatChunk, ChatCompletion } from '../../../src/wire/chat.ts'
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

async function requireSame(raw: ChatCompletion, body: object): Promise<void> {
  // Generated ids are in it, so that both ways have the same ones.
  const whole = completionOf(raw, head, false)
  const [once, fromChunks] = [await asked(whole, body), await asked(chunksOf(whole), body)]
  const isExact = whole.usage !== undefined || !mayDrop(whole)
  expect(isExact ? once : withoutEstimate(once)).toEqual(isExact ? fromChunks : withoutEstimate(fromChunks))
}

async function* chunksOf({ choices, usage, ...head }: ChatCompletion): AsyncGenerator<ChatChunk> {
  for (const { message, ...choice } of choices) yield { ...head, choices: [{ ...choice, message }] }
  if (usage !== undefined) yield { ...head, choices: [], usage }
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
    return { message: open.body, usage: meter.usage, serviceTier: meter.serviceTier }
  } catch (error) {
    return { error: GatewayError.from(error).code, text: String(error) }
  }
}
