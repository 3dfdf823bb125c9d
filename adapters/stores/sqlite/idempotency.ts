import { expiredAttemptMs, type IdempotencyStore, type IdempotencyVerdict } from '../index.ts'
import { attemptVerdict } from '../sql/rows.ts'
import type { Database, Row } from './database.ts'
import { repeat, sweepOf } from './sweep.ts'

/**
 * One row per request with an `Idempotency-Key`. After `ends`, another attempt may take over the row; it is deleted
 * `expiredAttemptMs` later. The body is the last column, so that the others can be read without it.
 */
export const idempotencySchema: string = `
    CREATE TABLE modelhatch_idempotency (
      account TEXT NOT NULL,
      route TEXT NOT NULL,
      key TEXT NOT NULL,
      attempt TEXT NOT NULL,
      digest TEXT NOT NULL,
      ends REAL NOT NULL,
      ended INTEGER NOT NULL DEFAULT 0,
      status INTEGER,
      headers TEXT,
      body BLOB,
      PRIMARY KEY (account, route, key)
    ) STRICT;
    CREATE INDEX modelhatch_idempotency_ends ON modelhatch_idempotency (ends);
`

const beginSql = `
  INSERT INTO modelhatch_idempotency (account, route, key, attempt, digest, ends) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET attempt = excluded.attempt, digest = excluded.digest, ends = excluded.ends, ended = 0,
    status = NULL, headers = NULL, body = NULL
  WHERE ends <= ? OR (attempt = excluded.attempt AND NOT ended)`

const held = 'account = ? AND route = ? AND key = ? AND attempt = ? AND NOT ended'

const deleteSql = `
  DELETE FROM modelhatch_idempotency WHERE rowid IN
    (SELECT rowid FROM modelhatch_idempotency WHERE account = ? AND ended ORDER BY route, key LIMIT 1)`

export function sqliteIdempotency(database: Database): Required<IdempotencyStore> {
  const sweep = sweepOf(database, 'modelhatch_idempotency', expiredAttemptMs)
  return {
    begin({ account, route, key, attempt, digest, leaseMs }) {
      sweep.use()
      return database.transaction((): IdempotencyVerdict => {
        const now = database.now()
        const begun = database.run(beginSql, account, route, key, attempt, digest, now + leaseMs, now) > 0
        if (begun) return { outcome: 'begun' }
        const sql = 'SELECT * FROM modelhatch_idempotency WHERE account = ? AND route = ? AND key = ?'
        return attemptVerdict(database.get(sql, account, route, key) as Row)
      })
    },
    finish({ account, route, key, attempt, answer, keepMs }) {
      const { status = null, headers = {}, body = null } = answer ?? {}
      return database.transaction(() => {
        const sql = `UPDATE modelhatch_idempotency SET ended = 1, ends = ?, status = ?, headers = ?, body = ? WHERE ${held}`
        const ends = database.now() + keepMs
        database.run(sql, ends, status, JSON.stringify(headers), body, account, route, key, attempt)
      })
    },
    forget: ({ account, route, key, attempt }) =>
      database.transaction(() => {
        database.run(`DELETE FROM modelhatch_idempotency WHERE ${held}`, account, route, key, attempt)
      }),
    deleteAll: (account) => repeat(database, deleteSql, () => account),
    close: () => sweep.close(),
  }
}
