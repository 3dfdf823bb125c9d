/** What Google's Interactions API gets of a conversation. */
import type { Interactions } from '@google/genai'
import { describe, expect, test } from 'vitest'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import { interactions } from '../../../src/formats/interactions/interactions.ts'
import { signed } from '../../../src/formats/gemini/state.ts'
import { traitsOf } from '../../../src/providers/gemini/models.ts'
import { conversations } from '../gemini/sayings.ts'
import { prefixLaw } from '../laws.ts'

const target = { model: 'public', maker: 'google', traits: traitsOf('gemini-omni-flash') }

describe('requests', () => {
  prefixLaw({
    format: interactions,
    target: { ...target, traits: { ...target.traits, fetchesUrls: true } },
    conversations,
    fixed: ['system_instruction', 'tools'],
    growing: 'input',
  })
})

function written(conversation: Partial<Conversation>, traits: object = {}) {
  const omitted: string[] = []
  const to = { ...target, traits: { ...target.traits, ...traits }, omit: (place: string) => omitted.push(place) }
  const whole: Conversation = { turns: [], tools: [], settings: {}, ...conversation }
  const { conversation: said } = interactions.prepare?.(whole, to) ?? { conversation: whole }
  return { body: JSON.parse(JSON.stringify(interactions.writeRequest(said, to))) as unknown, omitted }
}

/** The body as Google's client library has it. */
type Written = Omit<Interactions.InteractionCreateParams.CreateModelInteractionParams, 'model'>

const text = (words: string) => ({ kind: 'text', text: words }) as const

test('are steps: what was said, shown, thought, called and returned', () => {
  const { body, omitted } = written({
    turns: [
      { role: 'system', blocks: [text('Be brief.')] },
      {
        role: 'user',
        blocks: [
          text('What is this?'),
          { kind: 'media', type: 'image', source: { mediaType: 'image/png', base64: 'AAEC' } },
          { kind: 'media', type: 'file', source: { url: 'https://a.example/b.pdf' } },
        ],
      },
      {
        role: 'assistant',
        blocks: [
          { kind: 'reasoning', text: 'I look it up.', state: signed('google', 'sig1') },
          { kind: 'reasoning', text: 'Of another one.', state: { maker: 'other', data: 'x' }, place: 'messages[2]' },
          text('Let me see.'),
          { kind: 'call', id: 'c1', name: 'look up', by: 'function', input: '{"a":1}' },
          { kind: 'call', id: 'c2', name: 'now', by: 'function', input: '', state: signed('google', 'sig2', 'c2') },
        ],
      },
      {
        role: 'user',
        blocks: [
          { kind: 'result', callId: 'c1', blocks: [text('A hatch.')] },
          {
            kind: 'result',
            callId: 'c2',
            failed: true,
            blocks: [text('No.'), { kind: 'media', type: 'image', source: { mediaType: 'image/png', base64: 'AA==' } }],
          },
          text('Go on.'),
        ],
      },
      { role: 'system', blocks: [text('Be kind.')] },
    ],
  })
  expect(omitted).toEqual(['messages[2]'])
  expect(body).toEqual({
    system_instruction: 'Be brief.',
    input: [
      {
        type: 'user_input',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', data: 'AAEC', mime_type: 'image/png' },
          { type: 'document', uri: 'https://a.example/b.pdf', mime_type: 'application/pdf' },
        ],
      },
      { type: 'thought', signature: 'sig1', summary: [{ type: 'text', text: 'I look it up.' }] },
      { type: 'model_output', content: [{ type: 'text', text: 'Let me see.' }] },
      { type: 'function_call', id: 'c1', name: 'look_up', arguments: { a: 1 } },
      { type: 'function_call', id: 'c2', name: 'now', arguments: {}, signature: 'sig2' },
      { type: 'function_result', call_id: 'c1', name: 'look_up', result: 'A hatch.' },
      {
        type: 'function_result',
        call_id: 'c2',
        name: 'now',
        is_error: true,
        result: [
          { type: 'text', text: 'No.' },
          { type: 'image', data: 'AA==', mime_type: 'image/png' },
        ],
      },
      { type: 'user_input', content: [{ type: 'text', text: 'Go on.' }] },
      { type: 'user_input', content: [{ type: 'text', text: '<system>\nBe kind.\n</system>' }] },
    ],
  })
})

test('have tools, the form of the answer and settings', () => {
  const { body, omitted } = written({
    turns: [{ role: 'user', blocks: [text('Hi')] }],
    tools: [
      { kind: 'function', name: 'f', description: 'Does it', schema: { type: 'object', properties: { a: {} } } },
      { kind: 'own', format: 'gemini', type: 'googleSearch', value: { googleSearch: {} } },
    ],
    toolChoice: 'auto',
    output: { kind: 'schema', schema: { type: 'object', properties: { b: { const: 1 } } } },
    settings: {
      max: 100,
      temperature: 0.5,
      topP: 0.9,
      topK: 4,
      seed: 7,
      stops: ['END'],
      tier: 'flex',
      user: 'u',
      reasoning: { effort: 'high', show: 'summary' },
    },
  })
  expect(omitted).toEqual(['googleSearch', 'topK', 'user'])
  const expected: Written = {
    input: [{ type: 'user_input', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [
      {
        type: 'function',
        name: 'f',
        description: 'Does it',
        parameters: { type: 'object', properties: { a: {} } },
      },
    ],
    generation_config: {
      max_output_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      stop_sequences: ['END'],
      thinking_level: 'high',
      thinking_summaries: 'auto',
      tool_choice: 'auto',
    },
    response_format: [
      {
        type: 'text',
        mime_type: 'application/json',
        schema: { type: 'object', properties: { b: { enum: [1] } } },
      },
    ],
    service_tier: 'flex',
  }
  expect(body).toEqual(expected)
})

test('force one function, forbid calls, or ask for images', () => {
  const tools = [{ kind: 'function', name: 'f' }] as const
  const config = (conversation: Partial<Conversation>) => written(conversation).body
  expect(config({ tools, toolChoice: { name: 'f' } })).toMatchObject({
    generation_config: { tool_choice: { allowed_tools: { mode: 'any', tools: ['f'] } } },
  })
  expect(config({ tools, toolChoice: 'none' })).toMatchObject({ generation_config: { tool_choice: 'none' } })
  expect(config({ settings: { modalities: ['text', 'image'] } })).toMatchObject({
    response_format: [{ type: 'text' }, { type: 'image' }],
  })
})

test.each([
  ['choices', { choices: 2 }],
  ['logprobs', { logprobs: 1 }],
  ['frequencyPenalty', { frequencyPenalty: 1 }],
  ['presencePenalty', { presencePenalty: 1 }],
  ['verbosity', { verbosity: 'low' }],
  ['modalities', { modalities: ['audio'] }],
] as const)('are refused by the name of what they cannot say: %s', (param, settings) => {
  expect(() => written({ settings })).toThrow(expect.objectContaining({ status: 400, param }))
})

test('name a budget that cannot be said', () => {
  const settings = { reasoning: { budget: 2_000 } } as const
  const { body, omitted } = written({ settings }, { thinking: 'budget', budget: [0, 8_000] })
  expect([body, omitted]).toEqual([{ input: [], generation_config: { thinking_summaries: 'auto' } }, ['reasoning']])
})
