/** Reads chat responses, streamed or not, into one comparable form, and checks the rules of the format on the way. */
import assert from 'node:assert/strict'
import type { ChatChunk, ChatCompletion, ToolCallDelta } from '../wire/chat.ts'
import type { Usage } from '../wire/usage.ts'

/** What a client learns from a chat response. */
export interface ChatResult {
  content: string
  reasoning: string
  calls: { id: string; name: string; arguments: string; extra: Record<string, unknown> }[]
  finish: string | null
  usage?: Usage | undefined
  logprobs: unknown[]
  /** All other fields of the message. */
  extra: Record<string, unknown>
  /** Fields of `extra` that came in more than one delta: clients replace unknown fields, so only the last value survives. */
  repeats: string[]
  error?: { status: number | undefined; code: unknown }
}

export function emptyResult(): ChatResult {
  return { content: '', reasoning: '', calls: [], finish: null, logprobs: [], extra: {}, repeats: [] }
}

/** Reads a non-streaming response. */
export function resultOfCompletion(completion: ChatCompletion): ChatResult {
  const result = emptyResult()
  const [choice] = completion.choices
  assert.ok(choice !== undefined && completion.choices.length === 1)
  const { role, content, refusal, reasoning_content: thought, tool_calls: calls, ...rest } = choice.message
  const { reasoning = thought, ...extra } = rest as { reasoning?: string }
  assert.equal(role, 'assistant')
  assert.ok(refusal === null || (typeof refusal === 'string' && refusal !== ''))
  result.content = content ?? ''
  result.reasoning = reasoning ?? ''
  result.calls = (calls ?? []).map((call) => {
    const { id, type, function: called, ...rest } = call
    assert.equal(type, 'function')
    return { id, name: called?.name ?? '', arguments: called?.arguments ?? '', extra: rest }
  })
  result.finish = choice.finish_reason
  result.usage = completion.usage
  result.logprobs = (choice.logprobs as { content?: unknown[] } | null)?.content ?? []
  result.extra = extra
  return result
}

/** Reads a stream of chunks as a client receives it. An error it throws becomes `error`. */
export async function resultOfChunks(chunks: AsyncIterable<unknown> | Iterable<unknown>): Promise<ChatResult> {
  const result = emptyResult()
  let begun = false
  let id: string | undefined
  try {
    for await (const each of chunks) {
      const chunk = each as ChatChunk & { readonly object?: string }
      assert.equal(chunk.object, 'chat.completion.chunk')
      assert.equal((id ??= chunk.id), chunk.id, 'one id in all chunks')
      if (chunk.choices?.length === 0) {
        assert.ok(result.finish !== null, 'usage comes after the finish reason')
        result.usage = chunk.usage ?? undefined
        continue
      }
      for (const choice of chunk.choices ?? []) {
        assert.equal(result.finish, null, 'nothing follows the finish reason of a choice')
        const { role, content, reasoning_content: thought, tool_calls: calls, ...rest } = choice.delta ?? {}
        const { reasoning = thought, ...extra } = rest as { reasoning?: string }
        assert.equal(role, begun ? undefined : 'assistant', 'only the first delta carries the role')
        begun = true
        result.content += content ?? ''
        result.reasoning += reasoning ?? ''
        for (const call of calls ?? []) addCall(result, call)
        result.repeats.push(...Object.keys(extra).filter((name) => name in result.extra))
        Object.assign(result.extra, extra)
        const { content: logprobs = [] } = (choice.logprobs ?? {}) as { content?: unknown[] }
        result.logprobs.push(...logprobs)
        result.finish = choice.finish_reason ?? null
      }
    }
  } catch (error) {
    result.error = errorOf(error)
  }
  return result
}

function addCall(result: ChatResult, piece: ToolCallDelta): void {
  const { index, id, type, function: called, ...extra } = piece
  assert.ok(typeof index === 'number')
  if (index === result.calls.length) {
    assert.ok(typeof id === 'string' && id !== '', 'the first piece of a call carries its id')
    assert.equal(type, 'function')
    assert.ok(called?.name, 'the first piece of a call carries its name')
    result.calls.push({ id, name: called.name, arguments: '', extra: {} })
  } else
    assert.deepEqual(
      [id, type, called?.name],
      [undefined, undefined, undefined],
      'later pieces carry no id, type or name',
    )
  const call = result.calls[index]
  assert.ok(call !== undefined)
  call.arguments += (called?.arguments as string | undefined) ?? ''
  Object.assign(call.extra, extra)
}

/** Errors of the official client and of this library have the same two fields. */
export function errorOf(error: unknown): NonNullable<ChatResult['error']> {
  const { status, code } = Object(error) as { status?: number; code?: unknown }
  if (error instanceof assert.AssertionError || code === undefined) throw error
  return { status, code }
}
