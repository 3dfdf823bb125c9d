import { describe, expect, it } from 'vitest'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import { answerTool, withAnswerTool } from '../../../src/formats/stages/answer-tool.ts'
import { call, end, ended, input, text, through } from './pieces.ts'

const output = { kind: 'schema', schema: { type: 'object' } } as const
const asked: Conversation = { turns: [], tools: [], output, settings: {} }
const lookup = { kind: 'function', name: 'lookup' } as const

describe('a schema as a tool', () => {
  it('is forced if the client has no tools, and is the only call', () => {
    const { conversation, name } = withAnswerTool(asked, { ...output, name: 'person' }, true)
    expect(name).toBe('person')
    expect(conversation).toMatchObject({ toolChoice: { name: 'person' }, parallel: false })
    expect(conversation.tools).toMatchObject([{ name: 'person', schema: output.schema }])
    expect(conversation).not.toHaveProperty('output')
  })

  it('is one of the tools that may be called if the client has others, under a name that none has', () => {
    const { conversation, name } = withAnswerTool({ ...asked, tools: [{ ...lookup, name: 'json' }] }, output, true)
    expect(name).toBe('json_answer')
    expect(conversation).toMatchObject({ toolChoice: 'any' })
    expect(conversation).not.toHaveProperty('parallel')
  })

  it('is not forced while the model reasons, and leaves a forced call to the client', () => {
    expect(withAnswerTool(asked, output, false).conversation.toolChoice).toBe('auto')
    const choice = { name: 'lookup' }
    expect(
      withAnswerTool({ ...asked, tools: [lookup], toolChoice: choice }, output, true).conversation.toolChoice,
    ).toBe(choice)
  })
})

describe('the call of the answer tool', () => {
  it('becomes the text of the answer, without what the model said before it', () => {
    const parts = [
      text(0, "I'll invoke the JSON "),
      text(0, 'response tool.'),
      call(1, 'json'),
      input(1, '{"a"'),
      input(1, ':1}'),
      ended(1),
      end('calls'),
    ]
    expect(through(answerTool('json'), parts)).toEqual([text(1, '{"a"'), text(1, ':1}'), end('stop')])
  })

  it('drops what the model says after it', () => {
    const parts = [call(0, 'json'), input(0, '{}'), ended(0), text(1, 'Done.'), end('calls')]
    expect(through(answerTool('json'), parts)).toEqual([text(0, '{}'), end('stop')])
  })

  it('leaves an answer without the call as it is, with all that belongs to its text', () => {
    const citation = { kind: 'citation', choice: 0, block: 0, citation: { url: 'https://a.test' } } as const
    const parts = [text(0, 'No.'), citation, end('stop')]
    expect(through(answerTool('json'), parts)).toEqual(parts)
  })

  it('passes on calls of other tools with the text before them', () => {
    const parts = [text(0, 'Let me see.'), call(1, 'lookup'), input(1, '{}'), ended(1), end('calls')]
    expect(through(answerTool('json'), parts)).toEqual(parts)
  })

  it('passes on reasoning at once', () => {
    const thought = { kind: 'reasoning', choice: 0, block: 0, text: 'Hm' } as const
    expect(through(answerTool('json'), [thought])).toEqual([thought])
  })
})
