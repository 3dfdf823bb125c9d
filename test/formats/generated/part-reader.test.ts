import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/conversation/parts.ts'
import { PartReader } from '../../../src/formats/generated/part-reader.ts'
import { fold } from '../../../src/conversation/fold.ts'
import {
  citation,
  finish,
  image,
  reasoning,
  refusal,
  text,
  toolCall,
  type GeneratedPart,
} from 'modelhatch/providers/custom'

function partsOf(yielded: readonly unknown[]): Part[] {
  const reader = new PartReader('parrot')
  const parts: Part[] = []
  for (const each of yielded) reader.read(each, parts)
  reader.end(parts)
  return parts
}

function blocksOf(yielded: readonly GeneratedPart[], choice = 0) {
  return fold(partsOf(yielded)).choices[choice]?.blocks
}

const png = { mediaType: 'image/png', base64: 'AAAA' }

describe('the parts that a provider generates', () => {
  test('continue the block before if they are of its kind, and else begin the next one', () => {
    const parts = [reasoning('Hm'), reasoning('…'), text('Hel'), text('lo'), image(png), image(png), text('Bye')]
    expect(blocksOf(parts)).toEqual([
      { kind: 'reasoning', text: 'Hm…' },
      { kind: 'text', text: 'Hello' },
      { kind: 'media', type: 'image', source: png },
      { kind: 'media', type: 'image', source: png },
      { kind: 'text', text: 'Bye' },
    ])
  })

  test('are calls as a whole or in pieces, each with an id and an input', () => {
    const parts = [
      toolCall({ name: 'a', arguments: '{"x":' }),
      toolCall({ arguments: '1}' }),
      toolCall({ name: 'b', id: 'call_b' }),
      toolCall({ name: 'c', id: 'call_b', arguments: '{"y":2}' }),
    ]
    const [a, b, c] = blocksOf(parts) ?? []
    expect(a).toMatchObject({ kind: 'call', by: 'function', name: 'a', input: '{"x":1}' })
    expect(b).toMatchObject({ name: 'b', id: 'call_b', input: '{}' })
    expect(c).toMatchObject({ name: 'c', input: '{"y":2}' })
    const ids = [a, b, c].map((block) => (block?.kind === 'call' ? block.id : ''))
    expect(new Set(ids).size).toBe(3)
    expect(fold(partsOf(parts)).choices[0]?.end).toEqual({ reason: 'calls' })
  })

  test('may be calls that are written at the same time, each in a block with a number', () => {
    const parts: GeneratedPart[] = [
      { kind: 'call', name: 'a', block: 7 },
      { kind: 'call', name: 'b', block: 9 },
      { kind: 'input', text: '{"b":', block: 9 },
      { kind: 'input', text: '{"a":1}', block: 7 },
      { kind: 'input', text: '2}', block: 9 },
    ]
    expect(blocksOf(parts)).toMatchObject([
      { name: 'a', input: '{"a":1}' },
      { name: 'b', input: '{"b":2}' },
    ])
  })

  test('say when a call is complete: as soon as another block begins', () => {
    const kinds = partsOf([toolCall({ name: 'a' }), text('…'), finish('stop')]).map(({ kind }) => kind)
    expect(kinds).toEqual(['call', 'input', 'ended', 'text', 'end'])
  })

  test('count the blocks of all choices, and keep the choices apart', () => {
    const parts = [text('a', 0), text('b', 1), text('A', 0), text('B', 1), finish('length', undefined, 1)]
    expect(partsOf(parts).map((part) => ('block' in part ? part.block : part.kind))).toEqual([0, 1, 0, 1, 'end', 'end'])
    const [first, second] = fold(partsOf(parts)).choices
    expect(first).toEqual({ blocks: [{ kind: 'text', text: 'aA' }], end: { reason: 'stop' } })
    expect(second).toEqual({ blocks: [{ kind: 'text', text: 'bB' }], end: { reason: 'length' } })
  })

  test('are citations of the text before, refusals, states, and usage with the end', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    const state = { maker: 'parrot', data: 'x' }
    const parts: GeneratedPart[] = [
      text('So.'),
      citation({ url: 'https://example.com' }),
      { kind: 'state', state },
      refusal('No'),
      finish('refused', usage),
    ]
    expect(fold(partsOf(parts))).toMatchObject({
      choices: [
        {
          blocks: [
            { kind: 'text', text: 'So.', citations: [{ url: 'https://example.com' }], state },
            { kind: 'refusal', text: 'No' },
          ],
          end: { reason: 'refused' },
        },
      ],
      usage,
    })
  })
})

describe('a provider that breaks the contract is named with what to change', () => {
  test.each<[string, readonly unknown[], RegExp]>([
    ['a text', ['Hello'], /yielded "Hello". Yield parts, such as text\('Hello'\)/],
    ['a chunk of a chat', [{ choices: [] }], /chunk of a chat.*or serve chats by `chat`/],
    ['an unknown kind', [{ kind: 'txt', text: 'x' }], /kind "txt". The kinds are start, text, reasoning/],
    ['a text without text', [{ kind: 'text' }], /"text" is undefined, not of type string/],
    ['a call without a name', [{ kind: 'call', name: '' }], /Name the tool/],
    ['an input without a call', [text('a'), toolCall({ arguments: '{}' })], /before the call. Yield toolCall/],
    [
      'an input after its call',
      [toolCall({ name: 'a' }), text('b'), toolCall({ arguments: '{}' })],
      /has ended.*"block"/,
    ],
    [
      'content after the end',
      [finish('stop'), text('more')],
      /"text" after the end of choice 0. Yield finish\(\) last/,
    ],
    [
      'the words of a chat for an end',
      [text('a'), { kind: 'end', end: { reason: 'tool_calls' } }],
      /the end "tool_calls". The ends are stop, length, calls, filter, refused/,
    ],
    ['an end without a reason', [{ kind: 'end', end: {} }], /the end undefined. The ends are/],
    [
      'an object for the arguments of a call',
      [{ kind: 'call', name: 'a', input: { x: 1 } }],
      /a call whose input is object. Write its arguments as JSON text/,
    ],
    ['a choice below 0', [text('a', -1)], /the choice -1. Choices are numbered from 0/],
    [
      'a block of two kinds',
      [
        { kind: 'text', text: 'a', block: 1 },
        { kind: 'reasoning', text: 'b', block: 1 },
      ],
      /"reasoning" in block 1, which is "text"/,
    ],
    ['a citation without a text', [citation({})], /before any text/],
    [
      'usage that falls',
      [
        { kind: 'usage', usage: { prompt_tokens: 9, completion_tokens: 2 } },
        { kind: 'usage', usage: { prompt_tokens: 9, completion_tokens: 1 } },
      ],
      /"completion_tokens" falls from 2 to 1/,
    ],
  ])('%s', (_, yielded, message) => {
    expect(() => partsOf(yielded)).toThrow(message)
    expect(() => partsOf(yielded)).toThrow(/^the provider "parrot" broke the contract of generate: it yielded/)
  })
})
