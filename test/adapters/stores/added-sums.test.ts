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

test('a row of a label is taken from the sum of which it is a part, without traces, and no row is left of nothing', async () => {
  const sums = new AddedSums({ by: ['day', 'user'] }, true)
  const at = addedColumns.indexOf('seconds')
  const row = (label: number, day: number, less: number | null, requests: number, seconds: number | null) =>
    [
      label,
      day,
      less,
      ...addedColumns.map((_, index) => (index === 0 ? requests : index === at ? seconds : 1)),
    ] as const
  const labels = [
    [1, 'a'],
    [2, 'b'],
  ]
  const found = [
    row(1, 10, null, 3, 0.1 + 0.2),
    row(1, 11, 10, 1, 0.1),
    row(1, 11, 10, 1, 0.2),
    row(2, 10, null, 2, null),
    row(2, 11, 10, 2, null),
    row(3, 10, null, 1, 1),
  ]
  sums.addLabelled(labels, found)
  const rows = (await sums.rows()).map(({ user, day, requests, seconds }) => [user, day, requests, seconds])
  expect(rows).toEqual([
    ['a', '1970-01-11', 1, 0],
    ['a', '1970-01-12', 2, 0.3],
    ['b', '1970-01-12', 2, 0],
  ])
})

test('amounts of millions of labels are exact', async () => {
  const sums = new AddedSums({ by: ['day'] })
  const low = addedColumns.indexOf('cost_low')
  const row = [1, 0, ...addedColumns.map((_, index) => (index === low ? 2 ** 32 - 1 : 1))]
  const rows = Array.from({ length: 2 ** 20 + 1 }, () => row)
  for (let times = 0; times < 3; times++) sums.addLabelled([[1]], rows)
  const count = 3n * (2n ** 20n + 1n)
  expect((await sums.rows()).map(({ cost }) => cost)).toEqual([count * (2n ** 33n - 1n)])
})
