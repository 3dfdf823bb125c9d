/** Kills gateways repeatedly while videos are made, and counts lost and duplicated videos. */
import { play } from '../chaos/world.ts'
import { ownName, postgresPool, postgresUrl } from '../servers.ts'

export async function killAll(kills: number, tasks: number): Promise<{ lost: number; twice: number }> {
  const prefix = ownName()
  const pool = postgresPool(1)
  try {
    const run = { kind: 'token', store: 'postgres', connection: postgresUrl, prefix, tasks, kills } as const
    const { lost, jobs } = await play(run)
    return { lost, twice: [...jobs.values()].filter((count) => count > 1).length }
  } finally {
    await pool.query(`DROP SCHEMA IF EXISTS ${prefix} CASCADE`)
    await pool.end()
  }
}
