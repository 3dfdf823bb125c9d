/** What a gateway asks its stores while nobody calls it. */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { createGateway } from '../../../src/index.ts'
import { demo } from '../../../src/providers/index.ts'
import { askChat, hosted } from '../../hosted.ts'

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
    }),
)
afterEach(() => void vi.useRealTimers())

/** A database that counts the statements it executes, and keeps those that take the write lock. */
class CountingDatabase extends DatabaseSync {
  executed = 0
  readonly locking: string[] = []

  override exec(sql: string): void {
    if (sql.startsWith('BEGIN')) this.locking.push(sql)
    super.exec(sql)
  }

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql)
    for (const name of ['all', 'get', 'run', 'iterate'] as const) {
      const execute = statement[name].bind(statement) as (...values: unknown[]) => never
      Object.assign(statement, {
        [name]: (...values: unknown[]) => {
          this.executed++
          if (/^(?:INSERT|UPDATE|DELETE)/.test(sql.trim())) this.locking.push(sql)
          return execute(...values)
        },
      })
    }
    return statement
  }
}

test('an idle process executes at most one statement in five seconds and locks only to delete, also after calls', async () => {
  const database = new CountingDatabase(':memory:')
  const gateway = createGateway({
    models: { m: { provider: demo({ paceMs: 0 }), price: { input: '1', output: '1' } } },
    registry: { providers: {} },
    billing: { currency: 'USD' },
    storage: sqlite(database),
    hooks: { alert: () => undefined },
  })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  await gateway.ready()
  await gateway.admin.accounts.topUp({ account: 'acme', amount: '10', reference: 'start' })
  const { key } = await gateway.admin.keys.create({ account: 'acme', group: 'default' })

  const idleMs = 600_000
  const whileIdle = async () => {
    await vi.advanceTimersByTimeAsync(120_000)
    const before = database.executed
    database.locking.length = 0
    await vi.advanceTimersByTimeAsync(idleMs)
    expect(database.locking.filter((sql) => !sql.startsWith('DELETE'))).toEqual([])
    return database.executed - before
  }
  const most = idleMs / 5_000
  expect(await whileIdle()).toBeLessThanOrEqual(most)

  const url = await hosted(gateway)
  const before = database.executed
  expect(
    (
      await askChat(
        url,
        { model: 'm' },
        { headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } },
      )
    ).status,
  ).toBe(200)
  expect(database.executed).toBeGreaterThan(before)
  expect(await whileIdle()).toBeLessThanOrEqual(most)
})
