/** The stores of one history, with the clock of their server. */
import type { PGlite } from '@electric-sql/pglite'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { postgres } from '../../adapters/stores/postgres/postgres.ts'
import { sqlite } from '../../adapters/stores/sqlite/sqlite.ts'
import {
  memoryIdempotencyStore,
  memoryLedger,
  memoryLimitStore,
  type StorageBundle,
  type TaskStore,
} from '../../src/index.ts'
import { memoryTaskStore } from '../../src/tasks/memory.ts'
import type { Scheduler } from './scheduler.ts'
import { SliceStore } from './slice-store.ts'

export type Kind = 'memory' | 'sqlite' | 'postgres'

/** The stores whose calls go through connections. */
export type Shared = Required<Pick<StorageBundle, 'ledger' | 'limits' | 'tasks' | 'idempotency'>> &
  Pick<StorageBundle, 'admission'>

/** Opens empty stores, which run on the machine that runs at the moment. `isAmple`: those in memory draw slices. */
export type OpenStores = (kind: Kind, scheduler: Scheduler, isAmple: boolean) => Shared

/** `database`: for Postgres. It is to be created before clocks are replaced. */
export function storesOf(database: PGlite | undefined): OpenStores {
  let opened = 0
  const empty = inMemory()
  return (kind, scheduler, isAmple) => {
    if (kind === 'sqlite') return sqlite(empty())
    if (kind === 'memory') return inThisProcess(isAmple)
    if (database === undefined) throw new Error('there is no Postgres')
    const pool = {
      async query(text: string, values?: unknown[]) {
        scheduler.working++
        try {
          return await database.query(text, values)
        } finally {
          scheduler.working--
        }
      },
    }
    void pool.query(`DROP SCHEMA IF EXISTS history_${opened} CASCADE`)
    return postgres(pool, { schema: `history_${++opened}` })
  }
}

function inThisProcess(isAmple: boolean): Shared {
  const [ledger, limits] = [memoryLedger(), memoryLimitStore({ clock: Date.now })]
  const admission = isAmple ? new SliceStore(limits, ledger) : undefined
  const tasks: TaskStore = Object.assign(memoryTaskStore({ count: 100 }), { now: async () => Date.now() })
  return {
    ledger,
    limits: admission?.limits ?? limits,
    ...(admission && { admission }),
    idempotency: memoryIdempotencyStore({ count: 100, clock: Date.now }),
    tasks,
  }
}

/**
 * A database of SQLite whose clock is that of this thread. It is made once, because tables and statements take longer than
 * many a history: each history gets it empty.
 */
function inMemory(): () => DatabaseSync {
  const database = new DatabaseSync(':memory:')
  // As the real function, it is constant while a statement runs.
  database.function('unixepoch', { varargs: true, deterministic: true }, (_, ...parts) => {
    if (parts.length > 0) throw new Error('only the current time is simulated')
    return Date.now() / 1_000
  })
  const prepare = database.prepare.bind(database)
  const prepared = new Map<string, StatementSync>()
  database.prepare = (sql) => {
    let statement = prepared.get(sql)
    if (statement === undefined) prepared.set(sql, (statement = prepare(sql)))
    return statement
  }
  // Tables are made after those that they refer to.
  const tables = database.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'modelhatch_layout' ORDER BY rowid DESC`,
  )
  return () => {
    const all = tables.all().map(({ name }) => database.prepare(`DELETE FROM ${String(name)}`))
    // Once more for what triggers have written.
    for (const each of [...all, ...all]) each.run()
    return database
  }
}
