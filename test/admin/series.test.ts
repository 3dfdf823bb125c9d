/** Sums and latencies by periods, for charts, in every kind of store. */
import { describe, expect, test } from 'vitest'
import { createGateway, memoryUsageStore, type UsageRecord, type UsageStore } from '../../src/index.ts'
import type { UsagePoint } from '../../src/admin/series.ts'
import { demo } from '../../src/providers/index.ts'
import { everyBundle } from '../every-bundle.ts'
import { usageRecord } from '../observe/usage/record.ts'
import { storeTimeouts } from '../patience.ts'

const hour = 3_600_000
const start = Date.UTC(2031, 4, 5)

const kinds: [string, boolean, () => Promise<UsageStore>][] = [
  ['memory', true, async () => memoryUsageStore()],
  ...everyBundle()
    .filter(([kind]) => kind !== 'Redis')
    .map(
      ([kind, available, open]) =>
        [kind, available, async () => (await open()).usage as UsageStore] as [
          string,
          boolean,
          () => Promise<UsageStore>,
        ],
    ),
]

/** Of this account only, because the tests of a file share their data. */
let made = 0

async function adminOf(open: () => Promise<UsageStore>, records: (account: string) => Partial<UsageRecord>[]) {
  const usage = await open()
  const account = `acme-${++made}`
  await usage.append(
    records(account).map((changes, index) => usageRecord({ id: `req_${account}_${index}`, account, ...changes })),
  )
  const gateway = createGateway({
    models: { demo: demo() },
    storage: { usage },
    clock: () => start + 30 * 24 * hour,
    timeouts: storeTimeouts,
  })
  return { usage: gateway.admin.usage, account }
}

const requests = (points: readonly UsagePoint[]) => points.map((point) => point.requests)

