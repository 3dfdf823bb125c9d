/** What the text of an answer tells its client: the whole or a stream, read by a reader that is not ours. */
import assert from 'node:assert/strict'
import { createParser } from 'eventsource-parser'
import type { Told } from '../told.ts'

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
  readonly usage?: Told['usage'] | null
}

/** `status` is the one of the answer. Throws where the form of the answer is not the one clients expect. */
export function heard(status: number, text: string, stream: boolean): Told {
  const told: Told = { content: '', reasoning: '', calls: [], finish: null, logprobs: [], extra: {}, repeats: [] }
  if (stream && status === 200) hearStream(told, text)
  else hearBody(told, status, JSON.parse(text) as Body)
  return told
}

function hearBody(told: Told, status: number, { error, choices, usage }: Body): void {
  if (error !== undefined) return void (told.error = { status, code: error.code })
  const [choice] = choices
  assert.ok(choice?.message !== undefined)
  hearFields(told, choice.message)
  for (const call of choice.message.tool_calls ?? []) hearCall(told, { ...call, index: told.calls.length })
  told.finish = choice.finish_reason
  told.usage = usage ?? undefined
}

function hearStream(told: Told, text: string): void {
  const events: string[] = []
  createParser({ onEvent: ({ data }) => void events.push(data) }).feed(text)
  const bodies = events.map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as Body)))
  const last = bodies.pop()
  if (last !== '[DONE]') {
    assert.ok(last?.error !== undefined, 'a stream ends with [DONE] or with an error')
    told.error = { status: undefined, code: last.error.code }
  }
  const ids = new Set<string>()
  for (const body of bodies) {
    assert.ok(typeof body === 'object' && body.error === undefined)
    ids.add(body.id)
    if (body.choices.length === 0) {
      assert.equal(body, bodies.at(-1), 'usage stands behind everything')
      told.usage = body.usage ?? undefined
      continue
    }
    assert.ok(!body.usage, 'usage stands in no chunk with a choice')
    for (const { delta = {}, finish_reason: reason } of body.choices) {
      assert.equal(told.finish, null, 'nothing stands behind the end of a choice')
      hearFields(told, delta)
      for (const call of delta.tool_calls ?? []) hearCall(told, call)
      told.finish = reason ?? null
    }
  }
  assert.ok(ids.size <= 1, 'one id in all chunks')
}

function hearFields(told: Told, { content, reasoning, reasoning_content: thought }: Fields): void {
  told.content += content ?? ''
  told.reasoning += thought ?? reasoning ?? ''
}

function hearCall(told: Told, { index, id, type, function: called }: Call): void {
  assert.ok(index !== undefined)
  if (index === told.calls.length) {
    assert.ok(id && called?.name && type === 'function', 'the first piece of a call tells id, type and name')
    told.calls.push({ id, name: called.name, arguments: '', extra: {} })
  } else assert.deepEqual([id, type, called?.name], [undefined, undefined, undefined], 'later pieces do not')
  const call = told.calls[index]
  assert.ok(call !== undefined)
  call.arguments += called?.arguments ?? ''
}
