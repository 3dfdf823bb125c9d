/** Questions about many rows of a SQLite file are divided into slices, between which other calls run. */
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { Database } from '../../../adapters/stores/sqlite/database.ts'
import { SlicedReads, SliceSize, type Query } from '../../../adapters/stores/sqlite/sliced-reads.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { usageRecord } from '../../observe/usage/record.ts'

let raw: DatabaseSync
let slices: SlicedReads
/** Rows of a statement with the names of its values. */
const query: Query = (text, values) => {
  const statement = raw.prepare(text.replaceAll('@.', 'modelhatch_'))
  statement.setAllowUnknownNamedParameters(true)
  return statement.all(values as Record<string, string | number>) as never
}
beforeEach(() => {
  raw = new DatabaseSync(':memory:')
  slices = new SlicedReads(new Database(raw, 'process', '').reading(), query)
  onTestFinished(() => raw.close())
})

/** The statements that are prepared from now on. */
function preparedStatements(): Set<string> {
  const statements = new Set<string>()
  const prepare = raw.prepare.bind(raw)
  raw.prepare = (sql) => {
    statements.add(sql)
    return prepare(sql)
  }
  return statements
}

/** Makes time pass only as told. */
function ownClock(): (ms: number) => void {
  let now = 1_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return (ms) => void (now += ms)
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
  const pass = ownClock()
  const labels = Array.from({ length: 40 }, (_, index) => index + 1)
  const taken: number[][] = []
  const turns = await turnsOf(() =>
    slices.ofLabels(labels, (_, { partLabels }) => {
      const part = JSON.parse(partLabels as string) as number[]
      taken.push(part)
      if (part.length >= 8) pass(8)
    }),
  )
  expect(taken.flat()).toEqual(labels)
  const sizes = taken.map(({ length }) => length)
  expect(sizes.slice(0, 4)).toEqual([1, 2, 4, 8])
  expect(sizes[4]).toBeLessThan(8)
  expect(turns).toBeGreaterThanOrEqual(sizes.filter((size) => size >= 8).length)
})

test('other calls run also between very many short slices', async () => {
  const pass = ownClock()
  const turns = await turnsOf(async () => {
    for (let slice = 0; slice < 100; slice++) await slices.take(new SliceSize(1), () => pass(0.4))
  })
  expect(turns).toBeGreaterThan(30)
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
  await slices.ofTimes([], {}, [-Infinity, 300], (some, part) => {
    const [row] = query(`SELECT count(*) AS count FROM @.calls c WHERE ${some.join(' AND ')}`, part)
    counted += Number(row?.['count'])
    most = Math.max(most, Number(row?.['count']))
  })
  expect(counted).toBe(times.filter((at) => at < 300).length)
  expect(most).toBeLessThan(counted)
  const none: unknown[] = []
  await slices.ofTimes(['session = :session'], { session: 'none' }, [300, 200], (some) => void none.push(some))
  await slices.ofLabels([], (some) => void none.push(some))
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

test('a slice is found by its own times, because an index leads to only one of two lower bounds', async () => {
  const statements = preparedStatements()
  const { usage } = sqlite(raw)
  const lines = [{ item: 'input', quantity: 1, per: 1, price: '1' }]
  await usage.append(
    Array.from({ length: 10 }, (_, index) => usageRecord({ id: `req_${index}`, startedAt: index * 100, lines })),
  )
  statements.clear()
  const range = { from: 150, to: 750 }
  expect(await usage.summarise({ by: ['session'], ...range })).toMatchObject([{ requests: 6 }])
  expect(await usage.sumLines?.(range)).toMatchObject([{ quantity: 6 }])
  const ofCalls = [...statements].filter((sql) => sql.includes('FROM modelhatch_calls c'))
  expect(ofCalls.length).toBeGreaterThan(3)
  for (const sql of ofCalls) expect(sql.match(/started_at >=? \?/g)?.length, sql).toBe(1)
})

test('requests with a tag are found without reading all labels or all refused requests at once', async () => {
  const statements = preparedStatements()
  const { usage } = sqlite(raw)
  const tagsOf = (index: number) => [`team:${index % 3}`, ...(index % 50 === 0 ? ['rare'] : [])]
  const records = Array.from({ length: 3_000 }, (_, index) =>
    usageRecord({
      id: `req_${String(index % 7)}${index}`,
      account: `account_${index % 11}`,
      user: `user_${index % 400}`,
      tags: tagsOf(index),
      // Some have the same time.
      startedAt: 1_000 * (index - (index % 4)),
      ...(index % 10 === 9 && { outcome: 'refused' as const }),
    }),
  )
  await usage.append(records.filter(({ outcome }) => outcome !== 'refused'))
  await usage.appendRefused?.(records.filter(({ outcome }) => outcome === 'refused'))
  statements.clear()

  const listed = async (question: Parameters<typeof usage.list>[0]) => {
    const ids: string[] = []
    for (let after: string | undefined, page = 0; page === 0 || after !== undefined; page++) {
      const { items, next } = await usage.list({ ...question, ...(after !== undefined && { after }), limit: 70 })
      ids.push(...items.map(({ id }) => id))
      after = next
    }
    return ids
  }
  const newestFirst = records.toSorted(
    (left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1),
  )
  const idsOf = (tag: string, isWanted: (record: (typeof records)[number]) => boolean = () => true) =>
    newestFirst.filter((record) => record.tags?.includes(tag) === true && isWanted(record)).map(({ id }) => id)
  for (const tag of ['team:1', 'rare', 'none']) {
    expect(await listed({ tag })).toEqual(idsOf(tag))
    expect(await listed({ tag, outcome: 'refused' })).toEqual(idsOf(tag, ({ outcome }) => outcome === 'refused'))
    expect(await listed({ tag, to: 900_000 })).toEqual(idsOf(tag, ({ startedAt }) => startedAt < 900_000))
    const [sum] = await usage.summarise({ by: [], tag })
    expect(sum?.requests ?? 0).toBe(idsOf(tag, ({ outcome }) => outcome !== 'refused').length)
    const [all] = (await usage.durations?.({ tag, starts: [0], to: 4e6, most: 10_000 })) ?? []
    expect((all?.totalMs.length ?? 0) > 0).toBe(tag !== 'none')
  }

  const read = [...statements]
  const scans = read.flatMap((sql) => {
    const plan = raw.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
    const isWhole = plan.some(({ detail }) => /^SCAN l\b/.test(detail))
    const isLate = /FROM modelhatch_refused WHERE .*EXISTS/.test(sql)
    return isWhole || isLate ? [sql] : []
  })
  expect(read.length).toBeGreaterThan(10)
  expect(scans).toEqual([])
})

test('each part of a deletion does at least one step, however late it is', async () => {
  const { responses } = sqlite(raw)
  for (const id of ['resp_1', 'resp_2']) await responses.put({ account: 'acme', id, items: [], body: '{}', version: 1 })
  let now = 1_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000))
  onTestFinished(() => clock.mockRestore())
  expect([await responses.deleteAll?.('acme'), await responses.deleteAll?.('acme')]).toEqual([true, true])
  expect(await responses.deleteAll?.('acme')).toBe(false)
})