describe.each(kinds)('%s', (_, available, open) => {
  test.skipIf(!available)('series have every period, the largest names, and the rest', async () => {
    const models = ['a', 'a', 'b', 'c', 'd', 'd', 'd']
    const { usage, account } = await adminOf(open, () =>
      models.flatMap((model, index) => [
        { model, startedAt: start + index * hour + 5, cost: BigInt(index + 1) * 1_000_000n, key: `k${index % 2}` },
        { model, startedAt: start + index * hour + 50 * 60_000, cost: 0n, outcome: 'failed', code: 'server_error' },
      ]),
    )
    const range = { account, from: start, to: start + 8 * hour }
    const { total, series } = await usage.series({ ...range, period: 'hour', by: 'model', top: 2 })
    expect(total.map(({ at }) => (at - start) / hour)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(requests(total)).toEqual([2, 2, 2, 2, 2, 2, 2, 0])
    expect(total.map(({ incomplete }) => incomplete)).toEqual([1, 1, 1, 1, 1, 1, 1, 0])
    expect(total[6]).toMatchObject({ cost: '7' })
    expect(series.map(({ name }) => name)).toEqual(['d', 'c', null])
    expect(series.map(({ points }) => requests(points))).toEqual([
      [0, 0, 0, 0, 2, 2, 2, 0],
      [0, 0, 0, 2, 0, 0, 0, 0],
      [2, 2, 2, 0, 0, 0, 0, 0],
    ])
    expect(series[2]?.points.map(({ cost }) => cost)).toEqual(['1', '2', '3', '0', '0', '0', '0', '0'])
    const quarters = await usage.series({ ...range, to: start + hour, period: 'quarter' })
    expect([requests(quarters.total), quarters.series]).toEqual([[1, 0, 0, 1], []])
    const minutes = await usage.series({ ...range, to: start + hour, period: 'minute' })
    expect(minutes.total).toHaveLength(60)
    expect([minutes.total[0]?.requests, minutes.total[50]?.requests]).toEqual([1, 1])
    const byKey = await usage.series({ ...range, period: 'day', by: 'key', measure: 'requests' })
    expect(byKey.series.map(({ name, points }) => [name, requests(points)])).toEqual([
      ['k0', [4]],
      ['k1', [3]],
      [null, [7]],
    ])
    const byGroup = await usage.series({ ...range, period: 'day', by: 'group' })
    expect(byGroup.series.map(({ points }) => requests(points))).toEqual([[14]])
    const failed = await usage.series({ ...range, period: 'hour', outcome: 'failed', by: 'model', measure: 'tokens' })
    expect(requests(failed.total)).toEqual([1, 1, 1, 1, 1, 1, 1, 0])
  })

  test.skipIf(!available)('days begin in the time zone, also where the clocks change', async () => {
    const change = Date.UTC(2031, 2, 30, 1)
    const { usage, account } = await adminOf(open, () =>
      [-26, -25, -2, 0, 1, 20, 21, 22].map((hours) => ({ startedAt: change + hours * hour })),
    )
    const timeZone = 'Europe/Berlin'
    const question = { account, from: change - 30 * hour, to: change + 24 * hour, period: 'day', timeZone } as const
    const { total } = await usage.series(question)
    expect(total.map(({ at, requests: count }) => [new Date(at).toISOString(), count])).toEqual([
      ['2031-03-27T23:00:00.000Z', 0],
      ['2031-03-28T23:00:00.000Z', 2],
      ['2031-03-29T23:00:00.000Z', 4],
      ['2031-03-30T22:00:00.000Z', 2],
    ])
  })

  test.skipIf(!available)('latencies are those of the last requests of each period', async () => {
    const { usage, account } = await adminOf(open, () => [
      ...Array.from({ length: 20 }, (_each, index) => ({
        startedAt: start + index,
        totalMs: (index + 1) * 10,
        ...(index < 10 && { firstByteMs: index + 1 }),
      })),
      ...Array.from({ length: 150 }, (_each, index) => ({
        startedAt: start + hour + index,
        totalMs: index < 50 ? 9_000 : 7,
      })),
      { startedAt: start + 1, totalMs: 99_000, outcome: 'failed' as const },
    ])
    const points = await usage.latency({ account, from: start, to: start + 3 * hour, periods: 3 })
    expect(points).toEqual([
      { at: start, requests: 20, medianMs: 100, p95Ms: 190, medianFirstByteMs: 5, p95FirstByteMs: 10 },
      { at: start + hour, requests: 100, medianMs: 7, p95Ms: 7 },
      { at: start + 2 * hour, requests: 0 },
    ])
  })
})

test('statistics return only the largest rows that are asked for, ordered as all', async () => {
  const { usage, account } = await adminOf(
    async () => memoryUsageStore(),
    () => [3, 9, 1, 7].map((cost, index) => ({ model: `m${index}`, cost: BigInt(cost), promptTokens: 10 - cost })),
  )
  const models = async (measure: 'cost' | 'tokens') =>
    (await usage.statistics({ account, by: ['model'], largest: { most: 2, measure } })).map(({ model }) => model)
  expect(await models('cost')).toEqual(['m1', 'm3'])
  expect(await models('tokens')).toEqual(['m0', 'm2'])
})

test('of very many names, only the largest are read by period', async () => {
  const { usage, account } = await adminOf(
    async () => memoryUsageStore(),
    () =>
      Array.from({ length: 700 }, (_, index) => ({
        model: `m${index}`,
        startedAt: start + (index % 30) * hour,
        cost: BigInt(index) * 1_000_000n,
      })),
  )
  const question = { account, from: start, to: start + 30 * hour, period: 'hour', by: 'model', top: 3 } as const
  const { total, series } = await usage.series(question)
  expect(series.map(({ name }) => name)).toEqual(['m699', 'm698', 'm697', null])
  expect(requests(total).reduce((sum, each) => sum + each)).toBe(700)
  expect(series.map(({ points }) => requests(points).reduce((sum, each) => sum + each))).toEqual([1, 1, 1, 697])
  expect(series[0]?.points[699 % 30]).toMatchObject({ requests: 1, cost: '699' })
})

test('invalid questions are a 400 that names the field', async () => {
  const { usage } = await adminOf(
    async () => memoryUsageStore(),
    () => [],
  )
  const series = { all: true, from: start, to: start + hour, period: 'hour' } as const
  const wrong: [object, string][] = [
    [{ ...series, from: start + hour }, 'to'],
    [{ ...series, to: start + 500 * hour }, 'period'],
    [{ ...series, period: 'day', to: start + 500 * 24 * hour }, 'period'],
    [{ ...series, period: 'year' }, 'period'],
    [{ ...series, top: 21 }, 'top'],
    [{ ...series, by: 'tag' }, 'by'],
    [{ ...series, timeZone: 'Mars' }, 'timeZone'],
    [{ ...series, all: undefined }, 'account'],
    [{ ...series, top: 3 }, 'top'],
    [{ ...series, measure: 'tokens' }, 'measure'],
  ]
  for (const [question, param] of wrong) {
    await expect(usage.series(question as never)).rejects.toMatchObject({ status: 400, param })
  }
  const minutes = { all: true, by: ['period'], periodMs: 60_000 } as const
  const sums = { all: true, by: ['model'] } as const
  const unbounded: [object, string][] = [
    [{ ...sums, periodMs: hour }, 'periodMs'],
    [{ ...sums, by: ['period'], timeZone: 'Asia/Tokyo' }, 'timeZone'],
    [{ ...sums, offsetMinutes: 60 }, 'offsetMinutes'],
    [minutes, 'from'],
    [{ ...minutes, from: start }, 'to'],
    [{ ...minutes, from: start, to: start + 3_650 * 24 * hour }, 'periodMs'],
  ]
  for (const [question, param] of unbounded) {
    await expect(usage.statistics(question as never)).rejects.toMatchObject({ status: 400, param })
  }
  expect(await usage.statistics({ ...minutes, from: start, to: start + hour })).toEqual([])
  expect(await usage.statistics({ ...minutes, periodMs: hour })).toEqual([])
  await expect(usage.latency({ all: true, from: 5, to: 5 })).rejects.toMatchObject({ param: 'to' })
  await expect(usage.latency({ all: true, from: 5, to: 6, periods: 61 })).rejects.toMatchObject({ param: 'periods' })
})
