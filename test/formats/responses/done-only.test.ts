/** What a vendor says only in the last events of a stream, not piece by piece, or again there. */
import { describe, expect, test } from 'vitest'
import type { Fields } from '../../../src/conversation/conversation.ts'
import { fold } from '../../../src/conversation/fold.ts'
import type { Part } from '../../../src/conversation/parts.ts'
import { ChatEventWriter } from '../../../src/formats/chat/event-writer.ts'
import { chat } from '../../../src/formats/chat/chat.ts'
import { gemini } from '../../../src/formats/gemini/gemini.ts'
import { messages } from '../../../src/formats/messages/messages.ts'
import { ResponseEventReader } from '../../../src/formats/responses/event-reader.ts'

function partsOf(events: readonly Fields[], output: readonly Fields[]): Part[] {
  const reader = new ResponseEventReader({ maker: 'openai', failure: (error) => new Error(JSON.stringify(error)) })
  const parts: Part[] = []
  const response = { id: 'resp_1', created_at: 1, model: 'm', output: [] }
  reader.read({ type: 'response.created', response }, parts)
  for (const event of events) reader.read(event, parts)
  reader.read({ type: 'response.completed', response: { ...response, output } }, parts)
  reader.end()
  return parts
}

/** The blocks that are said, without what is undefined. */
function blocksOf(events: readonly Fields[], output: readonly Fields[] = []): Fields[] {
  const [choice] = fold(partsOf(events, output)).choices
  return JSON.parse(JSON.stringify(choice?.blocks ?? [])) as Fields[]
}

const link = { type: 'url_citation', url: 'https://a.test/', title: 'A', start_index: 0, end_index: 2 }
const tokens = [
  { token: 'Hel', logprob: -0.1 },
  { token: 'lo', logprob: -0.2 },
]
const textOf = (text: string, more: object = {}) => ({ type: 'output_text', text, annotations: [], ...more })
const message = (...content: object[]) => ({ type: 'message', id: 'msg_1', role: 'assistant', content })
const at = { output_index: 0, content_index: 0, item_id: 'msg_1' }
const added = { type: 'response.output_item.added', output_index: 0, item: message() }
const delta = (text: string, more: object = {}) => ({ type: 'response.output_text.delta', ...at, delta: text, ...more })
const partDone = (part: object, more: object = {}) => ({ type: 'response.content_part.done', ...at, part, ...more })
const itemDone = (item: object, index = 0) => ({ type: 'response.output_item.done', output_index: index, item })
const cited = [{ kind: 'text', text: 'Hello', citations: [{ url: link.url, title: 'A', range: { start: 0, end: 2 } }] }]

