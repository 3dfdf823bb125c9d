import { describe, expect, it } from 'vitest'
import type { Block, Fields, State } from '../../../src/conversation/conversation.ts'
import type { End, Part } from '../../../src/conversation/parts.ts'
import { fold } from '../../../src/conversation/fold.ts'
import { partsOf } from '../../../src/conversation/unfold.ts'
import type { Asked } from '../../../src/formats/format.ts'
import { messages } from '../../../src/formats/messages/messages.ts'
import { asked, from, read, written } from '../laws.ts'

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }

function whole(blocks: readonly Block[], end: End = { reason: 'stop' }, to: Partial<Asked> = {}) {
  const answer = { choices: [{ blocks, end }], usage }
  return messages.writeAnswer(answer, { ...asked, ...to }) as Fields & { readonly content: readonly Fields[] }
}

function streamed(blocks: readonly Block[], end: End = { reason: 'stop' }, to: Partial<Asked> = {}): readonly Fields[] {
  const parts = partsOf({ choices: [{ blocks, end }], usage })
  return written(messages, parts, { ...asked, ...to })
}

const started = (events: readonly Fields[]) =>
  events
    .filter(({ type }) => type === 'content_block_start')
    .map(({ content_block: block }) => (block as Fields)['type'])

const signature: State = { maker: 'google', data: 'c2ln' }
const call = { kind: 'call', id: 'call_1', name: 'lookup', by: 'function', input: '{"q":"x"}' } as const

