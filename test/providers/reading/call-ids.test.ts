import { expect, test } from 'vitest'
import { CallIds } from '../../../src/providers/reading/call-ids.ts'
import { cpuMs } from '../../cpu-time.ts'

test('ids of calls become unique, and stay what they are where they can', () => {
  const ids = new CallIds()
  expect(['a', 'a', 'a_2', 'a', 'b:c', 'b;c', ''].map((id) => ids.add(id))).toEqual([
    'a',
    'a_2',
    'a_2_2',
    'a_3',
    'b_c',
    'b_c_2',
    'call',
  ])
  expect([ids.find('a'), ids.find('b;c'), ids.find('unknown')]).toEqual(['a_3', 'b_c_2', 'unknown'])
})

test('very many calls under one id are no more work than as many under different ones', () => {
  const ids = new CallIds()
  const begun = cpuMs()
  let last = ''
  for (let count = 0; count < 10_000; count++) last = ids.add('same')
  expect(last).toBe('same_10000')
  // Hundredths of a second; going through all numbers each time takes several.
  expect(cpuMs() - begun).toBeLessThan(1_000)
})
