import { describe, expect, it } from 'vitest'
import type { Part } from '../../../src/conversation/parts.ts'
import { chat } from '../../../src/formats/chat/chat.ts'
import { gemini } from '../../../src/formats/gemini/gemini.ts'
import { messages } from '../../../src/formats/messages/messages.ts'
import { stopAt } from '../../../src/formats/stages/stops.ts'
import { call, end, input, text, through } from './pieces.ts'

describe('a text with a stop sequence', () => {
  it('ends before it, and nothing follows', () => {
    const parts = [
      text(0, 'One EN'),
      text(0, 'D two'),
      text(1, 'three'),
      call(2, 'lookup'),
      input(2, '{}'),
      end('calls'),
    ]
    expect(through(stopAt(['END']), parts)).toEqual([
      text(0, 'One '),
      { kind: 'end', choice: 0, end: { reason: 'stop', stop: 'END' } },
    ])
  })

  it('keeps its usage', () => {
    const usage = { kind: 'usage', usage: undefined, counters: { input_tokens: 1 } } as const
    expect(through(stopAt(['END']), [text(0, 'END'), usage])).toEqual([usage])
  })

  it('leaves the other choices of the answer alone', () => {
    const parts = [text(0, 'a E', 0), text(1, 'ND b', 1), text(0, 'ND', 0), end('stop', 0), end('stop', 1)]
    expect(through(stopAt(['END']), parts)).toEqual([
      text(0, 'a ', 0),
      text(1, 'ND b', 1),
      { kind: 'end', choice: 0, end: { reason: 'stop', stop: 'END' } },
      end('stop', 1),
    ])
  })
})

it('passes on what only began like a stop sequence, before what follows', () => {
  const parts = [text(0, 'the EN'), call(1, 'lookup'), end('calls')]
  expect(through(stopAt(['END']), parts)).toEqual([text(0, 'the '), text(0, 'EN'), call(1, 'lookup'), end('calls')])
})

it('keeps what belongs to a text that waits: its tokens and its own fields', () => {
  const token = (word: string) => ({ token: word, logprob: -1 })
  const said = (words: string): Part => ({ ...text(0, words), logprobs: [token(words)] }) as Part
  const own = { responses: { item: { phase: 'final' } } }
  const parts = [{ ...said('E'), own } as Part, said('N'), said('T'), said(' EN'), said('D'), end('stop')]
  expect(through(stopAt(['END']), parts)).toEqual([
    { ...text(0, 'ENT'), logprobs: ['E', 'N', 'T'].map(token), own },
    { ...text(0, ' '), logprobs: [token(' EN')] },
    { kind: 'end', choice: 0, end: { reason: 'stop', stop: 'END' } },
  ])
})

const endless = ['x'.repeat(257)]
const countless = Array.from({ length: 65 }, String)

describe.each([
  ['chat', chat, 'stop', (stop: unknown) => ({ messages: [], stop })],
  [
    'messages',
    messages,
    'stop_sequences',
    (stop: unknown) => ({ messages: [{ role: 'user', content: 'Hi' }], stop_sequences: stop }),
  ],
  [
    'gemini',
    gemini,
    'generationConfig.stopSequences',
    (stop: unknown) => ({ contents: 'Hi', generationConfig: { stopSequences: stop } }),
  ],
] as const)('sequences of %s', (_, format, param, request) => {
  it.each([[endless], [countless]])('whose search would take long are refused', (stops) => {
    expect(() => format.readRequest(request(stops))).toThrow(expect.objectContaining({ status: 400, param }))
  })

  it('of ordinary size are read, without empty ones', () => {
    expect(format.readRequest(request(['END', '', 'x'.repeat(256)])).settings.stops).toEqual(['END', 'x'.repeat(256)])
  })
})
