/**
 * Everything the gateway keeps, in one SQLite file: `createGateway({ storage: sqlite('gateway.db') })`. For one machine;
 * several processes on it may share the file. Needs nothing but `node:sqlite`.
 *
 * The file is opened and its tables made with the first call. What was written survives a process that is killed; with
 * `durability: 'full'` also a machine that loses its power, at the price of a sync to disk for each call.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Storage } from '../src/index.ts'
import { Database } from './sqlite/database.ts'
import { sqliteJoint } from './sqlite/joint.ts'
import { keysPart, sqliteKeys } from './sqlite/keys.ts'
import { ledgerPart, sqliteLedger } from './sqlite/ledger.ts'
import { limitsPart, sqliteLimits } from './sqlite/limits.ts'
import { sqliteUsage, usagePart } from './sqlite/usage.ts'

export interface SqliteOptions {
  /** What a resolved write survives: `process` (the default) the end of the process, `full` that of the machine too. */
  readonly durability?: 'process' | 'full'
}

/** A table is one file: its part below, and its store. */
const parts = [keysPart, limitsPart, ledgerPart, usagePart]

export type SqliteStorage = Storage &
  Required<Pick<Storage, 'keys' | 'limits' | 'ledger' | 'usage' | 'joint' | 'close'>>

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
    joint: sqliteJoint(database, limits, ledger),
    close: () => database.close(),
  }
}
