import { expect, test } from 'vitest'
import { CallIds } from '../../../src/providers/reading/call-ids.ts'
import { cpuMs, leastMs } from '../../cpu-time.ts'

test('makes the ids of tool calls unique, and keeps them if possible', () => {
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

test('takes linear time for many tool calls with the same id', async () => {
  const took = await leastMs(1_000, () => {
    const ids = new CallIds()
    const start = cpuMs()
    let last = ''
    for (let count = 0; count < 10_000; count++) last = ids.add('same')
    expect(last).toBe('same_10000')
    return cpuMs() - start
  })
  // A few hundredths of a second; counting from 1 for each id would take several seconds.
  expect(took).toBeLessThan(1_000)
})

test('shortens long ids, and still finds them', () => {
  const ids = new CallIds()
  const long = 'x'.repeat(1_000)
  expect([ids.add(`${long}1`), ids.add(`${long}2`)]).toEqual([long.slice(0, 64), `${long.slice(0, 64)}_2`])
  expect([ids.find(`${long}1`), ids.find(`${long}2`)]).toEqual([long.slice(0, 64), `${long.slice(0, 64)}_2`])
})
