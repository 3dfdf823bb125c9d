/**
 * The databases that tests run against. Where no Postgres or Redis answers, Postgres tests run on PGlite and Redis tests
 * are skipped, visibly; where everything must be run they fail.
 */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { Pool } from 'pg'
import type { Queryable } from '../../adapters/postgres.ts'

const must = Boolean(process.env['MODELHATCH_REQUIRE_ALL'])

export const postgresAddress = { host: '127.0.0.1', port: 5432, user: 'root', database: 'test' }
export const redisAddress = { host: '127.0.0.1', port: 6379 }

export const hasPostgres: boolean = await answers('Postgres', postgresAddress.port)
export const hasRedis: boolean = await answers('Redis', redisAddress.port)

/** A name for a schema, or for the keys, of one test file. */
export function ownName(): string {
  return `mh_${randomBytes(6).toString('hex')}`
}

export interface OwnSchema {
  readonly pool: Queryable
  readonly schema: string
  readonly kind: 'Postgres' | 'PGlite'
  drop(): Promise<void>
}

/** A schema that nobody else uses. */
export async function ownSchema(connections = 10): Promise<OwnSchema> {
  const schema = ownName()
  const server = hasPostgres
    ? new Pool({ ...postgresAddress, max: connections, options: '-c synchronous_commit=off' })
    : undefined
  const embedded = hasPostgres ? undefined : await lite()
  const pool = (server ?? embedded) as Queryable
  return {
    pool,
    schema,
    kind: hasPostgres ? 'Postgres' : 'PGlite',
    async drop() {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await (server?.end() ?? embedded?.close())
    },
  }
}

export async function lite() {
  const { PGlite } = await import('@electric-sql/pglite')
  return PGlite.create()
}

async function answers(name: string, port: number): Promise<boolean> {
  const reached = await new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.end())
  })
  if (reached) return true
  if (must) throw new Error(`no ${name} answers at 127.0.0.1:${port}`)
  console.warn(`No ${name} answers at 127.0.0.1:${port}: its tests are skipped, or run on PGlite.`)
  return false
}
