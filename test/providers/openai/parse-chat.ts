/** Reads the text of a chat response, streamed or not, with an event stream parser that is not ours. */
import assert from 'node:assert/strict'
import { createParser } from 'eventsource-parser'
import type { ChatResult } from '../chat-results.ts'

interface Fields {
  readonly content?: string | null
  readonly reasoning?: string | null
  readonly reasoning_content?: string | null
  readonly tool_calls?: readonly Call[] | null
}

interface Call {
  readonly index?: number
  readonly id?: string
  readonly type?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

interface Body {
  readonly id: string
  readonly error?: { readonly code: string }
  readonly choices: readonly {
    readonly delta?: Fields
    readonly message?: Fields
    readonly finish_reason: string | null
  }[]
  readonly usage?: ChatResult['usage'] | null
}

/** `status` is that of the response. Throws if the response does not have the format that clients expect. */
export function parseChat(status: number, text: string, stream: boolean): ChatResult {
  const result: ChatResult = {
    content: '',
    reasoning: '',
    calls: [],
    finish: null,
    logprobs: [],
    extra: {},
    repeats: [],
  }
  if (stream && status === 200) readStream(result, text)
  else readBody(result, status, JSON.parse(text) as Body)
  return result
}

function readBody(result: ChatResult, status: number, { error, choices, usage }: Body): void {
  if (error !== undefined) return void (result.error = { status, code: error.code })
  const [choice] = choices
  assert.ok(choice?.message !== undefined)
  addFields(result, choice.message)
  for (const call of choice.message.tool_calls ?? []) addCall(result, { ...call, index: result.calls.length })
  result.finish = choice.finish_reason
  result.usage = usage ?? undefined
}

function readStream(result: ChatResult, text: string): void {
  const events: string[] = []
  createParser({ onEvent: ({ data }) => void events.push(data) }).feed(text)
  const bodies = events.map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as Body)))
  const last = bodies.pop()
  if (last !== '[DONE]') {
    assert.ok(last?.error !== undefined, 'a stream ends with [DONE] or with an error')
    result.error = { status: undefined, code: last.error.code }
  }
  const ids = new Set<string>()
  for (const body of bodies) {
    assert.ok(typeof body === 'object' && body.error === undefined)
    ids.add(body.id)
    if (body.choices.length === 0) {
      assert.equal(body, bodies.at(-1), 'usage comes last')
      result.usage = body.usage ?? undefined
      continue
    }
    assert.ok(!body.usage, 'no chunk has both usage and a choice')
    for (const { delta = {}, finish_reason: reason } of body.choices) {
      assert.equal(result.finish, null, 'nothing follows the finish reason of a choice')
      addFields(result, delta)
      for (const call of delta.tool_calls ?? []) addCall(result, call)
      result.finish = reason ?? null
    }
  }
  assert.ok(ids.size <= 1, 'one id in all chunks')
}

function addFields(result: ChatResult, { content, reasoning, reasoning_content: thought }: Fields): void {
  result.content += content ?? ''
  result.reasoning += thought ?? reasoning ?? ''
}

function addCall(result: ChatResult, { index, id, type, function: called }: Call): void {
  assert.ok(index !== undefined)
  if (index === result.calls.length) {
    assert.ok(id && called?.name && type === 'function', 'the first piece of a call has id, type and name')
    result.calls.push({ id, name: called.name, arguments: '', extra: {} })
  } else assert.deepEqual([id, type, called?.name], [undefined, undefined, undefined], 'later pieces do not')
  const call = result.calls[index]
  assert.ok(call !== undefined)
  call.arguments += called?.arguments ?? ''
}
