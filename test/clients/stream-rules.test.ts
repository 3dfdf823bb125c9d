import { expect, test } from 'vitest'
import { streamFaults, type Chunk } from './stream-rules.ts'

const identity = { id: 'chatcmpl-1', created: 1, model: 'demo' }

function chunk(delta: object, reason: string | null = null, more: object = {}): Chunk {
  return { ...identity, choices: [{ index: 0, delta, finish_reason: reason }], ...more }
}

const first = chunk({ role: 'assistant', content: 'Hi' })
const last = chunk({}, 'stop')
const counts = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const usage: Chunk = { ...identity, choices: [], usage: counts }
const named = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }

function call(...calls: object[]): Chunk {
  return chunk({ role: 'assistant', content: null, tool_calls: calls })
}

test('valid streams have no faults', () => {
  expect(streamFaults([first, last], '[DONE]')).toEqual([])
  expect(streamFaults([first, last, usage], '[DONE]')).toEqual([])
  const piece = chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] })
  expect(streamFaults([call(named), piece, last], '[DONE]')).toEqual([])
  expect(streamFaults([first], '{"error":{"message":"…"}}')).toEqual([])
})

test.each<[string, Chunk[], string?]>([
  ['another identity', [first, { ...last, id: 'chatcmpl-2' }]],
  ['another identity', [first, { ...last, created: 2 }]],
  ['another identity', [first, { ...last, model: 'other' }]],
  ['usage not at the end', [first, { ...last, usage: counts }]],
  ['usage not at the end', [first, usage, last]],
  ['not the sum', [first, last, { ...usage, usage: { ...counts, total_tokens: 9 } }]],
  ['neither choice nor usage', [first, last, { ...identity, choices: [] }]],
  ['after its end', [first, last, chunk({ content: 'more' })]],
  ['without a role', [chunk({ content: 'Hi' }), last]],
  ['content and finish in one', [first, chunk({ content: '!' }, 'stop')]],
  ['never ends', [first]],
  ['no [DONE]', [first, last], '{}'],
  ['without id, type or name', [call({ ...named, id: '' }), last]],
  ['without id, type or name', [call({ ...named, type: null }), last]],
  ['without id, type or name', [call({ ...named, function: { arguments: '' } }), last]],
  ['no text', [call({ ...named, function: { name: 'f', arguments: {} } }), last]],
  ['named twice', [call(named), call(named), last]],
  ['a gap', [call({ ...named, index: 1 }), last]],
])('%s is a fault (%#)', (fault, chunks, end = '[DONE]') => {
  expect(streamFaults(chunks, end)).toEqual(expect.arrayContaining([expect.stringContaining(fault)]))
})
