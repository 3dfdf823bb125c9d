import { expect, it } from 'vitest'
import { firstCall } from '../../../src/formats/stages/first-call.ts'
import { call, end, ended, input, text, through } from './pieces.ts'

it('keeps the first call and what belongs to it, and drops the others', () => {
  const kept = [text(0, 'Let me see.'), call(1, 'f'), input(1, '{}'), ended(1)]
  const dropped = [call(2, 'g'), input(2, '{}'), ended(2)]
  expect(through(firstCall(), [...kept, ...dropped, end('calls')])).toEqual([...kept, end('calls')])
})
