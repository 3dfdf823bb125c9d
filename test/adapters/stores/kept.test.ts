/** For how long the bundles keep responses and answers, and that nothing of them stays behind. */
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { IdempotencyStart } from '../../../adapters/stores/index.ts'
import { fresh } from '../../../src/testing/kit.ts'
import type { Place } from '../../bundles.ts'
import { everyBundle } from '../../every-bundle.ts'
import { postgresPool, redisConnection } from '../../servers.ts'

const bundles = everyBundle()
const hourMs = 3_600_000

function attempt(change: Partial<IdempotencyStart> = {}): IdempotencyStart {
  const names = { account: fresh('account'), route: 'chat.completions', key: 'k', attempt: fresh('req') }
  return { ...names, digest: 'd', leaseMs: 60_000, ...change }
}

const answer = { status: 200, headers: {}, body: Buffer.from('{}') }
const keepMs = 60_000

describe.each(bundles)('%s', (_, there, open) => {
  test.skipIf(!there)('keeps a response for responseAgeMs; then it cannot be found or deleted', async () => {
    const { responses } = await open({ responseAgeMs: 600 })
    const record = { account: fresh('account'), id: 'resp_1', items: ['msg_1'], body: '{}' }
    const { account, id } = record
    await responses.put(record)
    expect(await responses.holding(account, 'msg_1')).toEqual(record)
    await expect.poll(async () => responses.get(account, id)).toBeUndefined()
    expect(await responses.holding(account, 'msg_1')).toBeUndefined()
    expect(await responses.delete(account, id)).toBe(false)
  })

  test.skipIf(!there)('keeps a response that is put again for as long anew', async () => {
    const [brief, long] = [await open({ responseAgeMs: 600 }), await open()]
    const record = { account: fresh('account'), id: 'resp_1', items: ['msg_1'], body: '{}' }
    const other = { ...record, id: 'resp_2', items: [] }
    await brief.responses.put(record)
    await brief.responses.put(other)
    await long.responses.put(record)
    await expect.poll(async () => long.responses.get(record.account, other.id)).toBeUndefined()
    expect(await long.responses.get(record.account, record.id)).toEqual(record)
    expect(await long.responses.holding(record.account, 'msg_1')).toEqual(record)
  })

  test.skipIf(!there)('lets an attempt finish after its lease has expired, unless another has begun', async () => {
    const { idempotency } = await open()
    const late = attempt({ leaseMs: 0 })
    await idempotency.begin(late)
    await idempotency.finish({ ...late, keepMs, answer })
    expect(await idempotency.begin({ ...late, attempt: 'another' })).toMatchObject({
      outcome: 'ended',
      answer: { status: 200 },
    })

    const overtaken = attempt({ leaseMs: 0 })
    await idempotency.begin(overtaken)
    expect(await idempotency.begin({ ...overtaken, attempt: 'another', leaseMs: 60_000 })).toEqual({ outcome: 'begun' })
    await idempotency.finish({ ...overtaken, keepMs, answer })
    expect(await idempotency.begin(overtaken)).toMatchObject({ outcome: 'running' })
  })
})

type Count = (sql: string) => Promise<number>

/** Asks past the bundle how many rows there are. */
function counting({ kind, name }: Place): Count {
  if (kind === 'SQLite') {
    const database = new DatabaseSync(name)
    onTestFinished(() => database.close())
    return async (table) => Number(database.prepare(`SELECT count(*) AS n FROM modelhatch_${table}`).get()?.['n'])
  }
  const pool = postgresPool(1)
  onTestFinished(() => pool.end())
  return async (table) => Number((await pool.query(`SELECT count(*) AS n FROM ${name}.${table}`)).rows[0].n)
}

