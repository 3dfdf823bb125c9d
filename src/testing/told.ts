/** What a client is told by a chat answer, streamed or whole, in one comparable form; the rules of the wire are checked on the way. */
import assert from 'node:assert/strict'
import type { ChatChunk, ChatCompletion, ToolCallDelta } from '../wire/chat.ts'
import type { Usage } from '../wire/usage.ts'

export interface Told {
  content: string
  reasoning: string
  calls: { id: string; name: string; arguments: string; extra: Record<string, unknown> }[]
  finish: string | null
  usage?: Usage | undefined
  logprobs: unknown[]
  /** Everything else the message carries. */
  extra: Record<string, unknown>
  /** What of it came in more than one delta. Clients in the field replace what they do not know: only the last stays. */
  repeats: string[]
  error?: { status: number | undefined; code: unknown }
}

export function nothingTold(): Told {
  return { content: '', reasoning: '', calls: [], finish: null, logprobs: [], extra: {}, repeats: [] }
}

/** A whole answer. */
export function toldByCompletion(completion: ChatCompletion): Told {
  const told = nothingTold()
  const [choice] = completion.choices
  assert.ok(choice !== undefined && completion.choices.length === 1)
  const { role, content, refusal, reasoning_content: thought, tool_calls: calls, ...rest } = choice.message
  const { reasoning = thought, ...extra } = rest as { reasoning?: string }
  assert.equal(role, 'assistant')
  assert.equal(refusal, null)
  told.content = content ?? ''
  told.reasoning = reasoning ?? ''
  told.calls = (calls ?? []).map((call) => {
    const { id, type, function: called, ...rest } = call
    assert.equal(type, 'function')
    return { id, name: called?.name ?? '', arguments: called?.arguments ?? '', extra: rest }
  })
  told.finish = choice.finish_reason
  told.usage = completion.usage
  told.logprobs = (choice.logprobs as { content?: unknown[] } | null)?.content ?? []
  told.extra = extra
  return told
}

/** A stream of chunks as a client gets it; what it throws becomes `error`. */
export async function toldByChunks(chunks: AsyncIterable<unknown> | Iterable<unknown>): Promise<Told> {
  const told = nothingTold()
  let begun = false
  let id: string | undefined
  try {
    for await (const each of chunks) {
      const chunk = each as ChatChunk & { readonly object?: string }
      assert.equal(chunk.object, 'chat.completion.chunk')
      assert.equal((id ??= chunk.id), chunk.id, 'one id in all chunks')
      if (chunk.choices?.length === 0) {
        assert.ok(told.finish !== null, 'usage stands behind the end')
        told.usage = chunk.usage ?? undefined
        continue
      }
      for (const choice of chunk.choices ?? []) {
        assert.equal(told.finish, null, 'nothing stands behind the end of a choice')
        const { role, content, reasoning_content: thought, tool_calls: calls, ...rest } = choice.delta ?? {}
        const { reasoning = thought, ...extra } = rest as { reasoning?: string }
        assert.equal(role, begun ? undefined : 'assistant', 'the role stands in the first delta alone')
        begun = true
        told.content += content ?? ''
        told.reasoning += reasoning ?? ''
        for (const call of calls ?? []) takeCall(told, call)
        told.repeats.push(...Object.keys(extra).filter((name) => name in told.extra))
        Object.assign(told.extra, extra)
        const { content: logprobs = [] } = (choice.logprobs ?? {}) as { content?: unknown[] }
        told.logprobs.push(...logprobs)
        told.finish = choice.finish_reason ?? null
      }
    }
  } catch (error) {
    told.error = toldByError(error)
  }
  return told
}

function takeCall(told: Told, piece: ToolCallDelta): void {
  const { index, id, type, function: called, ...extra } = piece
  assert.ok(typeof index === 'number')
  if (index === told.calls.length) {
    assert.ok(typeof id === 'string' && id !== '', 'the first piece of a call carries its id')
    assert.equal(type, 'function')
    assert.ok(called?.name, 'the first piece of a call carries its name')
    told.calls.push({ id, name: called.name, arguments: '', extra: {} })
  } else assert.deepEqual([id, type, called?.name], [undefined, undefined, undefined], 'later pieces carry no identity')
  const call = told.calls[index]
  assert.ok(call !== undefined)
  call.arguments += (called?.arguments as string | undefined) ?? ''
  Object.assign(call.extra, extra)
}

/** Whatever client threw it: errors of the official one and of this library carry the same two fields. */
export function toldByError(error: unknown): NonNullable<Told['error']> {
  const { status, code } = Object(error) as { status?: number; code?: unknown }
  if (error instanceof assert.AssertionError || code === undefined) throw error
  return { status, code }
}
