import { describe, expect, it } from 'vitest'
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
