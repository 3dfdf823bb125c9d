/** Questions about many rows of a SQLite file are divided into slices, between which other calls run. */
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { Database } from '../../../adapters/stores/sqlite/database.ts'
import { Slices } from '../../../adapters/stores/sqlite/slices.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { usageRecord } from '../../usage/record.ts'

let raw: DatabaseSync
let slices: Slices
beforeEach(() => {
  raw = new DatabaseSync(':memory:')
  slices = new Slices(new Database(raw, 'process', []))
  onTestFinished(() => raw.close())
})

/** Occupies the event loop for longer than a slice is meant to take. */
function beBusy() {
  for (const end = performance.now() + 8; performance.now() < end;);
}

/** Counts the turns of the event loop until `act` has ended. */
async function turnsOf(act: () => Promise<void>): Promise<number> {
  let [turns, isOver] = [0, false]
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await act()
  isOver = true
  return turns
}

test('other calls run between the slices, which become shorter if they take long', async () => {
  const labels = Array.from({ length: 40 }, (_, index) => BigInt(index + 1))
  const taken: number[][] = []
  const turns = await turnsOf(() =>
    slices.ofLabels(labels, ([, json]) => {
      taken.push(JSON.parse(json as string) as number[])
      beBusy()
    }),
  )
  expect(taken.flat()).toEqual(labels.map(Number))
  const sizes = taken.map(({ length }) => length)
  expect(sizes[0]).toBe(10)
  expect(Math.max(...sizes.slice(1))).toBeLessThan(10)
  expect(turns).toBeGreaterThanOrEqual(taken.length - 1)
})

test('slices of times have every request once, also if very many have the same time', async () => {
  const { usage } = sqlite(raw)
  const times = [
    ...Array.from({ length: 1_500 }, () => 5),
    ...Array.from({ length: 1_500 }, (_, index) => 5 + index / 4),
  ]
  await usage.append(times.map((startedAt, index) => usageRecord({ id: `req_${index}`, startedAt })))
  let counted = 0
  let most = 0
  await slices.ofTimes([], -Infinity, 300, ([sql, ...values]) => {
    const row = raw.prepare(`SELECT count(*) AS count FROM modelhatch_calls c WHERE ${sql}`).get(...values)
    counted += Number(row?.['count'])
    most = Math.max(most, Number(row?.['count']))
  })
  expect(counted).toBe(times.filter((at) => at < 300).length)
  expect(most).toBeLessThan(counted)
  const none: unknown[] = []
  await slices.ofTimes([['session = ?', 'none']], 300, 200, (some) => none.push(some))
  await slices.ofLabels([], (some) => none.push(some))
  expect(none).toEqual([])
})

test('a sum of many labels is read in slices, each at most twice as long as the one before', async () => {
  const spans: number[] = []
  const prepare = raw.prepare.bind(raw)
  raw.prepare = (sql) => {
    const statement = prepare(sql)
    const all = statement.all.bind(statement)
    statement.all = ((...values: number[]) => {
      const at = (sql.slice(0, sql.indexOf('l.label > ?')).match(/\?/g) ?? []).length
      if (sql.includes('l.label > ?')) spans.push((values[at + 1] ?? 0) - (values[at] ?? 0))
      return all(...values)
    }) as typeof statement.all
    return statement
  }
  const { usage } = sqlite(raw)
  const records = Array.from({ length: 1_000 }, (_, index) =>
    usageRecord({
      id: `req_${index}`,
      user: `user_${index}`,
      account: `account_${index % 7}`,
      cost: 1n,
      startedAt: index,
    }),
  )
  await usage.append(records)
  const rows = await usage.summarise({ by: ['account'] })
  expect(rows.reduce((sum, { requests, cost }) => sum + requests + Number(cost), 0)).toBe(2_000)
  expect(spans.length).toBeGreaterThanOrEqual(7)
  spans.forEach((span, index) => expect(span).toBeLessThanOrEqual(2 * (spans[index - 1] ?? 5)))
})
