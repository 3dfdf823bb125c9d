/**
 * Everything the gateway keeps, in one SQLite file: `createGateway({ storage: sqlite('gateway.db') })`. For one machine;
 * several processes on it may share the file. Needs nothing but `node:sqlite`.
 *
 * The file is opened and its tables made with the first call. What was written survives a process that is killed; with
 * `durability: 'full'` also a machine that loses its power, at the price of a sync to disk for each call.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Storage, TaskStore } from '../src/index.ts'
import { Database } from './sqlite/database.ts'
import { sqliteJoint } from './sqlite/joint.ts'
import { keysPart, sqliteKeys } from './sqlite/keys.ts'
import { ledgerPart, sqliteLedger } from './sqlite/ledger.ts'
import { limitsPart, sqliteLimits } from './sqlite/limits.ts'
import { taskSchema, taskStore } from './sqlite/tasks.ts'
import { sqliteUsage, usagePart } from './sqlite/usage.ts'

export interface SqliteOptions {
  /** What a resolved write survives: `process` (the default) the end of the process, `full` that of the machine too. */
  readonly durability?: 'process' | 'full'
}

const tasksPart = { name: 'tasks', versions: [taskSchema.join(';\n')] }

/** A table is one file: its part below, and its store. */
const parts = [keysPart, limitsPart, ledgerPart, usagePart, tasksPart]

export type SqliteStorage = Storage &
  Required<Pick<Storage, 'keys' | 'limits' | 'ledger' | 'usage' | 'tasks' | 'joint' | 'close'>>

/** `file`: a path, or a database that the host has opened, which then is the host's to set up and to close. */
export function sqlite(file: string | DatabaseSync, options: SqliteOptions = {}): SqliteStorage {
  const database = new Database(file, options.durability ?? 'process', parts)
  const limits = sqliteLimits(database)
  const ledger = sqliteLedger(database)
  return {
    keys: sqliteKeys(database),
    limits,
    ledger,
    usage: sqliteUsage(database),
    tasks: sqliteTasks(database),
    joint: sqliteJoint(database, limits, ledger),
    close: () => database.close(),
  }
}

function sqliteTasks(database: Database): TaskStore {
  const stores = new WeakMap<DatabaseSync, ReturnType<typeof taskStore>>()
  const store = (raw: DatabaseSync) => {
    let made = stores.get(raw)
    if (made === undefined) stores.set(raw, (made = taskStore(raw)))
    return made
  }
  return {
    insert: (task) => database.patiently((raw) => store(raw).insert(task)),
    find: (tenant, id, now) => database.patiently((raw) => store(raw).find(tenant, id, now)),
    replace: (task) => database.patiently((raw) => store(raw).replace(task)),
    claim: (options) => database.patiently((raw) => store(raw).claim(options)),
    list: (tenant, options) => database.patiently(async (raw) => (await store(raw).list?.(tenant, options)) ?? []),
  }
}
