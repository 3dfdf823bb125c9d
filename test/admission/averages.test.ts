import { expect, test } from 'vitest'
import { Averages } from '../../src/admission/averages.ts'

test('an average begins with its first value, and moves towards each later one', () => {
  const averages = new Averages(3)
  expect(averages.of('model')).toBeUndefined()
  averages.learn('model', 100)
  expect(averages.of('model')).toBe(100)
  averages.learn('model', 200)
  expect(averages.of('model')).toBe(125)
})

test('of more than 1,000 names, those that have learned last are kept', () => {
  const averages = new Averages(1)
  for (let name = 0; name < 1_000; name++) averages.learn(`model ${name}`, name)
  averages.learn('model 0', 0)
  averages.learn('another', 1)
  expect(['model 0', 'model 1', 'model 2', 'another'].map((name) => averages.of(name))).toEqual([0, undefined, 2, 1])
})