describe('the text and its citations', () => {
  const whole = textOf('Hello', { annotations: [link] })
  test.each([
    ['the part', [partDone(whole)], []],
    ['the item', [itemDone(message(whole))], []],
    ['the response', [], [message(whole)]],
    ['all of them', [partDone(whole), itemDone(message(whole))], [message(whole)]],
    ['the response, and the item without its content', [itemDone(message())], [message(whole)]],
  ])('come at the end of %s', (_, ends, output) => {
    expect(blocksOf([added, ...ends], output)).toEqual(cited)
    expect(blocksOf([added, delta('Hel'), delta('lo'), ...ends], output)).toEqual(cited)
    expect(blocksOf([added, delta('Hel'), ...ends], output)).toEqual(cited)
    const annotation = { type: 'response.output_text.annotation.added', ...at, annotation: link }
    expect(blocksOf([added, delta('Hello'), annotation, ...ends], output)).toEqual(cited)
    expect(blocksOf([added, annotation, delta('Hello'), ...ends], output)).toEqual(cited)
  })

  test.each([chat, messages, gemini])('reach clients of $name', (format) => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' }
    for (const [ends, output] of [
      [[partDone(whole)], []],
      [[itemDone(message(whole))], []],
      [[], [message(whole)]],
      [
        [itemDone(message(whole)), itemDone(call, 1)],
        [message(whole), call],
      ],
      // Messages end a text before a call.
      ...(format === messages ? [] : [[[itemDone(call, 1)], [message(whole), call]] as const]),
    ] as const) {
      const writer = format.eventWriter({ id: 'a', created: 1, model: 'm', usage: true })
      const out: Fields[] = []
      for (const part of partsOf([added, delta('Hello'), ...ends], output)) writer.write(part, out)
      writer.end(out)
      expect(JSON.stringify(out).split(link.url)).toHaveLength(2)
    }
  })

  test('a text that ends otherwise than it came is not said again', () => {
    expect(blocksOf([added, delta('Hullo'), itemDone(message(textOf('Hello there')))])).toEqual([
      { kind: 'text', text: 'Hullo' },
    ])
  })

  test('the second part of a message of which only the first came in pieces', () => {
    const item = message(textOf('Hello'), { type: 'refusal', refusal: 'No.' })
    const said = [
      { kind: 'text', text: 'Hello' },
      { kind: 'refusal', text: 'No.' },
    ]
    const done = { type: 'response.refusal.done', output_index: 0, content_index: 1, refusal: 'No.' }
    for (const events of [[itemDone(item)], [done], [done, itemDone(item)]])
      expect(blocksOf([added, delta('Hello'), ...events], [item])).toMatchObject(said)
    expect(blocksOf([added, delta('Hello')], [item])).toMatchObject(said)
  })

  test('pieces that do not say of which part they are are not said again', () => {
    const loose = (text: string) => ({ type: 'response.output_text.delta', output_index: 0, delta: text })
    const item = message(textOf('Hello'), textOf(' you'))
    expect(blocksOf([added, loose('Hello'), loose(' you'), itemDone(item)], [item])).toEqual([
      { kind: 'text', text: 'Hello you' },
    ])
  })

  test('of output_text.done alone', () => {
    const done = { type: 'response.output_text.done', ...at, text: 'Hello', logprobs: tokens }
    const said = [{ kind: 'text', text: 'Hello', logprobs: tokens }]
    expect(blocksOf([added, done])).toEqual(said)
    expect(blocksOf([added, delta('Hel', { logprobs: tokens.slice(0, 1) }), done])).toEqual(said)
    expect(blocksOf([added, delta('Hello'), done, itemDone(message(textOf('Hello', { logprobs: tokens })))])).toEqual(
      said,
    )
  })

  test('log probabilities that come after the text reach a chat', () => {
    const writer = new ChatEventWriter({ id: 'c', created: 1, model: 'm' })
    const out: object[] = []
    const done = { type: 'response.output_text.done', ...at, text: 'Hello', logprobs: tokens }
    for (const part of partsOf([added, delta('Hello'), done], [])) writer.write(part, out as never)
    const choices = (out as { choices: { logprobs: unknown }[] }[]).flatMap((chunk) => chunk.choices)
    expect(choices.flatMap(({ logprobs }) => logprobs ?? [])).toEqual([{ content: tokens, refusal: null }])
  })
})

