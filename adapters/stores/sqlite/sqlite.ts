/**
 * Everything the gateway keeps, in one SQLite file: `createGateway({ storage: sqlite('gateway.db') })`. For one machine;
 * several processes on it may share the file. Needs nothing but `node:sqlite`.
 *
 * The file is opened and its tables made with the first call. What was written survives a process that is killed; with
 * `durability: 'full'` also a machine that loses its power, at the price of a sync to disk for each call. Responses, and
 * answers to repeated requests, are taken away when their time is over: a few at once, behind the calls.
 */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { StorageBundle, TaskStore } from '../../../src/index.ts'
import { age, checkKnown, elsewhere } from '../../../src/validation/known-options.ts'
import { Database } from './database.ts'
import { idempotencyPart, sqliteIdempotency } from './idempotency.ts'
import { sqliteJoint } from './joint.ts'
import { keysPart, sqliteKeys } from './keys.ts'
import { ledgerPart, sqliteLedger } from './ledger.ts'
import { limitsPart, sqliteLimits } from './limits.ts'
import { responsesPart, sqliteResponses } from './responses.ts'
import { taskSchema, taskSchema2, taskStore } from './tasks.ts'
import { sqliteUsage } from './usage.ts'
import { usagePart } from './usage-schema.ts'

export interface SqliteOptions {
  /** What a resolved write survives: `process` (the default) the end of the process, `full` that of the machine too. */
  readonly durability?: 'process' | 'full'
  /** Milliseconds for which a response is kept. Default 2,592,000,000: thirty days. */
  readonly responseAgeMs?: number
}

const tasksPart = { name: 'tasks', versions: [taskSchema.join(';\n'), taskSchema2] }

/** A table is one file: its part below, and its store. */
const parts = [keysPart, limitsPart, ledgerPart, usagePart, tasksPart, idempotencyPart, responsesPart]

export type SqliteStorage = Required<StorageBundle>

/** `file`: a path, or a database that the host has opened, which then is the host's to set up and to close. */
export function sqlite(file: string | DatabaseSync, options: SqliteOptions = {}): SqliteStorage {
  const { durability = 'process', responseAgeMs = 30 * 86_400_000 } = options
  checkKnown('sqlite', options, { durability: elsewhere, responseAgeMs: age })
  if (durability !== 'process' && durability !== 'full') {
    throw new TypeError(`sqlite: the durability "${String(durability)}" must be "process" or "full"`)
  }
  if (typeof file === 'string') requireFolder(file)
  const database = new Database(file, durability, parts)
  const limits = sqliteLimits(database)
  const ledger = sqliteLedger(database)
  const idempotency = sqliteIdempotency(database)
  const usage = sqliteUsage(database)
  const responses = sqliteResponses(database, responseAgeMs)
  return {
    keys: sqliteKeys(database),
    limits,
    ledger,
    usage,
    tasks: sqliteTasks(database),
    idempotency,
    responses,
    joint: sqliteJoint(database, limits, ledger),
    async close() {
      // A step of a sweep would open the file again.
      await Promise.all([idempotency.close(), responses.close(), usage.close()])
      database.close()
    },
  }
}

/** The file itself is made with the first call, but never a folder. */
function requireFolder(file: string): void {
  if (file === '') throw new TypeError('sqlite: the path is empty: is a variable unset?')
  if (file === ':memory:' || file.startsWith('file:')) return
  const folder = dirname(resolve(file))
  if (existsSync(folder)) return
  throw new TypeError(`sqlite: there is no folder "${folder}" for the file "${file}". Make it first.`)
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
    find: (account, id, now) => database.patiently((raw) => store(raw).find(account, id, now)),
    replace: (task) => database.patiently((raw) => store(raw).replace(task)),
    claim: (options) => database.patiently((raw) => store(raw).claim(options)),
    list: (account, options) => database.patiently(async (raw) => (await store(raw).list?.(account, options)) ?? []),
  }
}
