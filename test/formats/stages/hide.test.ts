import { expect, it } from 'vitest'
import type { Part } from '../../../src/conversation/parts.ts'
import { hideReasoning } from '../../../src/formats/stages/hide.ts'
import { text, through } from './pieces.ts'

const thought = (words: string): Part => ({ kind: 'reasoning', choice: 0, block: 0, text: words })
const state = (data: string, block = 0): Part => ({ kind: 'state', choice: 0, block, state: { maker: 'vendor', data } })

it('puts the text of reasoning into its state, for a vendor that wants it back', () => {
  const hide = hideReasoning(({ maker, data }, words) => ({ maker, data: `${data}: ${words}` }))
  const parts = [thought('Hm, '), thought('so.'), state('signed'), text(1, 'Yes'), state('other', 1)]
  expect(through(hide, parts)).toEqual([
    thought(''),
    thought(''),
    state('signed: Hm, so.'),
    text(1, 'Yes'),
    state('other', 1),
  ])
})
