import { describe, expect, it } from 'vitest'
import type { Conversation, Tool } from '../../../src/conversation/conversation.ts'
import { withFunctionsForCustomTools } from '../../../src/formats/stages/custom-tools.ts'
import { call, end, ended, input, through } from './pieces.ts'

const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
const ofResponses = { type: 'custom', name: 'patch', description: 'Edits files.', format: grammar }
const { type: _, ...definition } = grammar
const ofChat = {
  type: 'custom',
  custom: { name: 'patch', description: 'Edits files.', format: { type: 'grammar', grammar: definition } },
}

const asked = (value: object, format: 'chat' | 'responses'): Conversation => ({
  turns: [
    { role: 'user', blocks: [{ kind: 'text', text: 'Hi' }] },
    { role: 'assistant', blocks: [{ kind: 'call', id: 'a', name: 'patch', by: 'custom', input: 'a "b"\n' }] },
    { role: 'user', blocks: [{ kind: 'result', callId: 'a', blocks: [{ kind: 'text', text: 'ok' }] }] },
  ],
  tools: [{ kind: 'own', format, type: 'custom', value: value as Record<string, unknown>, place: 'tools[0]' }],
  settings: {},
})

describe.each([
  ['a chat', ofChat, 'chat'],
  ['Responses', ofResponses, 'responses'],
] as const)('a custom tool of %s', (_name, value, format) => {
  it('becomes a function with one text, whose description has the grammar', () => {
    const [tool] = withFunctionsForCustomTools(asked(value, format)).conversation.tools as [
      Tool & { description: string },
    ]
    expect(tool).toMatchObject({ kind: 'function', name: 'patch', place: 'tools[0]' })
    expect(tool).toMatchObject({ schema: { required: ['input'], additionalProperties: false } })
    expect(tool.description).toContain('Edits files.')
    expect(tool.description).toContain('lark grammar:\nstart: "x"')
  })

  it('has its earlier calls as calls of the function', () => {
    const { turns } = withFunctionsForCustomTools(asked(value, format)).conversation
    expect(turns[1]?.blocks).toMatchObject([{ by: 'function', input: JSON.stringify({ input: 'a "b"\n' }) }])
  })
})

describe('a call of the function', () => {
  const stageOf = () => {
    const { stage } = withFunctionsForCustomTools(asked(ofResponses, 'responses'))
    if (stage === undefined) throw new Error('there is no stage')
    return stage()
  }

  it('becomes a call of the custom tool with the text, wherever the input is cut', () => {
    const json = JSON.stringify({ input: 'line\n"quoted" 🙂' })
    for (let at = 0; at <= json.length; at++) {
      const parts = [call(0, 'patch'), input(0, json.slice(0, at)), input(0, json.slice(at)), ended(0), end('calls')]
      expect(through(stageOf(), parts)).toEqual([
        { ...call(0, 'patch'), by: 'custom' },
        input(0, 'line\n"quoted" 🙂'),
        ended(0),
        end('calls'),
      ])
    }
  })

  it('has what the model wrote if that is not the text it should be', () => {
    const parts = [call(0, 'patch'), input(0, '{"patch":"x"}'), ended(0)]
    expect(through(stageOf(), parts)[1]).toEqual(input(0, '{"patch":"x"}'))
  })

  it('leaves other calls alone', () => {
    const parts = [call(0, 'lookup'), input(0, '{"input":"x"}'), ended(0)]
    expect(through(stageOf(), parts)).toEqual(parts)
  })
})

it('leaves a conversation without custom tools as it is', () => {
  const conversation: Conversation = { turns: [], tools: [], settings: {} }
  const { conversation: made, stage } = withFunctionsForCustomTools(conversation)
  expect(made).toBe(conversation)
  expect(stage).toBeUndefined()
})
