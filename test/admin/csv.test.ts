/** The lists of the admin API as CSV, and days in time zones. */
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { csvOf } from '../../src/admin/csv.ts'
import { createGateway, memoryUsageStore } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { usageRecord } from '../observe/usage/record.ts'
import { usageUnits } from '../../src/observe/usage/units.ts'

const price = { input: '1', output: '1' }

function service() {
  const usage = memoryUsageStore({ count: 100_000 })
  const gateway = createGateway({
    models: { m: { provider: demo(), price } },
    billing: { currency: 'EUR' },
    storage: { usage },
    clock: () => Date.UTC(2030, 5, 1),
  })
  return { usage, admin: gateway.admin }
}

/** The cells of a CSV text, read as RFC 4180 says. */
function cellsOf(csv: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
    if (end === '') break
  }
  return rows.filter((row) => row.length > 1 || row[0] !== '')
}

test('cells that a spreadsheet would take for a formula are harmless, and all others are unchanged', async () => {
  const harmful = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\tb',
    '\rb',
    '\nb',
    ';b',
    '＝1',
    '﹦1',
    '=HYPERLINK("http://x","y")',
  ]
  const harmless = ['a=b', 'a; b', '1,5', 'say "hi"', 'two\r\nlines', ' space ', '', "'", 'ä中🎈']
  const items = [...harmful, ...harmless].map((name) => ({ name, amount: '-1.5', tags: [name, 'b'] }))
  const columns = { name: 'text', amount: 'money', tags: 'text' } as const
  const csv = await text(Readable.from(csvOf(columns, async () => ({ items }))))
  const [head, ...rows] = cellsOf(csv)
  expect(head).toEqual(['name', 'amount', 'tags'])
  expect(rows.map(([name]) => name)).toEqual([...harmful.map((name) => `'${name}`), ...harmless])
  expect(rows.every(([, amount]) => amount === '-1.5')).toBe(true)
  expect(rows[0]?.[2]).toBe("'=1+1 b")
  for (const [name = '', , tags = ''] of rows) {
    for (const cell of [name, tags]) expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
  }
})

