/**
 * kill -9: two gateway processes that share a database are killed repeatedly while clients submit videos and retry with
 * their idempotency keys. `npm run test:long` runs the long form.
 */
import { afterAll, describe, expect, test } from 'vitest'
import type { VideoProvider } from '../../src/providers/index.ts'
import { long } from '../long.ts'
import { hasPostgres, hasRedis, ownName, postgresPool, postgresUrl, redisConnection, redisUrl } from '../servers.ts'
import { play, type Outcome } from './world.ts'

const size = long ? { tasks: 1_000, kills: 100 } : { tasks: 30, kills: 3 }
const timeout = long ? 600_000 : 60_000

function verify(kind: VideoProvider['submit'], { states, jobs, tasks, orphansReported, lost }: Outcome): void {
  expect(lost, 'tasks lost or stuck').toBe(0)
  expect(
    [...jobs.values()].filter((count) => count > 1),
    'duplicated jobs',
  ).toEqual([])
  if (kind !== 'none') {
    expect(states).toEqual({ completed: size.tasks })
    expect(jobs.size).toBe(size.tasks)
    return
  }
  // Submissions whose result is unknown fail. If the vendor has such a job after all, the host gets a reconcile event.
  const failed = [...tasks].filter(([, task]) => task.status === 'failed').map(([id]) => id)
  expect((states['completed'] ?? 0) + failed.length).toBe(tasks.size)
  for (const id of failed) if (jobs.has(id)) expect(orphansReported.has(id), `orphan ${id} reported`).toBe(true)
}

describe.skipIf(!hasPostgres)('over Postgres', () => {
  const prefix = ownName()
  const pool = hasPostgres ? postgresPool(1) : undefined
  afterAll(async () => {
    await pool?.query(`DROP SCHEMA ${prefix} CASCADE`)
    await pool?.end()
  })
  const kinds = long ? (['token', 'lookup', 'none'] as const) : (['none'] as const)
  test.each(kinds)('a vendor of kind "%s"', { timeout }, async (kind) => {
    const run = { kind, store: 'postgres', connection: postgresUrl, prefix, ...size } as const
    verify(kind, await play(run))
  })
})

describe.skipIf(!hasRedis)('over Redis', () => {
  const prefix = `modelhatch-test:${ownName()}:{tasks}:`
  test('a vendor of kind "token"', { timeout }, async () => {
    const run = { kind: 'token', store: 'redis', connection: redisUrl, prefix, ...size } as const
    verify('token', await play(run))
  })
  afterAll(async () => {
    const { send, close } = await redisConnection()
    const keys = (await send('KEYS', `${prefix}*`)) as string[]
    if (keys.length > 0) await send('DEL', ...keys)
    close()
  })
})
