/** The statements that calls send to Postgres, and whether their commits wait for the disk. */
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres, type PostgresOptions } from '../../../adapters/stores/postgres/postgres.ts'
import type { Hold, LimitClaim } from '../../../adapters/stores/index.ts'
import { usageRecord } from '../../observe/usage/record.ts'
import { hasPostgres, ownName, postgresPool, postgresUrl } from '../../servers.ts'

const account = 'acme'
const leaseMs = 60_000

function claimOf(id: string, cost = 1): LimitClaim {
  const rates = [{ bucket: 'rate', cost, limit: 1, periodMs: 1e9, burst: 10_000 }]
  return { id, rates, places: [{ bucket: 'slots', places: 10_000 }], leaseMs }
}

function holdOf(id: string, amount = 1n): Hold {
  return { id, account, amount, leaseMs }
}

interface Sent {
  readonly text: string
  readonly name?: string
}

/** A bundle over a pool whose statements are recorded. `beforeSend` is called with each statement before it is sent. */
async function opened(options: PostgresOptions = {}, beforeSend: (sent: Sent) => unknown = () => undefined) {
  const [pool, schema] = [postgresPool(4), ownName()]
  const sent: Sent[] = []
  const spy = new Proxy(pool, {
    get(target, name) {
      if (name === 'query') {
        return async (query: Sent & { values: unknown[] }) => {
          sent.push({ text: query.text, ...('name' in query && { name: query.name }) })
          await beforeSend(query)
          return target.query(query as never)
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  const storage = postgres(spy, { schema, ...options })
  onTestFinished(async () => {
    await storage.close()
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })
  await storage.ledger.credit({ account, amount: 1_000n, reference: 'start' })
  const namesOf = (found: readonly Sent[]) => found.map(({ text }) => /@?\.(\w+)\(/.exec(text)?.[1])
  return { storage, pool, schema, sent, since: (from: number) => namesOf(sent.slice(from)) }
}

/** A bundle over one client that records `synchronous_commit` at the end of the transaction of each statement. */
async function committing(options: PostgresOptions = {}, isApart = (text: string) => text.startsWith('CALL')) {
  const client = new Client({ connectionString: postgresUrl })
  await client.connect()
  const schema = ownName()
  const commits: (readonly [name: string, synchronous: string])[] = []
  let last = Promise.resolve<unknown>(undefined)
  const query = async (text: string, values?: unknown[]) => {
    // Has transactions of its own.
    if (isApart(text)) return client.query(text, values)
    await client.query('BEGIN')
    try {
      const result = await client.query(text, values)
      const { rows } = await client.query<{ synchronous_commit: string }>('SHOW synchronous_commit')
      const what = new RegExp(`${schema}\\.(\\w+)`).exec(text)?.[1] ?? ''
      commits.push([what, rows[0]?.synchronous_commit ?? ''])
      return result
    } finally {
      await client.query('COMMIT')
    }
  }
  const serial = (text: string, values?: unknown[]) => {
    const result = last.then(() => query(text, values))
    last = result.catch(() => undefined)
    return result
  }
  const storage = postgres({ query: serial }, { schema, ...options })
  onTestFinished(async () => {
    await storage.close()
    await last
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await client.end()
  })
  await storage.ledger.credit({ account, amount: 1_000n, reference: 'start' })
  await storage.usage.list({ limit: 1 })
  return {
    storage,
    client,
    schema,
    commits,
    of: (name: string) => commits.filter(([what]) => what === name).map(([, how]) => how),
  }
}

describe.skipIf(!hasPostgres)('Postgres,', () => {
  test('calls of one turn of the event loop are admitted in one statement, and ended in one', async () => {
    const { storage, sent, since } = await opened()
    const before = sent.length
    const ids = Array.from({ length: 20 }, (_, index) => `call ${index}`)
    const admitted = await Promise.all(ids.map(async (id) => storage.admission.admit(claimOf(id), holdOf(id, 7n))))
    expect(admitted.map(({ hold }) => hold?.balance)).toEqual(ids.map((_, index) => 993n - 7n * BigInt(index)))
    expect(admitted.map(({ limits }) => limits.free)).toEqual(ids.map((_, index) => [9_999 - index]))
    expect(since(before)).toEqual(['admit_calls'])
    const returned = (id: string) => ({ id, places: ['slots'], corrections: claimOf(id, -1).rates })
    await Promise.all(
      ids.map(async (id) => storage.admission.finish([{ returned: returned(id), end: { id, account, amount: 2n } }])),
    )
    expect(since(before)).toEqual(['admit_calls', 'journal'])
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 960n, held: 0n })
    expect((await storage.limits.take(claimOf('last'))).free).toEqual([9_999])
  })

  test('ended calls are found by an index, also in a table that was never analysed', async () => {
    const { storage, client, schema } = await committing()
    const ids = Array.from({ length: 400 }, (_, index) => `call ${index}`)
    const settle = async (id: string) => storage.ledger.settle({ id, account, amount: 1n })
    await Promise.all(ids.slice(0, 300).map(settle))
    const read = async () => {
      await client.query('SELECT pg_stat_force_next_flush()')
      const sums = `SELECT seq_tup_read::int AS rows FROM pg_stat_user_tables WHERE schemaname = '${schema}' AND relname = 'entries'`
      return (await client.query<{ rows: number }>(sums)).rows[0]?.rows
    }
    const before = await read()
    await Promise.all(ids.slice(300).map(settle))
    expect(await read()).toBe(before)
  })

  test('a rejected call does not affect the rest of its batch, and consumes none of the limits and money', async () => {
    const { storage } = await opened()
    const wants: [string, LimitClaim, Hold][] = [
      ['held', claimOf('a'), holdOf('a', 600n)],
      ['insufficient', claimOf('b'), holdOf('b', 600n)],
      ['limited', claimOf('c', 20_000), holdOf('c', 1n)],
      ['insufficient', claimOf('d'), { ...holdOf('d'), account: 'nobody' }],
      ['held', claimOf('e', 9_998), holdOf('e', 400n)],
      ['limited', claimOf('f', 2), holdOf('f', 0n)],
    ]
    const verdicts = await Promise.all(wants.map(async ([, claim, hold]) => storage.admission.admit(claim, hold)))
    expect(verdicts.map(({ limits, hold }) => (limits.admitted ? hold?.outcome : 'limited'))).toEqual(
      wants.map(([outcome]) => outcome),
    )
    expect(verdicts.map(({ limits }) => limits.left.map(Math.floor))).toEqual([
      [9_999],
      [9_999],
      [9_999],
      [9_999],
      [1],
      [1],
    ])
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 0n, held: 1_000n })
    expect((await storage.ledger.audit()).faults).toEqual([])
  })

  test('a value that the database cannot store fails only the call that it belongs to', async () => {
    const { storage } = await opened()
    const all = ['good', 'bad \0', 'bad \ud800', 'fine'].map(async (id) => storage.ledger.hold(holdOf(id)))
    const held = await Promise.allSettled(all)
    expect(held.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(held[1]).toMatchObject({ reason: { status: 400 } })
    const ended = await Promise.allSettled(
      ['good', 'bad \0', 'fine'].map(async (id) => storage.ledger.settle({ id, account, amount: 1n })),
    )
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 998n, held: 0n })
  })

  test('statements are prepared by name, except with preparedStatements: false', async () => {
    const use = async ({ storage }: Awaited<ReturnType<typeof opened>>) => {
      await storage.admission.admit(claimOf('a'), holdOf('a'))
      await storage.ledger.settle({ id: 'a', account, amount: 1n })
      await storage.keys.find('hash')
      await storage.limits.renew([{ id: 'a', places: ['slots'] }], leaseMs)
    }
    const [named, plain] = [await opened(), await opened({ preparedStatements: false })]
    await use(named)
    await use(plain)
    expect(named.sent.filter(({ name }) => name !== undefined).length).toBeGreaterThanOrEqual(5)
    expect(plain.sent.filter((each) => 'name' in each)).toEqual([])
  })

  test('statements are sent unprepared once a connection does not know a prepared one', async () => {
    let unknown = 1
    const { storage, sent } = await opened({}, ({ name }) => {
      if (name !== undefined && unknown-- > 0)
        throw Object.assign(new Error('prepared statement does not exist'), { code: '26000' })
    })
    expect((await storage.ledger.hold(holdOf('a'))).outcome).toBe('held')
    expect(sent.filter(({ name }) => name !== undefined)).toHaveLength(1)
  })

  test('relaxed: only the hold of a call is confirmed before it is on disk', async () => {
    const { storage, of } = await committing()
    await storage.admission.admit(claimOf('a'), holdOf('a'))
    await storage.ledger.hold({ ...holdOf('video'), durable: true })
    expect(of('admit_one')).toEqual(['off', 'on'])
    await storage.limits.take(claimOf('b'))

    await storage.responses.put({ account, id: 'r', items: [], body: '{}' })
    const key = { account, route: 'r', key: 'k', attempt: 'a', digest: 'd', leaseMs }
    await storage.idempotency.begin(key)
    await storage.idempotency.finish({
      ...key,
      keepMs: leaseMs,
      answer: { status: 200, headers: {}, body: Buffer.from('') },
    })
    const times = { createdAt: 1, expiresAt: 2, dueAt: 1, leasedUntil: 0 }
    await storage.tasks.insert({ account, id: 't', version: 1, ...times, data: {} })
    await storage.ledger.renew([holdOf('video')], leaseMs)
    for (const name of ['credit', 'response_items', 'idempotency', 'tasks', 'renew_holds'])
      expect([name, ...new Set(of(name))]).toEqual([name, 'on'])
  })

  test('full: the hold of a call is on disk before it is admitted', async () => {
    const { storage, of } = await committing({ durability: 'full' })
    await storage.admission.admit(claimOf('a'), holdOf('a'))
    await storage.admission.admit(claimOf('b'), holdOf('b'))
    expect(of('admit_one')).toEqual(['on', 'on'])
  })

  test('the transaction that ends calls does not wait for the disk; its statement does', async () => {
    const { storage, client, schema } = await committing()
    await client.query(`
      CREATE TABLE ${schema}.ends (how text, lsn pg_lsn);
      CREATE FUNCTION ${schema}.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO ${schema}.ends VALUES (current_setting('synchronous_commit'), pg_current_wal_insert_lsn());
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER noting AFTER INSERT ON ${schema}.entries DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${schema}.note()`)
    const ends = `SELECT how, pg_current_wal_flush_lsn() > lsn AS written FROM ${schema}.ends ORDER BY lsn DESC LIMIT 1`
    for (let made = 0; made < 20; made++) {
      if (made % 2 === 0) await storage.ledger.settle({ id: `call ${made}`, account, amount: 1n })
      else await storage.ledger.release({ id: `call ${made}`, account })
      expect((await client.query(ends)).rows).toEqual([{ how: 'off', written: true }])
    }
  })

  test('calls are ended and usage is added where the host runs each statement in a transaction', async () => {
    const { storage, commits, of } = await committing({}, () => false)
    await storage.admission.admit(claimOf('a'), holdOf('a', 5n))
    const record = usageRecord({ id: 'a', account, startedAt: Date.now() })
    await Promise.all([storage.ledger.settle({ id: 'a', account, amount: 2n }), storage.usage.append([record])])
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 998n, held: 0n })
    expect((await storage.usage.list({ account })).items).toHaveLength(1)
    const before = commits.length
    await storage.ledger.settle({ id: 'b', account, amount: 1n })
    expect(commits.slice(before), 'the first time is remembered').toEqual([['journal', 'on']])
    expect(of('journal')).not.toContain('off')
  })

  test('usage is added with the endings of the same turn; if that fails, calls are ended nevertheless', async () => {
    const { storage, sent, since, pool, schema } = await opened()
    const record = (id: string) => usageRecord({ id, account, startedAt: Date.now() })
    await storage.usage.append([record('first')])
    const before = sent.length
    await Promise.all([
      storage.ledger.settle({ id: 'a', account, amount: 1n }),
      storage.usage.append([record('a'), record('b')]),
    ])
    expect(since(before)).toEqual(['journal'])
    expect((await storage.usage.list({ account })).items.map(({ id }) => id).sort()).toEqual(['a', 'b', 'first'])
    await pool.query(`ALTER TABLE ${schema}.usage_days RENAME TO gone`)
    const [settled, added] = await Promise.allSettled([
      storage.ledger.settle({ id: 'c', account, amount: 1n }),
      storage.usage.append([record('c')]),
    ])
    expect([settled, added]).toMatchObject([{ value: { outcome: 'settled' } }, { reason: { code: '42P01' } }])
    expect(await storage.ledger.account(account)).toMatchObject({ balance: 998n, held: 0n })
    await pool.query(`ALTER TABLE ${schema}.gone RENAME TO usage_days`)
    await storage.usage.append([record('c')])
    expect((await storage.usage.list({ account })).items).toHaveLength(4)
  })

  test('a call reads no more than 5 additional rows while 5,000 other calls are open, planned when there were none', async () => {
    const { storage, client, schema } = await committing()
    const cap = { name: 'cap', window: 'w', periods: { boundaries: [0, 8e15] }, limits: { calls: 100_000n } }
    const capped = (id: string) => ({ ...holdOf(id, 0n), caps: [cap, { ...cap, name: `cap of ${id}` }] })
    const one = async (id: string) => {
      const { hold } = await storage.admission.admit(claimOf(id), capped(id))
      const returned = { id, places: ['slots'], corrections: claimOf(id, -1).rates }
      await storage.admission.finish([{ returned, end: { id, account, amount: 0n, caps: hold?.caps ?? [] } }])
    }
    const end = (id: string) => ({
      returned: { id, places: ['slots'], corrections: [] },
      end: { id, account, amount: 1n },
    })
    const past = Array.from({ length: 300 }, (_, index) => `past ${index}`)
    await Promise.all(past.map(async (id) => storage.admission.admit(claimOf(id), holdOf(id))))
    await storage.admission.finish(past.map(end))
    for (const id of ['past', 'past, too']) await one(id)
    const { rows: tables } = await client.query<{ name: string }>(`SELECT relname AS name FROM pg_stat_user_tables
      WHERE schemaname = '${schema}'`)
    await client.query(`ANALYZE ${tables.map(({ name }) => `${schema}.${name}`).join(', ')}`)
    const now = async () => {
      const sums = `SELECT sum(seq_tup_read + coalesce(
          (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid), 0))::int AS rows
        FROM pg_stat_user_tables t WHERE schemaname = '${schema}'`
      // The first flush may not have all.
      for (let before: number | undefined; ;) {
        await client.query('SELECT pg_stat_force_next_flush()')
        const count = (await client.query<{ rows: number }>(sums)).rows[0]?.rows ?? 0
        if (count === before) return count
        before = count
      }
    }
    const read = async (act: () => unknown): Promise<number> => {
      const before = await now()
      await act()
      return (await now()) - before
    }
    await one('first')
    const alone = await read(() => one('alone'))
    const drawn = async (id: string) => {
      const [slice, other] = [`slice ${id}`, `drawn ${id}`]
      const { ahead } = await storage.admission.admit(claimOf(id), holdOf(id), { id: slice, calls: 1, ms: 1 })
      expect(ahead).toBe(1)
      const ends = {
        draws: [{ slice, hold: holdOf(other), claim: claimOf(other) }],
        returns: [{ id: slice, account, places: ['slots'], corrections: [] }],
      }
      await storage.admission.finish([end(id), end(other)], ends)
    }
    await drawn('uncapped')
    const uncapped = await read(() => drawn('uncapped alone'))
    const ids = Array.from({ length: 5_000 }, (_, index) => `open ${index}`)
    while (ids.length > 0)
      await Promise.all(ids.splice(0, 500).map(async (id) => storage.admission.admit(claimOf(id), capped(id))))
    await storage.admission.finish(Array.from({ length: 500 }, (_, index) => end(`open ${index}`)))
    expect(await read(() => one('among others'))).toBeLessThanOrEqual(alone + 5)
    expect(await read(() => drawn('uncapped among others'))).toBeLessThanOrEqual(uncapped + 5)
    expect((await storage.limits.take(claimOf('last'))).free).toEqual([10_000 - 4_501])
  })

  test('concurrency slots are counted exactly while leases expire', async () => {
    const { storage } = await opened()
    for (const id of ['a', 'b', 'c']) await storage.limits.take(claimOf(id))
    const soon = { ...claimOf('soon'), places: [{ bucket: 'slots', places: 4 }], leaseMs: 50 }
    expect((await storage.limits.take(soon)).admitted).toBe(true)
    const next = { ...soon, id: 'next', leaseMs }
    expect((await storage.limits.take(next)).admitted).toBe(false)
    await new Promise((resolve) => setTimeout(resolve, 80))
    expect((await storage.limits.take(next)).free).toEqual([0])
    await storage.limits.renew([{ id: 'a', places: ['slots'] }], 50)
    await new Promise((resolve) => setTimeout(resolve, 80))
    expect((await storage.limits.take({ ...next, id: 'after' })).free).toEqual([0])
  })
})