test('no part of a text becomes a formula where a spreadsheet splits lines at semicolons or tabs, and ignores quotes', async () => {
  const texts = [';=1', 'a;=1', 'a; "=1', 'a;\t+1', 'a\t@x', 'a;＝1', 'a\r\n-1', ' =1', '"=1', ';;=1', 'a,b;=c"d']
  const items = texts.map((name) => ({ before: 1, name }))
  const csv = await text(Readable.from(csvOf({ before: 'text', name: 'text' }, async () => ({ items }))))
  for (const part of csv.split(/[;\t\r\n]|1,/)) expect(part).not.toMatch(/^[\s"]*[=+\-@＝]/)
})

test('a list of many pages is read page by page, as it is consumed', async () => {
  const { usage, admin } = service()
  await usage.append(
    Array.from({ length: 2_500 }, (_, index) =>
      usageRecord({ id: `r${index}`, account: 'acme', user: '=cmd', cost: 1_500_000n, startedAt: index }),
    ),
  )
  let calls = 0
  const list = usage.list.bind(usage)
  usage.list = (question) => (calls++, list(question))
  const stream = admin.csv.usage({ account: 'acme' })
  expect((await stream.next()).value).toMatch(/^id,startedAt,account,/)
  expect(calls).toBe(1)
  await stream.return()
  const rows = cellsOf(await text(Readable.from(admin.csv.usage({ account: 'acme' }))))
  expect(rows).toHaveLength(2_501)
  const [head = [], first = []] = rows
  const record = Object.fromEntries(head.map((name, index) => [name, first[index]]))
  expect(record).toMatchObject({
    id: 'r2499',
    startedAt: '1970-01-01T00:00:02.499Z',
    user: "'=cmd",
    cost: '1.5',
    stream: 'false',
  })
})

test('accounts, entries, keys and statistics have files of their own; wrong questions are rejected', async () => {
  const { usage, admin } = service()
  await admin.accounts.topUp({ account: 'acme', amount: '12.5', reference: 'order-1', note: '=1' })
  await admin.accounts.adjust({ account: 'acme', amount: '-2', reference: 'fix-1' })
  await admin.keys.create({ account: 'acme', group: 'default', name: '+1', tags: ['a', 'b'], models: ['m'] })
  await usage.append([
    usageRecord({ id: 'r', account: 'acme', startedAt: Date.UTC(2030, 0, 1), user: 'ada', cost: 5n }),
  ])
  const file = async (pieces: AsyncIterable<string>) => cellsOf(await text(Readable.from(pieces)))
  expect(await file(admin.csv.accounts())).toEqual([
    ['id', 'name', 'balance', 'held', 'unlimited', 'createdAt'],
    ['acme', '', '10.5', '0', 'false', '2030-06-01T00:00:00.000Z'],
  ])
  const entries = await file(admin.csv.entries('acme'))
  expect(entries.map((row) => row.slice(3, 8))).toEqual([
    ['kind', 'reference', 'amount', 'overage', 'note'],
    ['credit', 'fix-1', '-2', '0', ''],
    ['credit', 'order-1', '12.5', '0', "'=1"],
  ])
  const keys = await file(admin.csv.keys({ account: 'acme' }))
  expect(keys[1]).toEqual(expect.arrayContaining(["'+1", 'a b', 'm']))
  expect(await file(admin.csv.statistics({ all: true, by: ['user', 'day'] }))).toEqual([
    ['user', 'day', 'requests', 'incomplete', ...usageUnits, 'cost'],
    [
      'ada',
      '2030-01-01',
      '1',
      '0',
      ...usageUnits.map((unit) => (unit === 'promptTokens' || unit === 'completionTokens' ? '1' : '0')),
      '0.000005',
    ],
  ])
  await expect(file(admin.csv.usage({} as never))).rejects.toMatchObject({ status: 400, param: 'account' })
})

test('sums of many rows come in pieces of at most 1,000 rows, each row once', async () => {
  const { usage, admin } = service()
  await usage.append(Array.from({ length: 2_500 }, (_, index) => usageRecord({ id: `r${index}`, user: `u${index}` })))
  const pieces: number[] = []
  const names = new Set<string>()
  for await (const piece of admin.csv.statistics({ all: true, by: ['user'] })) {
    const rows = cellsOf(piece)
    pieces.push(rows.length)
    for (const [name = ''] of rows) names.add(name)
  }
  expect(pieces).toEqual([1_001, 1_000, 500])
  expect(names.size).toBe(2_501)
})

test('days begin at midnight of a time zone, also when its clocks are changed', async () => {
  const { usage, admin } = service()
  const times = [
    // Winter: midnight is at 23:00 UTC. The clocks are advanced on 31 March 2030.
    '2030-03-30T22:59:59.999Z',
    '2030-03-30T23:00:00.000Z',
    '2030-03-31T00:59:59.999Z',
    '2030-03-31T01:00:00.000Z',
    '2030-03-31T21:59:59.999Z',
    '2030-03-31T22:00:00.000Z',
    '2030-04-01T22:00:00.000Z',
  ]
  await usage.append(
    times.map((time, index) =>
      usageRecord({
        id: `r${index}`,
        account: 'a',
        startedAt: Date.parse(time),
        cost: 1n,
        user: index % 2 ? 'odd' : 'even',
      }),
    ),
  )
  const days = async (question: { timeZone: string; from?: number; to?: number }) =>
    (await admin.usage.statistics({ account: 'a', by: ['day'], ...question })).map(({ day, requests, cost }) => [
      day,
      requests,
      cost,
    ])
  expect(await days({ timeZone: 'Europe/Berlin' })).toEqual([
    ['2030-03-30', 1, '0.000001'],
    ['2030-03-31', 4, '0.000004'],
    ['2030-04-01', 1, '0.000001'],
    ['2030-04-02', 1, '0.000001'],
  ])
  expect(
    await days({
      timeZone: 'Europe/Berlin',
      from: Date.parse('2030-03-31T00:00:00Z'),
      to: Date.parse('2030-03-31T22:00:00Z'),
    }),
  ).toEqual([['2030-03-31', 3, '0.000003']])
  expect((await days({ timeZone: 'Asia/Shanghai' })).map(([day]) => day)).toEqual([
    '2030-03-31',
    '2030-04-01',
    '2030-04-02',
  ])
  expect(
    (await days({ timeZone: 'Asia/Kathmandu', from: Date.parse('2030-03-30T00:00:00Z') })).map(([day]) => day),
  ).toEqual(['2030-03-31', '2030-04-01', '2030-04-02'])
  const rows = await admin.usage.statistics({ account: 'a', by: ['user', 'day'], timeZone: 'Europe/Berlin' })
  expect(rows.map(({ user, day, requests }) => [user, day, requests])).toEqual([
    ['even', '2030-03-30', 1],
    ['even', '2030-03-31', 2],
    ['even', '2030-04-02', 1],
    ['odd', '2030-03-31', 2],
    ['odd', '2030-04-01', 1],
  ])
  await expect(days({ timeZone: 'Mars/Olympus' })).rejects.toMatchObject({ status: 400, param: 'timeZone' })
  await expect(
    admin.usage.statistics({ account: 'a', by: ['day'], timeZone: 'UTC', offsetMinutes: 0 }),
  ).rejects.toMatchObject({ status: 400, param: 'timeZone' })
})

test.each([
  [{ all: true }, '"by": is missing; it must be a list'],
  [{ all: true, by: 'day' }, '"by": must be a list, not a string'],
  [{ all: true, by: ['daily'] }, '"by.0": must be one of day, '],
  [{ by: ['day'] }, '"account" is missing'],
])('a question for sums that is invalid is a 400: %j', async (question, message) => {
  const { admin } = createGateway({ models: { m: demo() }, usage: { record: true } })
  const asked = text(Readable.from(admin.csv.statistics(question as never)))
  await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringContaining(message) as string })
})
