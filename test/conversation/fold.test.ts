import { assert, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fold } from '../../src/conversation/fold.ts'
import type { Part } from '../../src/conversation/parts.ts'
import { partsOf } from '../../src/conversation/unfold.ts'
import { answers } from '../formats/chat/sayings.ts'
import { runs, said } from '../formats/laws.ts'

describe('parts of an answer', () => {
  it('make the answer that they are of', () => {
    assert(
      property(answers, (answer) => {
        expect(said(fold(partsOf(answer)))).toEqual(said({ ...answer, counters: {} }))
      }),
      runs,
    )
  })

  it('belong to their blocks, in whichever order they arrive', () => {
    const parts: Part[] = [
      { kind: 'call', choice: 0, block: 0, id: 'a', name: 'one', by: 'function' },
      { kind: 'call', choice: 0, block: 1, id: 'b', name: 'two', by: 'function' },
      { kind: 'input', choice: 0, block: 0, text: '{"x"' },
      { kind: 'input', choice: 0, block: 1, text: '{}' },
      { kind: 'input', choice: 0, block: 0, text: ':1}' },
    ]
    expect(fold(parts).choices[0]?.blocks).toEqual([
      { kind: 'call', id: 'a', name: 'one', by: 'function', input: '{"x":1}' },
      { kind: 'call', id: 'b', name: 'two', by: 'function', input: '{}' },
    ])
  })

  it('join audio by its bytes, since each piece may end with padding', () => {
    const piece = (text: string, transcript: string): Part => ({
      kind: 'media',
      choice: 0,
      block: 0,
      type: 'audio',
      source: { mediaType: 'audio/pcm', base64: Buffer.from(text).toString('base64') },
      transcript,
    })
    expect(fold([piece('ab', 'Good '), piece('c', 'day')]).choices[0]?.blocks).toEqual([
      {
        kind: 'media',
        type: 'audio',
        source: { mediaType: 'audio/pcm', base64: Buffer.from('abc').toString('base64') },
        transcript: 'Good day',
      },
    ])
  })

  it('collect the further fields of the answer and of each choice', () => {
    const parts: Part[] = [
      { kind: 'start', own: { chat: { a: 1 } } },
      { kind: 'own', choice: -1, block: -1, format: 'chat', value: { b: 2 } },
      { kind: 'own', choice: 1, block: -1, format: 'chat', value: { c: 3 } },
    ]
    expect(fold(parts)).toEqual({
      choices: [{ blocks: [] }, { blocks: [], own: { chat: { c: 3 } } }],
      own: { chat: { a: 1, b: 2 } },
    })
  })
})
