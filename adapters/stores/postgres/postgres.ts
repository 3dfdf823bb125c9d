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
import { age, checkKnown, flag, text, type Rule } from '../../../src/validation/known-options.ts'
import { Calls } from './calls.ts'
import { callsPart } from './calls-schema.ts'
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

/** Options of `postgres`. */
export interface PostgresOptions {
  /** The schema of the tables: small letters, digits and `_`. Default `modelhatch`. */
  readonly schema?: string
  /** Milliseconds for which a response is kept. Default 2,592,000,000: thirty days. */
  readonly responseAgeMs?: number
  /**
   * Whether a call waits until the money held for it is on disk. `full`: it does. `relaxed`, the default: it does not,
   * which several times as many calls a second and a shorter wait before each are worth: if the database server crashes
   * (not the gateway), holds of its last second may be forgotten. Those calls are charged all the same when they end; at
   * worst they were admitted without cover, and leave the balance of their account below zero. Charges, credits, video
   * tasks and stored responses are on disk before they are confirmed, whatever is set here.
   */
  readonly durability?: 'full' | 'relaxed'
  /**
   * Whether a `pg.Pool` prepares each statement once for a connection. Default true. False behind a transaction pooler that
   * does not keep prepared statements, such as PgBouncer before 1.21 or with `max_prepared_statements = 0`.
   */
  readonly preparedStatements?: boolean
}

const durabilities: Rule = {
  is: (value) => value === 'full' || value === 'relaxed',
  must: "must be 'full' or 'relaxed'",
}

const tasksPart: Part = { name: 'tasks', versions: [taskSchema('@.').join(';\n')] }

/** A table is one file: its part below, and its store. */
const parts: readonly Part[] = [
  keysPart,
  limitsPart,
  usagePart,
  ledgerPart,
  jointPart,
  callsPart,
  tasksPart,
  idempotencyPart,
  responsesPart,
]

/** All stores, in one Postgres schema. */
export type PostgresStorage = Required<StorageBundle>

/** Stores everything in Postgres: `storage: postgres(pool)`, with a `pg.Pool`, a PGlite, or anything that has
 * `query(text, values)`. Creates and upgrades its tables with the first call. The pool remains the host's to close. */
export function postgres(pool: Queryable, options: PostgresOptions = {}): PostgresStorage {
  checkKnown('postgres', options, {
    schema: text,
    responseAgeMs: age,
    durability: durabilities,
    preparedStatements: flag,
  })
  const {
    schema = 'modelhatch',
    responseAgeMs = 30 * 86_400_000,
    durability = 'relaxed',
    preparedStatements = true,
  } = options
  const database = new Database(pool, schema, parts, preparedStatements)
  const calls = new Calls(database, durability === 'full')
  const limits = postgresLimits(database, calls)
  const ledger = postgresLedger(database, calls)
  return {
    keys: postgresKeys(database),
    limits,
    ledger,
    usage: postgresUsage(database),
    tasks: taskStore(async (text, values) => ({ rows: await database.rows<Row>(text, values) }), '@.'),
    idempotency: postgresIdempotency(database),
    responses: postgresResponses(database, responseAgeMs),
    joint: postgresJoint(calls, limits, ledger),
    close: () => database.close(),
  }
}
