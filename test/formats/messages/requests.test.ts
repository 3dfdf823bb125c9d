import { describe, expect, it } from 'vitest'
import type { Block, Conversation, Fields } from '../../../src/conversation/conversation.ts'
import { messages } from '../../../src/formats/messages/messages.ts'
import { traitsOf } from '../../../src/providers/anthropic/models.ts'
import type { MessageTraits } from '../../../src/providers/message-traits.ts'
import { said } from '../laws.ts'

const question = { max_tokens: 1_000, messages: [{ role: 'user', content: 'Hi' }] }
const read = (body: object): Conversation => messages.readRequest({ ...question, ...body })
/** The blocks of a message after the first one. */
const blocksOf = (content: unknown, role = 'user'): unknown =>
  said(
    read({ messages: [...question.messages, { role, content }] })
      .turns.slice(1)
      .flatMap(({ blocks }) => blocks),
  )

/** What is written for a model, and what was left out of it. */
function written(conversation: Partial<Conversation>, model: string, traits: Partial<MessageTraits> = {}) {
  const omitted: string[] = []
  const to = {
    model: 'm',
    maker: 'anthropic',
    traits: { claude: traitsOf(model), ...traits },
    omit: (place: string) => void omitted.push(place),
  }
  const asked = { turns: [user('Hi')], tools: [], settings: {}, ...conversation }
  const { conversation: made } = messages.prepare?.(asked, to) ?? { conversation: asked }
  const body: Fields = JSON.parse(JSON.stringify(messages.writeRequest(made, to))) as Fields
  return { body, omitted }
}

const user = (...blocks: readonly (Block | string)[]) => ({
  role: 'user' as const,
  blocks: blocks.map((block) => (typeof block === 'string' ? ({ kind: 'text', text: block } as const) : block)),
})

describe('what is read of a message', () => {
  it('is a document with its title, what is to be known of it, and how it is to be cited', () => {
    const block = {
      type: 'document',
      source: { type: 'url', url: 'https://a.test/b.pdf' },
      title: 'B',
      context: 'A report.',
      citations: { enabled: true },
    }
    expect(blocksOf([block])).toEqual([
      {
        kind: 'media',
        type: 'file',
        source: { url: 'https://a.test/b.pdf' },
        name: 'B',
        context: 'A report.',
        own: { messages: { citations: { enabled: true } } },
      },
    ])
  })

  it('is, of what only Anthropic has, what others are told instead', () => {
    const result = { type: 'search_result', title: 'T', source: 's', content: [{ type: 'text', text: 'found' }] }
    expect(blocksOf([result, { type: 'hologram' }])).toMatchObject([
      { instead: [{ text: '<search_result>\nTitle: T\nSource: s\nfound\n</search_result>' }] },
      { instead: [{ text: '[Content of the type "hologram", which cannot be shown here]' }] },
    ])
    const used = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
    expect(blocksOf([used], 'assistant')).toEqual([{ kind: 'own', format: 'messages', value: used }])
  })

  it('is a summary of the conversation as the words of the user, with the answer after it', () => {
    const content = [
      { type: 'compaction', content: 'So far.' },
      { type: 'text', text: 'Yes.' },
    ]
    const turns = read({ messages: [{ role: 'assistant', content }] }).turns.slice(0, 2)
    expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(turns[0]?.blocks).toMatchObject([
      { instead: [{ text: 'A summary of the conversation so far:\n\nSo far.' }] },
    ])
  })

  it('is the state of any maker: bare of Anthropic, in envelopes of others', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      { type: 'thinking', thinking: '', signature: 'mh1.google.c2ln' },
      { type: 'redacted_thinking', data: 'secret' },
    ]
    expect(blocksOf(content, 'assistant')).toEqual([
      { kind: 'reasoning', text: 'Hm', state: { maker: 'anthropic', data: 'sig' } },
      { kind: 'reasoning', text: '', state: { maker: 'google', data: 'c2ln' } },
      { kind: 'reasoning', text: '', form: 'sealed', state: { maker: 'anthropic', data: 'secret' } },
    ])
  })
})

describe('tools that are read', () => {
  it('are functions with their marks, examples and strictness', () => {
    const tool = {
      name: 'lookup',
      input_schema: { type: 'object' },
      strict: true,
      cache_control: { type: 'ephemeral', ttl: '1h' },
      input_examples: [{ q: 'x' }],
    }
    expect(said(read({ tools: [tool] }).tools)).toEqual([
      {
        kind: 'function',
        name: 'lookup',
        schema: { type: 'object' },
        strict: true,
        cache: { ttl: '1h' },
        own: { messages: { input_examples: [{ q: 'x' }] } },
      },
    ])
  })

  it.each(['bash_20250124', 'text_editor_20250728', 'memory_20250818'])(
    'are, of the type %s, functions for others',
    (type) => {
      const [tool] = read({ tools: [{ type, name: 'mine' }] }).tools
      expect(tool).toMatchObject({ kind: 'own', type, instead: { kind: 'function', name: 'mine' } })
    },
  )

  it('are those that a system message adds, once each', () => {
    const definition = { name: 'later', input_schema: { type: 'object' } }
    const added = { role: 'system', content: [{ type: 'tool_addition', tool: { definition } }] }
    const { tools } = read({ tools: [definition], messages: [...question.messages, added] })
    expect(tools.map((tool) => tool.kind === 'function' && tool.name)).toEqual(['later'])
  })

  it.each(['mcp_servers', 'container', 'fallbacks', 'thread'])(
    'are refused with "%s", which only Anthropic has',
    (param) => {
      expect(() => read({ [param]: { id: 'x' } })).toThrow(
        expect.objectContaining({ code: 'unsupported_parameter', param }),
      )
    },
  )
})

