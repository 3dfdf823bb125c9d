import {
  cursorOf,
  pageOf,
  pollForChanges,
  readCursor,
  type KeyQuestion,
  type KeyRecord,
  type KeyStore,
  type Page,
} from '../index.ts'
import type { Database } from './database.ts'
import { keyOf, keyText } from '../sql/rows.ts'
import { given, where, type Condition } from './conditions.ts'

export const keysSchema: string = `
    CREATE TABLE modelhatch_keys (
      id TEXT PRIMARY KEY,
      hash TEXT NOT NULL UNIQUE,
      account TEXT NOT NULL,
      created_at REAL NOT NULL,
      version INTEGER NOT NULL,
      record TEXT NOT NULL,
      changed REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX modelhatch_keys_of ON modelhatch_keys (account, created_at);
    CREATE INDEX modelhatch_keys_changed ON modelhatch_keys (changed);
    CREATE INDEX modelhatch_keys_at ON modelhatch_keys (created_at, id);
`

export function sqliteKeys(database: Database): KeyStore {
  return {
    find: (hash) =>
      database.read(() => {
        const row = database.get('SELECT hash, record FROM modelhatch_keys WHERE hash = ?', hash)
        return row && keyOf(row)
      }),
    insert: async (record) =>
      database.transaction(() => {
        const { id, hash, account, createdAt, version } = record
        const sql = 'INSERT OR IGNORE INTO modelhatch_keys VALUES (?, ?, ?, ?, ?, ?, ?)'
        return database.run(sql, id, hash, account, createdAt, version, keyText(record), database.now()) > 0
      }),
    update: async (record) =>
      database.transaction(() => {
        const { id, account, createdAt, version } = record
        const sql = `UPDATE modelhatch_keys SET account = ?, created_at = ?, version = ?, record = ?, changed = ?
          WHERE id = ? AND version = ?`
        return database.run(sql, account, createdAt, version, keyText(record), database.now(), id, version - 1) > 0
      }),
    list: async (account) =>
      database.read(() => {
        const sql = 'SELECT hash, record FROM modelhatch_keys WHERE account = ? ORDER BY created_at DESC, id DESC'
        return database.all(sql, account).map(keyOf)
      }),
    search: (question) => database.read(() => searched(database, question)),
    watch: (changed) =>
      pollForChanges(changed, (since) =>
        database.read(() => {
          const now = database.now()
          // A change becomes visible a little after its timestamp, so each poll repeats the last five seconds.
          const sql = 'SELECT hash, changed FROM modelhatch_keys WHERE changed > ?'
          const rows = database.all(sql, Number(since ?? now) - 5_000)
          const changes = rows.map((row) => ({ hash: row['hash'] as string, at: String(row['changed']) }))
          return { now: String(now), changes }
        }),
      ),
  }
}

function searched(database: Database, question: KeyQuestion): Page<KeyRecord> {
  const { account, group, user, tag, text, state, now, limit = 100, after } = question
  const revoked = `record ->> 'revokedAt'`
  const expires = `record ->> 'expiresAt'`
  const states = {
    active: [`${revoked} IS NULL AND (${expires} IS NULL OR ${expires} > ?)`, now],
    expired: [`${revoked} IS NULL AND ${expires} <= ?`, now],
    revoked: [`${revoked} IS NOT NULL`],
  } as const
  const conditions: Condition[] = [
    ...given('account = ?', account),
    ...given(`record ->> 'group' = ?`, group),
    ...given(`record ->> 'user' = ?`, user),
    ...given(`EXISTS (SELECT 1 FROM json_each(record, '$.tags') WHERE value = ?)`, tag),
    ...(state === undefined ? [] : [states[state]]),
    ...given(`instr(lower(${searchedText}), lower(?)) > 0`, text),
  ]
  if (after !== undefined) {
    const [at, id] = readCursor(after)
    conditions.push(['created_at <= ? AND (created_at < ? OR id < ?)', at, at, id])
  }
  const { text: filter, values } = where(conditions)
  const sql = `SELECT hash, record FROM modelhatch_keys ${filter} ORDER BY created_at DESC, id DESC LIMIT ?`
  const found = database.all(sql, ...values, limit + 1).map(keyOf)
  return pageOf(found, limit, (last) => cursorOf(last.createdAt, last.id))
}

/** The texts that are searched, separated by a character that none of them contains. */
const searchedText = ['id', `record ->> 'prefix'`, 'account', `record ->> 'name'`, `record ->> 'user'`]
  .map((each) => `coalesce(${each}, '')`)
  .join(' || char(0) || ')
