/** Kills gateways repeatedly while videos are made, and counts lost and duplicated videos. */
import { taskSchema } from '../../adapters/stores/postgres/tasks.ts'
import { play } from '../chaos/world.ts'
import { ownName, postgresPool, postgresUrl } from '../servers.ts'

export async function killAll(kills: number, tasks: number): Promise<{ lost: number; twice: number }> {
  const prefix = ownName()
  const pool = postgresPool(1)
  try {
    for (const statement of taskSchema(prefix)) await pool.query(statement)
    const run = { kind: 'token', store: 'postgres', connection: postgresUrl, prefix, tasks, kills } as const
    const { lost, jobs } = await play(run)
    return { lost, twice: [...jobs.values()].filter((count) => count > 1).length }
  } finally {
    await pool.query(`DROP TABLE IF EXISTS ${prefix}tasks`)
    await pool.end()
  }
}
