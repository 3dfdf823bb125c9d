import { expect, test } from 'vitest'
import { objectOf } from '../../src/conversation/json.ts'

const nested = (depth: number) => `${'{"a":'.repeat(depth)}"${'x'.repeat(1_000)}"${'}'.repeat(depth)}`
const list = (items: number) => `[${'1,'.repeat(items - 1)}1]`
const lists = (count: number) => `{"a":[${Array.from({ length: count }, () => list(9_000)).join(',')}]}`

test('an object within the default limits of a request body is read', () => {
  expect(objectOf(nested(64))).toBeDefined()
  expect(objectOf(`{"a":${list(10_000)}}`)).toBeDefined()
  expect(objectOf(lists(20))).toBeDefined()
  expect(objectOf(`{"a":"${'[,'.repeat(300_000)}"}`)).toBeDefined()
})

test.each([
  ['deeper', nested(65)],
  ['with a longer list', `{"a":${list(10_001)}}`],
  ['with more members in all', lists(23)],
])('one that is %s is not', (_, text) => {
  expect(objectOf(text)).toBeUndefined()
})
