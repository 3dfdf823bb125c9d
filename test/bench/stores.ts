/** The ledgers of the metered servers. */
import { postgres } from 'modelhatch/postgres'
import type { StorageBundle } from 'modelhatch'
import { hasPostgres, ownName, postgresPool } from '../servers.ts'

interface Books {
  readonly storage: StorageBundle | undefined
  readonly close: () => Promise<void>
}

/** Whether this machine can run a kind of server. */
export function canMeasure(kind: string): boolean {
  return kind !== 'postgres' || hasPostgres
}

/** A Postgres schema, which `close` drops, or memory for all other kinds. */
export function booksOf(kind: string): Books {
  if (kind !== 'postgres') return { storage: undefined, close: async () => undefined }
  const schema = ownName()
  const pool = postgresPool(10)
  const close = async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  }
  return { storage: postgres(pool, { schema }), close }
}