describe('a message for a client', () => {
  it('has the fields that the types of clients require', () => {
    expect(whole([{ kind: 'text', text: 'Hello' }, call], { reason: 'calls' })).toMatchObject({
      content: [
        { type: 'text', citations: null },
        { type: 'tool_use', caller: { type: 'direct' } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: { inference_geo: null, server_tool_use: null, service_tier: null, cache_read_input_tokens: 0 },
    })
    const [start, ...rest] = streamed([{ kind: 'text', text: 'Hello' }])
    expect(start).toMatchObject({ message: { container: null, stop_details: null, usage: { service_tier: null } } })
    expect(rest.at(-2)).toMatchObject({ type: 'message_delta', delta: { container: null, stop_details: null } })
  })

  it('has the words of a refusal as text, and says that it is one', () => {
    const refusal: Block = { kind: 'refusal', text: 'I will not.' }
    expect(whole([refusal])).toMatchObject({
      content: [{ type: 'text', text: 'I will not.' }],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: null },
    })
    expect(streamed([refusal]).at(-2)).toMatchObject({ delta: { stop_reason: 'refusal' } })
    expect(JSON.stringify(streamed([refusal]))).toContain('I will not.')
  })

  it('has citations of others as results of a search', () => {
    const text: Block = { kind: 'text', text: 'Rain.', citations: [{ url: 'https://a.test', title: 'A' }] }
    const cited = { type: 'web_search_result_location', url: 'https://a.test', title: 'A' }
    expect(whole([text]).content).toMatchObject([{ citations: [cited] }])
    expect(streamed([text])).toContainEqual(
      expect.objectContaining({ delta: expect.objectContaining({ type: 'citations_delta' }) }),
    )
  })

  it('says that there is a file, which it cannot hold', () => {
    const image = (source: object) => ({ kind: 'media', type: 'image', source }) as Block
    expect(whole([image({ url: 'https://a.test/b.png' })]).content).toMatchObject([{ text: 'https://a.test/b.png' }])
    const [made] = whole([image({ mediaType: 'image/png', base64: 'AAEC' })]).content
    expect(made).toMatchObject({ type: 'text', text: expect.stringContaining('"image"') })
  })

  it('has a signature of a call before it, in thinking without text', () => {
    const sealed = { type: 'thinking', thinking: '', signature: 'mh1.google.c2ln' }
    expect(whole([{ ...call, state: signature }]).content).toMatchObject([sealed, { type: 'tool_use' }])
    expect(started(streamed([{ ...call, state: signature }], { reason: 'calls' }))).toEqual(['thinking', 'tool_use'])
  })

  it('has thinking without its text, or none, if the client expects that', () => {
    const thought: Block = { kind: 'reasoning', text: 'Hm', state: signature }
    const text: Block = { kind: 'text', text: 'Yes' }
    expect(whole([thought, text], undefined, { reasoning: 'hidden' }).content[0]).toMatchObject({ thinking: '' })
    expect(JSON.stringify(streamed([thought, text], undefined, { reasoning: 'hidden' }))).not.toContain('Hm')
    expect(whole([thought, text], undefined, { reasoning: 'none' }).content).toMatchObject([{ type: 'text' }])
    expect(started(streamed([thought, text], undefined, { reasoning: 'none' }))).toEqual(['text'])
  })

  it('ends with its text for clients that read the last block alone', () => {
    const text: Block = { kind: 'text', text: 'Yes', state: signature }
    expect(started(streamed([text]))).toEqual(['text', 'thinking'])
    expect(started(streamed([text], undefined, { readsLastBlock: true }))).toEqual(['text'])
  })

  it('has no text of white space alone, which vendors reject when it is sent back', () => {
    const blocks: Block[] = [{ kind: 'text', text: ' \n' }, call]
    expect(started(streamed(blocks, { reason: 'calls' }))).toEqual(['tool_use'])
    expect(whole(blocks).content).toMatchObject([{ type: 'tool_use' }])
  })

  it('has calls that the model wrote at the same time one after the other', () => {
    const at = (block: number) => ({ choice: 0, block }) as const
    const parts: Part[] = [
      { kind: 'call', ...at(0), id: 'a', name: 'f', by: 'function' },
      { kind: 'call', ...at(1), id: 'b', name: 'g', by: 'function' },
      { kind: 'input', ...at(1), text: '{"b":' },
      { kind: 'input', ...at(0), text: '{"a":1}' },
      { kind: 'text', ...at(2), text: 'Both.' },
      { kind: 'input', ...at(1), text: '2}' },
      { kind: 'ended', ...at(0) },
      { kind: 'ended', ...at(1) },
      { kind: 'end', choice: 0, end: { reason: 'calls' } },
    ]
    const events = written(messages, parts)
    const answer = read(messages, events, { ...from, maker: 'anthropic' })
    const inputs = answer.flatMap((part) => (part.kind === 'input' ? [part.text] : []))
    expect(started(events)).toEqual(['tool_use', 'tool_use', 'text'])
    expect(inputs.join('')).toBe('{"a":1}{"b":2}')
  })
})

describe('a call whose input is not JSON', () => {
  const broken: Block = { ...call, input: '{"q": "x' }

  it('is in a whole message what the model wrote', () => {
    expect(whole([broken], { reason: 'calls' }).content).toMatchObject([{ input: { invalid_arguments: '{"q": "x' } }])
  })

  it('fails a stream, whose client has read it already, unless the answer was cut', () => {
    expect(() => streamed([broken], { reason: 'calls' })).toThrow(
      expect.objectContaining({ code: 'service_unavailable' }),
    )
    expect(streamed([broken], { reason: 'length' }).at(-1)).toEqual({ type: 'message_stop' })
  })
})

describe('a message of a vendor', () => {
  const source = { ...from, maker: 'anthropic' }
  const message = { id: 'msg_1', type: 'message', content: [], stop_reason: 'end_turn', usage: {} }

  it('says why the model refused', () => {
    const details = { type: 'refusal', category: 'cyber', explanation: 'Not that.' }
    const refused = { ...message, stop_reason: 'refusal', stop_details: details }
    expect(messages.readAnswer(refused, source).choices[0]).toMatchObject({
      blocks: [{ kind: 'refusal', text: 'Not that.' }],
      end: { reason: 'refused' },
    })
    const delta = { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: details } }
    const events = [{ type: 'message_start', message }, delta]
    expect(read(messages, events, source)).toContainEqual(
      expect.objectContaining({ kind: 'refusal', text: 'Not that.' }),
    )
  })

  it('keeps thinking without a signature for models that want it back, other than Claude', () => {
    const content = [{ type: 'thinking', thinking: 'Hm', signature: '' }]
    const stateFor = (maker: string) =>
      messages.readAnswer({ ...message, content }, { ...from, maker }).choices[0]?.blocks[0]?.state
    expect(stateFor('messages/kimi')).toEqual({ maker: 'messages/kimi', data: '' })
    expect(stateFor('anthropic')).toBeUndefined()
  })

  it.each([
    ['no content', { ...message, content: undefined }],
    ['a call without a name', { ...message, content: [{ type: 'tool_use', id: 'a', input: {} }] }],
    ['a block that is none', { ...message, content: [7] }],
    ['no end', { ...message, stop_reason: null }],
    [
      'too many calls',
      { ...message, content: Array.from({ length: 1_001 }, () => ({ type: 'tool_use', id: 'a', name: 'f' })) },
    ],
  ])('fails the attempt if it has %s', (_, body) => {
    expect(() => messages.readAnswer(body, source)).toThrow(expect.objectContaining({ code: 'service_unavailable' }))
  })

  it('fails the attempt if its stream has too many calls', () => {
    const reader = messages.eventReader(source)
    const call = { type: 'content_block_start', content_block: { type: 'tool_use', id: 'a', name: 'f' } }
    const parts: Part[] = []
    expect(() => {
      for (let index = 0; index <= 1_000; index++) reader.read({ ...call, index }, parts)
    }).toThrow(expect.objectContaining({ code: 'service_unavailable' }))
  })
})

it('has no words of a block for clients of other formats, whole or streamed', () => {
  const content = [
    { type: 'compaction', content: 'We spoke of rain.' },
    { type: 'tool_reference', tool_name: 'lookup' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rain' } },
  ]
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', usage: {} }
  const events = [
    { type: 'message_start', message: { ...message, content: [] } },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ]
  const whole = messages.readAnswer({ ...message, content, stop_reason: 'end_turn' }, from)
  const blocks = whole.choices[0]?.blocks.map((block) => ({ ...block, place: undefined }))
  expect(blocks?.map((block) => 'instead' in block)).toEqual([false, false, false])
  expect(fold(read(messages, events)).choices[0]?.blocks).toEqual(blocks)
})
