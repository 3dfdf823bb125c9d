import { describe, expect, test } from 'vitest'
import { faults } from './openapi.ts'
import { hasShared } from './shared.ts'

const chunk = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'demo',
  choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: null }],
}

describe.skipIf(!hasShared)('the OpenAPI validation', () => {
  test('accepts valid values, including null where the document allows it', () => {
    expect(faults('CreateChatCompletionStreamResponse', chunk)).toEqual([])
    expect(faults('CreateChatCompletionStreamResponse', { ...chunk, usage: null })).toEqual([])
  })

  test('names the path of each fault', () => {
    const { id: _, ...nameless } = chunk
    expect(faults('CreateChatCompletionStreamResponse', nameless)).toEqual([expect.stringContaining('"id"')])
    const wrong = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'tired' }] }
    expect(faults('CreateChatCompletionStreamResponse', wrong)).toEqual([
      expect.stringContaining('/choices/0/finish_reason'),
    ])
    expect(faults('ErrorResponse', { error: { message: 'no' } })).toHaveLength(3)
  })
})