describe('what the client gets of the model’s thinking', () => {
  const shown = (body: object) => messages.shownReasoning?.(read(body))
  const tools = [{ name: 'lookup', input_schema: { type: 'object' } }]

  it('is what it asks for', () => {
    expect(shown({ thinking: { type: 'adaptive' } })).toBe('shown')
    expect(shown({ thinking: { type: 'enabled', budget_tokens: 1_024, display: 'omitted' } })).toBe('hidden')
  })

  it('is, if it does not ask, what the vendor wants back for calls', () => {
    expect(shown({ tools })).toBe('hidden')
    expect(shown({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] })).toBe('none')
    expect(shown({})).toBe('none')
  })
})

describe('what is written for Claude', () => {
  it('has instructions in the middle as the words of the user, at their place', () => {
    const system = { role: 'system' as const, blocks: [{ kind: 'text' as const, text: 'Be brief.' }] }
    const { body } = written({ turns: [system, user('Hi'), system, user('Go on')] }, 'claude-opus-5')
    expect(body['system']).toBe('Be brief.')
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: ['Hi', '<system>\nBe brief.\n</system>', 'Go on'].map((text) => ({ type: 'text', text })),
      },
    ])
  })

  it('has documents by URL, and refuses files of other vendors by the client’s name', () => {
    const file = { kind: 'media', type: 'file', source: { url: 'https://a.test/b.pdf' } } as const
    const { body } = written({ turns: [user(file)] }, 'claude-opus-5')
    expect(body['messages']).toMatchObject([{ content: [{ type: 'document', source: { type: 'url' } }] }])
    const foreign = { ...file, source: { id: 'file-1' }, place: 'input[0].content[0].file_id' }
    expect(() => written({ turns: [user(foreign)] }, 'claude-opus-5')).toThrow(
      expect.objectContaining({ param: 'input[0].content[0].file_id' }),
    )
  })

  it('has its own citations again, and not those of others', () => {
    const own = { type: 'char_location', cited_text: 'x', document_index: 0 }
    const text = {
      kind: 'text',
      text: 'Rain.',
      citations: [{ own: { messages: own } }, { url: 'https://a.test', title: 'A' }],
    } as const
    const { body } = written({ turns: [user('Hi'), { role: 'assistant', blocks: [text] }, user('?')] }, 'claude-opus-5')
    expect(body['messages']).toMatchObject([{}, { content: [{ text: 'Rain.', citations: [own] }] }, {}])
  })

  it('tells what it leaves out: sampling, reasoning of others, tools of others, schemas that cannot be enforced', () => {
    const thought = {
      kind: 'reasoning',
      text: 'Hm',
      state: { maker: 'google', data: 'x' },
      place: 'messages[1]',
    } as const
    const open = { type: 'object', additionalProperties: { type: 'number' } }
    const { body, omitted } = written(
      {
        turns: [user('Hi'), { role: 'assistant', blocks: [thought, { kind: 'text', text: 'Yes' }] }, user('?')],
        tools: [
          { kind: 'function', name: 'prices', schema: open, strict: true, place: 'tools[0]' },
          { kind: 'own', format: 'responses', type: 'file_search', value: { type: 'file_search' }, place: 'tools[1]' },
        ],
        settings: { temperature: 0.5, topP: 0.9 },
      },
      'claude-opus-5',
    )
    expect(omitted).toEqual(['messages[1]', 'tools[0].strict', 'tools[1]', 'temperature', 'topP'])
    expect(body['tools']).toEqual([{ name: 'prices', input_schema: open }])
    expect(body).not.toHaveProperty('temperature')
  })

  it('refuses sampling that the model does not accept if the host chooses so', () => {
    expect(() => written({ settings: { temperature: 0.5 } }, 'claude-opus-5', { sampling: 'refuse' })).toThrow(
      expect.objectContaining({ code: 'unsupported_value', param: 'temperature' }),
    )
  })

  it('takes a budget of thinking as an effort where the model has efforts', () => {
    const budget = (tokens: number) =>
      written({ settings: { max: 20_000, reasoning: { mode: 'on', budget: tokens } } }, 'claude-opus-5').body
    expect(budget(12_000)).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })
    expect(budget(2_500)).toMatchObject({ output_config: { effort: 'low' } })
  })

  it('keeps the digits of large integers in the input of calls', () => {
    const call = { kind: 'call', id: 'a', name: 'f', by: 'function', input: '{"id":1234567890123456789}' } as const
    const to = { model: 'm', maker: 'anthropic', traits: {}, omit: () => {} }
    const turns = [user('Hi'), { role: 'assistant' as const, blocks: [call] }]
    const body = messages.writeRequest({ turns, tools: [], settings: {} }, to)
    expect(JSON.stringify(body)).toContain('{"id":1234567890123456789}')
  })
})
