/** What a provider must make of answers, and of conversations on their way to the vendor. */
import assert from 'node:assert/strict'
import { speaking } from '../scripted-vendor.ts'
import type { Told } from '../told.ts'
import type { Register } from './kit.ts'
import { calls, conversation, understood, world } from './scripts.ts'

export function checkAnswers(check: Register, { reasoning, images }: { reasoning: boolean; images: boolean }): void {
  check.both('the text of an answer comes through, characters of several bytes included', async (kit, stream) => {
    const { told } = await kit.ask({ text: world }, stream)
    assert.deepEqual([told.content, told.finish, told.error], [world, 'stop', undefined])
  })

  if (reasoning) {
    check.both('what the model thought is no part of the text', async (kit, stream) => {
      const { told } = await kit.ask({ reasoning: 'Let me think.', text: 'Yes.' }, stream)
      assert.deepEqual([told.content, told.reasoning], ['Yes.', 'Let me think.'])
    })
  }

  check.both('parallel calls keep ids, order and arguments, and the text beside them', async (kit, stream) => {
    const { told } = await kit.ask({ text: 'Let me see.', calls }, stream)
    assert.equal(told.content, 'Let me see.')
    assertCalls(told)
  })

  check.both('a call without arguments carries an empty object', async (kit, stream) => {
    const { told } = await kit.ask({ calls: [{ id: 'call_1', name: 'now', input: {} }] }, stream)
    assert.deepEqual(
      told.calls.map((call) => call.arguments),
      ['{}'],
    )
    assert.deepEqual([told.content, told.finish], ['', 'tool_calls'])
  })

  for (const finish of ['length', 'content_filter'] as const) {
    check.both(`an answer that ended by ${finish} says so`, async (kit, stream) => {
      const { told } = await kit.ask({ text: 'Once upon', finish }, stream)
      assert.deepEqual([told.content, told.finish], ['Once upon', finish])
    })
  }

  check.both('tokens are counted once: caches in the prompt, thinking in the completion', async (kit, stream) => {
    const usage = { input: 100, cached: 40, output: 30, reasoning: 20 }
    const { usage: told } = (await kit.ask({ text: 'Yes.', usage }, stream)).told
    assert.deepEqual([told?.prompt_tokens, told?.completion_tokens, told?.total_tokens], [100, 30, 130])
    assert.equal(told?.prompt_tokens_details?.cached_tokens, 40)
    assert.equal(told?.completion_tokens_details?.reasoning_tokens, 20)
  })

  check.both('a conversation reaches the vendor whole', async (kit, stream) => {
    const shown = images ? ['iVBORw0KGgo='] : []
    const spoken = speaking(kit.dialect, () => ({ text: 'Sunny and warm.' }))
    const { told } = await kit.send(spoken.reply, conversation(shown), stream)
    assert.equal(told.content, 'Sunny and warm.')
    const [{ stream: _, ...heard } = { stream }, ...more] = spoken.heard
    assert.deepEqual([heard, more], [understood(shown), []])
  })
}

export function assertCalls(told: Told): void {
  assert.deepEqual(
    told.calls.map(({ id, name, arguments: text }) => ({ id, name, input: JSON.parse(text) as unknown })),
    calls,
  )
  assert.equal(told.finish, 'tool_calls')
}
