import { expect, it } from 'vitest'
import { longNames, shortName } from '../../src/formats/tools.ts'
import { call, through } from './stages/pieces.ts'

const long = `mcp__${'a'.repeat(70)}`

it('gives calls the name that the client knows', () => {
  const stage = longNames({ turns: [], tools: [{ kind: 'function', name: long }], settings: {} })
  if (stage === undefined) throw new Error('no name is long')
  expect(through(stage, [call(0, shortName(long)), call(1, 'other')])).toEqual([call(0, long), call(1, 'other')])
})

it('is not needed if no name is long', () => {
  expect(longNames({ turns: [], tools: [{ kind: 'function', name: 'lookup' }], settings: {} })).toBeUndefined()
})
