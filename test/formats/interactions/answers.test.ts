/** Answers of Google's Interactions API: whole, and as events in the pieces of its stream. */
import { describe, expect, test } from 'vitest'
import { fold } from '../../../src/conversation/fold.ts'
import type { Answer, Part } from '../../../src/conversation/parts.ts'
import { InteractionReader, readAnswer } from '../../../src/formats/interactions/event-reader.ts'
import { ownParts, signed } from '../../../src/formats/gemini/state.ts'
import { unreadable } from '../../../src/providers/failure.ts'
import type { Fields } from '../../../src/wire/json.ts'
import { said } from '../laws.ts'

const from = { maker: 'google', failure: (error: unknown) => unreadable(JSON.stringify(error)) }

const head = { id: 'v1_x', model: 'gemini-omni-flash', created: '2026-11-01T12:00:00Z' }

function streamed(events: readonly Fields[]): Answer {
  const reader = new InteractionReader(from)
  const parts: Part[] = []
  for (const event of events) reader.read(event, parts)
  reader.end()
  expect(reader.done).toBe(true)
  return fold(parts)
}

const usage = { total_input_tokens: 10, total_output_tokens: 5, total_thought_tokens: 2, total_tokens: 17 }
const processing = { type: 'processing_call', id: 'p1', signature: 'sigp' }

const annotations = [
  { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 7 },
  { type: 'file_citation', document_uri: 'https://b.example/f', file_name: 'f' },
  { type: 'place_citation', place_id: 'p' },
]

const steps = [
  { type: 'user_input', content: [{ type: 'text', text: 'What was asked' }] },
  { type: 'thought', signature: 'sig1', summary: [{ type: 'text', text: 'Hmm.' }] },
  { type: 'thought', signature: 'sig2' },
  processing,
  {
    type: 'model_output',
    content: [
      {
        type: 'text',
        text: 'Zürich is',
        annotations,
      },
      { type: 'image', data: 'AAEC', mime_type: 'image/png' },
      { type: 'text', text: 'fine.' },
    ],
  },
  { type: 'function_call', id: 'c1', name: 'f', arguments: { a: 1 }, signature: 'sig3' },
]

const events: readonly Fields[] = [
  { event_type: 'interaction.created', interaction: { ...head, status: 'in_progress' } },
  { event_type: 'interaction.status_update', interaction_id: 'v1_x', status: 'in_progress' },
  { event_type: 'step.start', index: 0, step: { type: 'thought' } },
  { event_type: 'step.delta', index: 0, delta: { type: 'thought_summary', content: { type: 'text', text: 'Hm' } } },
  { event_type: 'step.delta', index: 0, delta: { type: 'thought_summary', content: { type: 'text', text: 'm.' } } },
  { event_type: 'step.delta', index: 0, delta: { type: 'thought_signature', signature: 'sig1' } },
  { event_type: 'step.stop', index: 0 },
  { event_type: 'step.start', index: 1, step: { type: 'thought', signature: 'sig2' } },
  { event_type: 'step.stop', index: 1 },
  { event_type: 'step.start', index: 2, step: { type: 'processing_call', id: 'p1' } },
  { event_type: 'step.delta', index: 2, delta: { type: 'processing_call', signature: 'sigp' } },
  { event_type: 'step.stop', index: 2 },
  { event_type: 'step.start', index: 3, step: { type: 'model_output' } },
  { event_type: 'step.delta', index: 3, delta: { type: 'text', text: 'Zürich ' } },
  { event_type: 'step.delta', index: 3, delta: { type: 'text', text: 'is' } },
  {
    event_type: 'step.delta',
    index: 3,
    delta: { type: 'text_annotation_delta', annotations },
  },
  { event_type: 'step.delta', index: 3, delta: { type: 'image', data: 'AAEC', mime_type: 'image/png' } },
  { event_type: 'step.delta', index: 3, delta: { type: 'text', text: 'fine.' } },
  { event_type: 'step.stop', index: 3 },
  {
    event_type: 'step.start',
    index: 4,
    step: { type: 'function_call', id: 'c1', name: 'f', arguments: {}, signature: 'sig3' },
  },
  { event_type: 'step.delta', index: 4, delta: { type: 'arguments_delta', arguments: '{"a"' } },
  { event_type: 'step.delta', index: 4, delta: { type: 'arguments_delta', arguments: ':1}' } },
  { event_type: 'step.stop', index: 4 },
  { event_type: 'interaction.completed', interaction: { ...head, status: 'requires_action', usage } },
]

describe.each([
  ['whole', () => readAnswer({ ...head, status: 'requires_action', steps, usage }, from)],
  ['streamed', () => streamed(events)],
] as const)('an answer, %s', (_, answer) => {
  test('is what was thought, said, shown and called, with what the model wants back', () => {
    const { id, model, created, choices, usage: counted } = answer()
    expect([id, model, created]).toEqual(['v1_x', 'gemini-omni-flash', Date.UTC(2026, 10, 1, 12) / 1000])
    expect(counted).toMatchObject({ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 })
    expect(said(choices)).toEqual([
      {
        end: { reason: 'calls' },
        blocks: [
          { kind: 'reasoning', text: 'Hmm.', state: signed('google', 'sig1') },
          { kind: 'reasoning', text: '', form: 'sealed', state: signed('google', 'sig2') },
          { kind: 'reasoning', text: '', form: 'sealed', state: ownParts('google', [processing]) },
          {
            kind: 'text',
            text: 'Zürich is',
            citations: [
              { url: 'https://a.example', title: 'A', range: { start: 0, end: 6 } },
              { url: 'https://b.example/f', title: 'f' },
            ],
          },
          { kind: 'media', type: 'image', source: { mediaType: 'image/png', base64: 'AAEC' } },
          { kind: 'text', text: 'fine.' },
          {
            kind: 'call',
            id: 'c1',
            name: 'f',
            by: 'function',
            input: '{"a":1}',
            state: signed('google', 'sig3', 'c1'),
          },
        ],
      },
    ])
  })
})

const said1 = [{ type: 'model_output', content: [{ type: 'text', text: 'Hi' }] }]

test.each([
  ['completed', 'stop'],
  ['incomplete', 'length'],
  ['budget_exceeded', 'length'],
  ['requires_continuation', 'length'],
])('the status %s is the end %s', (status, reason) => {
  expect(readAnswer({ ...head, status, steps: said1 }, from).choices[0]?.end).toEqual({ reason })
})

test.each([
  ['an error', { error: { code: 'x', message: 'no' } }],
  ['no interaction', { hello: 1 }],
  ['failed', { status: 'failed', errors: [{ code: 'x', message: 'no' }] }],
  ['cancelled', { status: 'cancelled' }],
  ['not finished', { status: 'in_progress' }],
  ['an error of a step', { status: 'completed', steps: [{ type: 'model_output', error: { code: 13 } }] }],
])('%s is a failure', (_, body) => {
  expect(() => readAnswer(body as Fields, from)).toThrow()
})

test.each([
  ['an event of an error', [...events.slice(0, 8), { event_type: 'error', error: { code: 'x', message: 'no' } }]],
  ['an end before the last event', events.slice(0, -1)],
])('%s is a failure', (_, given) => {
  expect(() => streamed(given)).toThrow()
})

test('what a failed answer has used is billed', () => {
  const failed = { event_type: 'interaction.completed', interaction: { ...head, status: 'failed', usage } }
  expect(() => streamed([...events.slice(0, -1), failed])).toThrow(
    expect.objectContaining({ billed: expect.objectContaining({ usage: expect.anything() as unknown }) as unknown }),
  )
})
