/** The statistics of the console read a bounded number of rows of Postgres, with and without statistics of the planner. */
import { beforeAll, afterAll, describe, expect, test } from 'vitest'
import { postgres } from '../../../../adapters/stores/postgres/postgres.ts'
import { createGateway } from '../../../../src/index.ts'
import { demo } from '../../../../src/providers/index.ts'
import { hasPostgres, ownName, postgresPool } from '../../../servers.ts'
import { usageRecord } from '../../../observe/usage/record.ts'
import { countingRows } from './rows-read.ts'

const records = 12_000
const users = 400
const start = Date.UTC(2031, 4, 5)
const hour = 3_600_000
const hours = 48
const tables = ['calls', 'usage_labels', 'usage_days', 'usage_quarters']

/** A large account, and a small one with a twelfth of the requests. */
function recordAt(index: number) {
  return usageRecord({
    id: `req_${index}`,
    account: index % 12 === 0 ? 'small' : 'large',
    key: `key_${index % 12}`,
    user: `user_${(index * 7) % users}`,
    model: `model_${index % 4}`,
    startedAt: start + Math.floor((index * hours * hour) / records),
    totalMs: index % 100,
    ...(index % 20 === 0 && { outcome: 'failed', code: 'server_error' }),
  })
}

const range = { from: start, to: start + hours * hour }

describe.skipIf(!hasPostgres)('with 12,000 requests of 400 users', () => {
  const pool = postgresPool()
  const schema = ownName()
  const counted = countingRows(pool)
  const { usage } = postgres(counted, { schema })

  beforeAll(async () => {
    await usage.list({ limit: 1 })
    // Statistics of tables that are half filled would be those of neither case.
    for (const table of tables) await pool.query(`ALTER TABLE ${schema}.${table} SET (autovacuum_enabled = false)`)
    for (let from = 0; from < records; from += 1_000)
      await usage.append(Array.from({ length: 1_000 }, (_, index) => recordAt(from + index)))
    // The upgrade of a new schema has ended.
    await usage.durations?.({ starts: [0], to: 1, most: 1, user: 'none' })
  }, 60_000)
  afterAll(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })

  describe.each(['without', 'with'])('%s statistics of the planner', (how) => {
    beforeAll(async () => {
      for (const table of how === 'with' ? tables : []) await pool.query(`ANALYZE ${schema}.${table}`)
    })

    test.each([
      // Of so few requests, the planner prefers to sort those of a range.
      ['all', { all: true }, 1, how === 'with' ? 24 * 120 : records],
      ['a model with many labels', { all: true, model: 'model_1' }, 3, 9_000],
      ['a user', { all: true, user: 'user_7' }, 2, 40],
      ['an account', { account: 'small' }, 2, 400],
      ['a filter that nothing matches', { all: true, model: 'none' }, 2, 5],
    ] as const)('latencies of %s', async (_, filter, statements, most) => {
      const gateway = createGateway({ models: { demo: demo() }, storage: { usage } })
      counted.take()
      const points = await gateway.admin.usage.latency({ ...filter, ...range, periods: 24 })
      const read = counted.take()
      expect(points).toHaveLength(24)
      expect(read.statements).toBeLessThanOrEqual(statements)
      expect(read.rows).toBeLessThanOrEqual(most)
    })

    // Of users, the sums of each label and day are read once; of models, four times 192 sums, and all labels.
    test.each([
      ['users', { all: true, by: 'user', period: 'day' }, 3, 7_500, 22 + 5 * 2 + 2],
      [
        'users by minutes',
        { all: true, by: 'user', period: 'minute', to: start + 6 * hour },
        3,
        2 * records,
        22 + 6 * 360,
      ],
      ['models', { all: true, by: 'model', period: 'hour' }, 2, 2 * (4 * 4 * hours + 1_210), 4 + 4 * hours],
      ['a model that nobody used', { all: true, by: 'model', period: 'hour', model: 'none' }, 2, 1_300, 0],
    ] as const)('series of %s', async (_, question, statements, most, mostReturned) => {
      const gateway = createGateway({ models: { demo: demo() }, storage: { usage } })
      counted.take()
      await gateway.admin.usage.series({ ...range, ...question, top: 5 })
      const read = counted.take()
      expect(read.statements).toBeLessThanOrEqual(statements)
      expect(read.returned).toBeLessThanOrEqual(mostReturned)
      expect(read.rows).toBeLessThanOrEqual(most)
    })

    test('no more rows are returned than are asked for', async () => {
      counted.take()
      await usage.summarise({
        by: ['user', 'period'],
        periodMs: hour / 4,
        ...range,
        largest: { most: 10, measure: 'cost' },
      })
      expect(counted.take()).toMatchObject({ statements: 1, returned: 10 })
    })
  })
})
