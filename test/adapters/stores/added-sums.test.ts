/** Sums of rows that a database has grouped in parts. */
import { expect, test } from 'vitest'
import { AddedSums } from '../../../adapters/stores/sql/added-sums.ts'
import { addedColumns, amountColumns } from '../../../adapters/stores/sql/usage-columns.ts'

/** A row of a database, of one request. */
function rowOf(dimensions: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const columns = addedColumns.map((column) => [column, amountColumns.includes(column) ? 1n : 1])
  return { ...Object.fromEntries(columns), ...dimensions }
}

test('rows of equal dimensions are added up, and of other ones not', async () => {
  const sums = new AddedSums({ by: ['user', 'day'] })
  const pairs = [
    ['a', 1],
    ['a', 11],
    ['a1', 1],
    ['a', 1],
    ['', 0],
  ] as const
  for (const [d0, d1] of pairs) sums.add([rowOf({ d0, d1 })])
  const found = (await sums.rows()).map(({ user, day, requests, cost }) => [user, day, requests, cost])
  const one = 2n ** 32n + 1n
  expect(found).toEqual([
    ['', '1970-01-01', 1, one],
    ['a', '1970-01-02', 2, 2n * one],
    ['a', '1970-01-12', 1, one],
    ['a1', '1970-01-02', 1, one],
  ])
})

test('many rows are ordered in pieces, between which other calls run', async () => {
  const sums = new AddedSums({ by: ['user'] })
  const users = Array.from({ length: 9_001 }, (_, index) => `user_${(index * 7_919) % 9_001}`)
  sums.add(users.map((d0) => rowOf({ d0 })))
  let [turns, isOver] = [0, false]
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const rows = await sums.rows()
  isOver = true
  expect(rows.map(({ user }) => user)).toEqual(users.toSorted())
  expect(turns).toBeGreaterThan(5)
})
