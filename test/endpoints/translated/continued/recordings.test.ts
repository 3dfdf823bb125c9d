/** Recorded streams of every vendor, broken off anywhere: with the rest of another model the client has the whole answer once. */
import { describe, expect, test } from 'vitest'
import type { Conversation } from '../../../../src/conversation/conversation.ts'
import { chat } from '../../../../src/endpoints/chat/chat.ts'
import type { Context } from '../../../../src/endpoints/endpoint.ts'
import { finish, text, toolCall, type Call, type Provider } from '../../../../src/providers/index.ts'
import type { ChatResult } from '../../../../src/testing/chat-result.ts'
import { resultOfChunks } from '../../../../src/testing/chat-result.ts'
import type { ChatRequest } from '../../../../src/wire/chat.ts'
import type { Usage } from '../../../../src/wire/usage.ts'
import { bytesOf, cutsOf, recordedVendors, recordingsOf } from '../../../providers/recordings.ts'
import { hasShared } from '../../../shared.ts'
import { readers } from '../../messages/relayed.ts'

const streams = recordedVendors
  .flatMap(recordingsOf)
  .filter(({ wire, stream, expect: { finish_reason: end, error, logprobs } }) => {
    return stream && readers[wire] !== undefined && error === undefined && logprobs === undefined && end !== undefined
  })
  .filter(({ expect: { finish_reason: end } }) => end === 'stop' || end === 'tool_calls' || end === 'length')

/** The tokens of the other model's prompt, without the text so far. */
const prompt = 100

describe.skipIf(!hasShared)('a recorded stream that breaks off', () => {
  test.each(streams)('is continued after any byte: $vendor $file', async ({ wire, vendor, file }) => {
    const bytes = bytesOf({ vendor, file } as never)
    const whole = (await answered(wire, bytes, bytes.length, undefined)) as Answered
    let continued = 0
    for (const cut of cutsOf(bytes)) {
      const cutOff = await answered(wire, bytes, cut, whole.result)
      // Without any content another attempt follows.
      if (cutOff === undefined) continue
      continued += cutOff.asked
      requireWhole(cutOff, whole, `cut at byte ${cut}`)
    }
    expect(continued).toBeGreaterThan(0)
  })
})

interface Answered {
  readonly result: ChatResult
  readonly usage: Usage | undefined
  /** How often the other model was asked. */
  readonly asked: number
}

/** What the client gets if the stream is reset after `cut` bytes. `known`: what the other model knows. */
async function answered(
  wire: string,
  bytes: Buffer,
  cut: number,
  known: ChatResult | undefined,
): Promise<Answered | undefined> {
  async function* source() {
    yield bytes.subarray(0, cut)
    if (cut < bytes.length) throw new Error('connection reset')
  }
  let asked = 0
  const successor = () => {
    if (known === undefined || asked++ > 0) return undefined
    return { provider: { name: 'next', generate: goingOn(known) }, call: call() }
  }
  const meter = { usage: undefined, textBytes: 0, omit() {} }
  const order = { ...request, request, field, promptTokens: 10 }
  const context = {
    id: 'req_1',
    startedAt: 1_000,
    order,
    meter,
    successor,
    inParts: true,
  } as unknown as Context<ChatRequest>
  const provider = { name: 'p', ...readers[wire]?.(source()) } as Provider
  let frames = ''
  try {
    const answer = await chat.ask(provider, call() as Call<ChatRequest>, context)
    for await (const frame of chat.frames?.(answer, context, false) ?? [])
      frames += typeof frame === 'string' ? frame : Buffer.from(frame).toString('utf8')
  } catch (error) {
    if (frames === '' && cut < bytes.length) return undefined
    throw error
  }
  const chunks = frames.split('\n\n').filter((frame) => frame.startsWith('data: {'))
  const result = await resultOfChunks(chunks.map((frame) => JSON.parse(frame.slice('data: '.length)) as unknown))
  return { result, usage: meter.usage, asked }
}

const request = {
  model: 'm',
  stream: true,
  messages: [{ role: 'user' as const, content: 'Hi' }],
  tools: [{ type: 'function', function: { name: 'tool', parameters: {} } }],
}
const field = (name: string) => (request as Record<string, unknown>)[name]

function call(): Call<unknown> {
  const own = { ...request, request, field, model: 'theirs', publicModel: 'm', json: () => Buffer.from('{}') }
  return own as unknown as Call<unknown>
}

/** A model that says what is missing, after the words that it was asked to repeat. */
function goingOn(known: ChatResult) {
  return async function* ({ request: { turns } }: Call<Conversation>) {
    const last = turns.at(-1)?.blocks[0]
    const [, anchor] = /without any remark: ([^]*)$/.exec(last?.kind === 'text' ? last.text : '') ?? []
    const before = anchor === undefined ? '' : textOf(turns.at(-2)?.blocks[0])
    expect(known.content.startsWith(before)).toBe(true)
    expect(before.endsWith(anchor ?? '')).toBe(true)
    const rest = known.content.slice(before.length - (anchor ?? '').length)
    for (const piece of rest.match(/[^]{1,7}/gu) ?? []) yield text(piece)
    for (const { name, arguments: input } of known.calls) yield toolCall({ name, arguments: input })
    const tokens = { prompt_tokens: prompt, completion_tokens: 7, total_tokens: prompt + 7 }
    yield finish(known.calls.length > 0 ? 'calls' : 'stop', tokens)
  }
}

function textOf(block: Conversation['turns'][number]['blocks'][number] | undefined): string {
  return block?.kind === 'text' ? block.text : ''
}

function requireWhole({ result, usage, asked }: Answered, { result: whole, usage: reported }: Answered, where: string) {
  expect(result.content, where).toBe(whole.content)
  const calls = result.calls.map(({ name, arguments: input }) => [name, input])
  const all = whole.calls.map(({ name, arguments: input }) => [name, input])
  // Calls that were complete are an answer.
  expect(calls, where).toEqual(asked > 0 ? all : all.slice(0, calls.length))
  if (whole.calls.length > 0) expect(calls.length, where).toBeGreaterThan(0)
  expect(result.finish, where).toBe(
    asked > 0
      ? calls.length > 0
        ? 'tool_calls'
        : 'stop'
      : result.finish === whole.finish
        ? whole.finish
        : 'tool_calls',
  )
  if (asked === 0 || usage === undefined) return
  // The prompt counts once: as the first vendor has reported it, or else as the other one did.
  expect(usage.prompt_tokens, where).toBeLessThanOrEqual(Math.max(prompt, reported?.prompt_tokens ?? 0))
  expect(usage.completion_tokens, where).toBeGreaterThanOrEqual(7)
}
