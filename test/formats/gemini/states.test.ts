import { describe, expect, test } from 'vitest'
import type { Block, ReasoningBlock } from '../../../src/conversation/conversation.ts'
import { partsOf } from '../../../src/conversation/unfold.ts'
import { gemini } from '../../../src/formats/gemini/gemini.ts'
import { isRecord, type Fields } from '../../../src/wire/json.ts'
import { asked, said, wire, written } from '../laws.ts'

const thinking: ReasoningBlock = { kind: 'reasoning', text: 'Hm.', state: { maker: 'anthropic', data: 'sig' } }
const redacted: ReasoningBlock = {
  kind: 'reasoning',
  text: '',
  form: 'sealed',
  state: { maker: 'anthropic', data: 'data' },
}
const call: Block = { kind: 'call', id: 'toolu_1', name: 'look', by: 'function', input: '{"q":1}' }
const text: Block = { kind: 'text', text: 'Done.' }

function partsIn(body: Fields): Fields[] {
  const { candidates } = body as { candidates: { content?: { parts?: Fields[] } }[] }
  return candidates.flatMap(({ content }) => content?.parts ?? [])
}

/** The parts that a client gets, whole and streamed. */
function answered(blocks: readonly Block[]): { whole: Fields[]; streamed: Fields[] } {
  const answer = { choices: [{ blocks, end: { reason: 'stop' as const } }] }
  const events = written(gemini, partsOf(answer))
  return {
    whole: partsIn(wire(gemini.writeAnswer(answer, asked))),
    streamed: events
      .flatMap((event) => partsIn(wire(event)))
      .filter((part) => part['text'] !== '' || part['thoughtSignature']),
  }
}

function readBack(parts: readonly Fields[]): unknown {
  const contents = [{ role: 'model', parts }]
  return said(gemini.readRequest({ contents }).turns[0]?.blocks)
}

describe("reasoning of another vendor's model", () => {
  test.each([
    ['a call', [thinking, redacted, call]],
    ['a text', [thinking, redacted, text]],
    ['text and calls', [thinking, text, redacted, call]],
    ['a call with a state of its own', [thinking, { ...call, state: { maker: 'deepseek', data: 'x' } }]],
  ])('before %s comes back with the answer', (_, blocks) => {
    const { whole, streamed } = answered(blocks)
    expect(readBack(whole)).toEqual(said(blocks))
    expect(readBack(streamed)).toEqual(said(blocks))
  })

  test('comes back from clients that drop thoughts', () => {
    const { streamed } = answered([thinking, call])
    expect(readBack(streamed.filter(({ thought }) => thought !== true))).toEqual(said([thinking, call]))
  })

  test('at the end is carried by an empty text', () => {
    const { whole } = answered([thinking])
    expect(whole).toEqual([
      { text: 'Hm.', thought: true },
      { text: '', thoughtSignature: expect.any(String) },
    ])
    expect(readBack(whole)).toEqual(said([thinking]))
  })

  test('is base64, as clients expect of a signature', () => {
    const [, part] = answered([thinking, call]).whole
    const signature = String(part?.['thoughtSignature'])
    expect(Buffer.from(signature, 'base64').toString('base64')).toBe(signature)
  })

  test('is not sent to Google, which is told that the call has no signature', () => {
    const omitted: string[] = []
    const to = {
      model: 'm',
      maker: 'google',
      traits: { thinking: 'levels' as const, wantsSignatures: true },
      omit: (place: string) => omitted.push(place),
    }
    const conversation = gemini.readRequest({
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: answered([thinking, call]).whole },
        { role: 'user', parts: [{ functionResponse: { id: 'toolu_1', name: 'look', response: { output: 'x' } } }] },
      ],
    })
    const { contents } = gemini.writeRequest(conversation, to) as { contents: { parts: Fields[] }[] }
    expect(contents[1]?.parts).toEqual([
      {
        functionCall: { id: 'toolu_1', name: 'look', args: { q: 1 } },
        thoughtSignature: 'skip_thought_signature_validator',
      },
    ])
    expect(omitted).toHaveLength(1)
  })
})

test.each(['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go', ''])(
  'the placeholder %j is no signature',
  (thoughtSignature) => {
    const blocks = readBack([{ functionCall: { name: 'f', args: {} }, thoughtSignature }]) as object[]
    expect(blocks).toEqual([{ kind: 'call', id: 'call_1', name: 'f', by: 'function', input: '{}' }])
  },
)

test.each([
  'bWgxLiouAAAA',
  Buffer.from('mh1.*.[1]').toString('base64'),
  Buffer.from('mh1.*.{"before":[1]}').toString('base64'),
])('the broken envelope %s harms nothing', (thoughtSignature) => {
  const blocks = readBack([{ text: 'a', thoughtSignature }]) as unknown[]
  expect(blocks.filter(isRecord).at(-1)).toMatchObject({ kind: 'text', text: 'a' })
})
