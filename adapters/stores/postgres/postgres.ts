/**
 * Everything the gateway keeps, in Postgres: `createGateway({ storage: postgres(pool) })`. `pool` is anything with
 * `query(text, values)`: a `pg.Pool`, a PGlite. It stays the host's: nothing here opens or closes a connection.
 *
 * The tables live in a schema of their own, which is made, or brought up to date, with the first call; any number of
 * processes may do so at once. Every call is one statement, so a pool behind a transaction pooler does as well.
 *
 * Responses, and answers to repeated requests, are taken away when their time is over: a few at once, behind the calls.
 *
 * For a `pg.Pool` set `connectionTimeoutMillis` (2,000, say): without it a server that accepts connections and says
 * nothing keeps the pool's places for ever. Its idle connections may die: the pool's errors are listened to here.
 */
import type { StorageBundle } from '../index.ts'
import { age, checkKnown, text } from '../../../src/validation/known-options.ts'
import { Database, type Queryable } from './database.ts'
import { idempotencyPart, postgresIdempotency } from './idempotency.ts'
import { jointPart, postgresJoint } from './joint.ts'
import { keysPart, postgresKeys } from './keys.ts'
import { postgresLedger } from './ledger.ts'
import { ledgerPart } from './ledger-schema.ts'
import { limitsPart, postgresLimits } from './limits.ts'
import type { Part } from './migration.ts'
import type { Row } from './query.ts'
import { postgresResponses, responsesPart } from './responses.ts'
import { taskSchema, taskStore } from './tasks.ts'
import { postgresUsage } from './usage.ts'
import { usagePart } from './usage-schema.ts'

export type { Queryable } from './database.ts'

export interface PostgresOptions {
  /** The schema of the tables: small letters, digits and `_`. Default `modelhatch`. */
  readonly schema?: string
  /** Milliseconds for which a response is kept. Default 2,592,000,000: thirty days. */
  readonly responseAgeMs?: number
}

const tasksPart: Part = { name: 'tasks', versions: [taskSchema('@.').join(';\n')] }

/** A table is one file: its part below, and its store. */
const parts: readonly Part[] = [
  keysPart,
  limitsPart,
  usagePart,
  ledgerPart,
  jointPart,
  tasksPart,
  idempotencyPart,
  responsesPart,
]

export type PostgresStorage = Required<StorageBundle>

export function postgres(pool: Queryable, options: PostgresOptions = {}): PostgresStorage {
  checkKnown('postgres', options, { schema: text, responseAgeMs: age })
  const { schema = 'modelhatch', responseAgeMs = 30 * 86_400_000 } = options
  const database = new Database(pool, schema, parts)
  const limits = postgresLimits(database)
  const ledger = postgresLedger(database)
  return {
    keys: postgresKeys(database),
    limits,
    ledger,
    usage: postgresUsage(database),
    tasks: taskStore(async (text, values) => ({ rows: await database.rows<Row>(text, values) }), '@.'),
    idempotency: postgresIdempotency(database),
    responses: postgresResponses(database, responseAgeMs),
    joint: postgresJoint(database, limits, ledger),
    close: () => database.close(),
  }
}