describe('calls', () => {
  test.each([
    ['function_call', 'response.function_call_arguments', 'arguments'],
    ['custom_tool_call', 'response.custom_tool_call_input', 'input'],
  ])('the input of a %s', (type, event, field) => {
    const item = { type, id: 'fc_1', call_id: 'call_1', name: 'f', [field]: '' }
    const whole = { ...item, [field]: '{"a":1}' }
    const begun = { type: 'response.output_item.added', output_index: 0, item }
    const piece = { type: `${event}.delta`, output_index: 0, delta: '{"a"' }
    const done = { type: `${event}.done`, output_index: 0, [field]: '{"a":1}' }
    for (const pieces of [[], [piece]])
      for (const [events, output] of [
        [[done], []],
        [[done, itemDone(whole)], [whole]],
        [[itemDone(whole)], []],
        [[], [whole]],
      ] as const) {
        expect(blocksOf([begun, ...pieces, ...events], output)).toMatchObject([{ kind: 'call', input: '{"a":1}' }])
        const ends = partsOf([begun, ...pieces, ...events], output).filter(({ kind }) => kind === 'ended')
        expect(ends.length).toBeLessThanOrEqual(1)
      }
  })

  test('a call and a hosted call which only the response has, beside a text', () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' }
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } }
    const output = [message(textOf('Hello')), search, call]
    const kinds = [
      { kind: 'text', text: 'Hello' },
      { kind: 'own', value: search },
      { kind: 'call', id: 'call_1' },
    ]
    expect(blocksOf([added, delta('Hello'), itemDone(message(textOf('Hello')))], output)).toMatchObject(kinds)
    const begun = { type: 'response.output_item.added', output_index: 1, item: search }
    expect(blocksOf([added, delta('Hello'), begun], output)).toMatchObject(kinds)
    expect(blocksOf([added, delta('Hello'), itemDone(search, 1), itemDone(call, 2)], output)).toHaveLength(3)
    const end = partsOf([added, delta('Hello')], output).find(({ kind }) => kind === 'end')
    expect(end).toMatchObject({ end: { reason: 'calls' } })
  })

  test('items that the response numbers and names anew are not said again', () => {
    const thought = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }] }
    const events = [itemDone(thought), { ...delta('Hello'), output_index: 1 }, itemDone(message(textOf('Hello')), 1)]
    const output = [{ ...message(textOf('Hello')), id: 'msg_2' }]
    expect(blocksOf(events, output)).toHaveLength(2)
  })
})

describe('reasoning', () => {
  const summary = [
    { type: 'summary_text', text: 'One' },
    { type: 'summary_text', text: 'Two' },
  ]
  const item = { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'secret' }
  const begun = { type: 'response.output_item.added', output_index: 0, item: { ...item, summary: [] } }
  const piece = (text: string, index: number) => ({
    type: 'response.reasoning_summary_text.delta',
    output_index: 0,
    summary_index: index,
    delta: text,
  })
  const textDone = (index: number) => ({
    type: 'response.reasoning_summary_text.done',
    output_index: 0,
    summary_index: index,
    text: summary[index]?.text,
  })
  const part = (index: number) => ({
    type: 'response.reasoning_summary_part.done',
    output_index: 0,
    summary_index: index,
    part: summary[index],
  })

  test.each([
    ['texts', [textDone(0), textDone(1)], []],
    ['parts', [part(0), part(1)], []],
    ['texts, parts and the item', [textDone(0), part(0), textDone(1), part(1), itemDone(item)], [item]],
    ['the item', [itemDone(item)], []],
    ['the response', [], [item]],
  ])('comes at the end of %s', (_, ends, output) => {
    for (const pieces of [[], [piece('O', 0)], [piece('One', 0)]])
      expect(blocksOf([begun, ...pieces, ...ends], output)).toMatchObject([{ kind: 'reasoning', text: 'One\n\nTwo' }])
  })

  test('in plain text', () => {
    const done = { type: 'response.reasoning_text.done', output_index: 0, content_index: 0, text: 'Hm' }
    const whole = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] }
    const start = { ...begun, item: { ...whole, content: [] } }
    const first = { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'H' }
    for (const ends of [[done], [done, itemDone(whole)], [itemDone(whole)]])
      for (const events of [ends, [first, ...ends]])
        expect(blocksOf([start, ...events], [whole])).toMatchObject([{ kind: 'reasoning', text: 'Hm' }])
  })

  test('what is sealed comes once', () => {
    const states = partsOf([begun, piece('One', 0), itemDone(item)], [item]).filter(({ kind }) => kind === 'state')
    expect(states).toHaveLength(1)
    expect(partsOf([begun, piece('One', 0)], [item]).filter(({ kind }) => kind === 'state')).toHaveLength(1)
  })
})
