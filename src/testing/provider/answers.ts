/** How a provider translates conversations and responses. */
import assert from 'node:assert/strict'
import { scriptedDialect } from '../scripted-dialect.ts'
import type { ChatResult } from '../chat-result.ts'
import type { Register } from './kit.ts'
import { calls, conversation, parsedConversation, unicodeText } from './scripts.ts'

export function checkAnswers(check: Register, { reasoning, images }: { reasoning: boolean; images: boolean }): void {
  check.both('text arrives unchanged, multi-byte characters included', async (kit, stream) => {
    const { result } = await kit.ask({ text: unicodeText }, stream)
    assert.deepEqual([result.content, result.finish, result.error], [unicodeText, 'stop', undefined])
  })

  if (reasoning) {
    check.both('reasoning is separate from the text', async (kit, stream) => {
      const { result } = await kit.ask({ reasoning: 'Let me think.', text: 'Yes.' }, stream)
      assert.deepEqual([result.content, result.reasoning], ['Yes.', 'Let me think.'])
    })
  }

  check.both(
    'parallel tool calls keep their ids, order and arguments, and the text before them',
    async (kit, stream) => {
      const { result } = await kit.ask({ text: 'Let me see.', calls }, stream)
      assert.equal(result.content, 'Let me see.')
      assertCalls(result)
    },
  )

  check.both('a tool call without arguments has an empty object as its arguments', async (kit, stream) => {
    const { result } = await kit.ask({ calls: [{ id: 'call_1', name: 'now', input: {} }] }, stream)
    assert.deepEqual(
      result.calls.map((call) => call.arguments),
      ['{}'],
    )
    assert.deepEqual([result.content, result.finish], ['', 'tool_calls'])
  })

  for (const finish of ['length', 'content_filter'] as const) {
    check.both(`the finish reason "${finish}" is reported`, async (kit, stream) => {
      const { result } = await kit.ask({ text: 'Once upon', finish }, stream)
      assert.deepEqual([result.content, result.finish], ['Once upon', finish])
    })
  }

  check.both(
    'cached tokens are part of the prompt tokens, reasoning tokens part of the completion tokens',
    async (kit, stream) => {
      const usage = { input: 100, cached: 40, output: 30, reasoning: 20 }
      const { usage: reported } = (await kit.ask({ text: 'Yes.', usage }, stream)).result
      assert.deepEqual([reported?.prompt_tokens, reported?.completion_tokens, reported?.total_tokens], [100, 30, 130])
      assert.equal(reported?.prompt_tokens_details?.cached_tokens, 40)
      assert.equal(reported?.completion_tokens_details?.reasoning_tokens, 20)
    },
  )

  check.both('the whole conversation reaches the vendor', async (kit, stream) => {
    const sent = images ? ['iVBORw0KGgo='] : []
    const { reply, requests } = scriptedDialect(kit.dialect, () => ({ text: 'Sunny and warm.' }))
    const { result } = await kit.send(reply, conversation(sent), stream)
    assert.equal(result.content, 'Sunny and warm.')
    const [{ stream: _, ...parsed } = { stream }, ...more] = requests
    assert.deepEqual([parsed, more], [parsedConversation(sent), []])
  })
}

export function assertCalls(result: ChatResult): void {
  assert.deepEqual(
    result.calls.map(({ id, name, arguments: text }) => ({ id, name, input: JSON.parse(text) as unknown })),
    calls,
  )
  assert.equal(result.finish, 'tool_calls')
}