describe.each(bundles.slice(0, 2))('%s deletes in the background', (_, there, open, place) => {
  test.skipIf(!there)('expired responses with their items, however many', async () => {
    const [brief, long] = [await open({ responseAgeMs: 1 }), await open()]
    const account = fresh('account')
    const put = async (index: number) =>
      brief.responses.put({ account, id: `resp_${index}`, items: [`msg_${index}`], body: '{}' })
    await Promise.all(Array.from({ length: 250 }, async (_, index) => put(index)))
    await long.responses.put({ account, id: 'resp', items: ['msg'], body: '{}' })
    const count = counting(place)
    const later = await open()
    await later.responses.get(account, 'resp')
    await expect.poll(async () => count(`responses WHERE account = '${account}'`)).toBe(1)
    expect(await count(`response_items WHERE account = '${account}'`)).toBe(1)
  })

  test.skipIf(!there)('expired idempotent responses, and attempts that did not finish within an hour', async () => {
    const { idempotency } = await open()
    const { account } = attempt()
    const begun = async (key: string, leaseMs: number) => {
      const each = attempt({ account, key, leaseMs })
      await idempotency.begin(each)
      return each
    }
    await Promise.all(Array.from({ length: 120 }, async (_, index) => begun(`dead ${index}`, -2 * hourMs)))
    for (let index = 0; index < 120; index++) {
      await idempotency.finish({ ...(await begun(`old ${index}`, 0)), keepMs: -2 * hourMs, answer })
    }
    await begun('late', -hourMs / 2)
    await begun('under way', 60_000)
    await idempotency.finish({ ...(await begun('answered', 60_000)), keepMs, answer })
    const count = counting(place)
    const later = await open()
    await later.idempotency.begin(attempt())
    const left = async () => count(`idempotency WHERE account = '${account}'`)
    await expect.poll(left).toBe(3)
  })
})

describe('Redis', () => {
  const [, there, open, { name }] = bundles.find(([kind]) => kind === 'Redis') as (typeof bundles)[0]

  test.skipIf(!there)('sets an expiry on every key of a request or a response', async () => {
    const { idempotency, responses } = await open()
    const connection = await redisConnection()
    onTestFinished(() => connection.close())
    const keys = async () => (await connection.send('KEYS', `{${name}:*`)) as string[]
    const [running, ended] = [attempt(), attempt()]
    const record = { account: fresh('account'), id: 'resp_1', items: ['msg_1', 'msg_2'], body: '{}' }
    const before = await keys()
    await idempotency.begin(running)
    await idempotency.begin(ended)
    await idempotency.finish({ ...ended, keepMs: 5_000, answer })
    await responses.put(record)
    const made = (await keys()).filter((key) => !before.includes(key))
    expect(made).toHaveLength(7)
    for (const key of made) expect(await connection.send('PTTL', key)).toBeGreaterThan(0)
    await responses.delete(record.account, record.id)
    await idempotency.forget(running)
    const left = async () => (await keys()).filter((key) => made.includes(key))
    expect(await left()).toHaveLength(2)
    await idempotency.deleteAll?.(ended.account)
    expect(await left()).toEqual([])
  })

  test.skipIf(!there)('does not keep the names of expired responses of an account in use', async () => {
    const [brief, { responses, idempotency }] = [await open({ responseAgeMs: 1 }), await open()]
    const connection = await redisConnection()
    onTestFinished(() => connection.close())
    const { account } = attempt()
    const end = async (key: string, ms: number) => {
      const each = attempt({ account, key })
      await idempotency.begin(each)
      await idempotency.finish({ ...each, keepMs: ms, answer })
    }
    await responses.put({ account, id: 'first', items: [], body: '{}' })
    await end('first', keepMs)
    for (let index = 0; index < 20; index++) {
      await brief.responses.put({ account, id: `resp_${index}`, items: [], body: '{}' })
      await end(`key ${index}`, 1)
    }
    await expect.poll(async () => responses.get(account, 'resp_19')).toBeUndefined()
    await expect
      .poll(async () => (await connection.send('KEYS', `{${name}:*attempt:*${account}*`)) as string[])
      .toHaveLength(1)
    await responses.put({ account, id: 'last', items: [], body: '{}' })
    await end('last', keepMs)
    for (const kind of ['responses of', 'ended']) {
      const [set] = (await connection.send('KEYS', `{${name}:*:${kind}:${account}`)) as string[]
      expect(await connection.send('ZCARD', set ?? '')).toBe(2)
    }
  })
})
