import type { ResponseStore } from '../index.ts'
import { responseOf } from '../sql/rows.ts'
import type { Database } from './database.ts'
import { repeat, sweepOf } from './sweep.ts'

/** Responses and an index of their items. A trigger deletes the items, because foreign keys may be off in a connection. */
export const responsesSchema: string = `
    CREATE TABLE modelhatch_responses (
      account TEXT NOT NULL,
      id TEXT NOT NULL,
      ends REAL NOT NULL,
      items TEXT NOT NULL,
      body TEXT NOT NULL,
      PRIMARY KEY (account, id)
    ) STRICT;
    CREATE INDEX modelhatch_responses_ends ON modelhatch_responses (ends);
    CREATE TABLE modelhatch_response_items (
      account TEXT NOT NULL,
      item TEXT NOT NULL,
      response TEXT NOT NULL,
      PRIMARY KEY (account, item, response)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER modelhatch_responses_gone AFTER DELETE ON modelhatch_responses BEGIN
      DELETE FROM modelhatch_response_items WHERE account = old.account AND response = old.id
        AND item IN (SELECT value FROM json_each(old.items));
    END;
`

const getSql = 'SELECT id, items, body FROM modelhatch_responses WHERE account = ? AND id = ? AND ends > ?'

const holdingSql = `
  SELECT id, items, body FROM modelhatch_response_items i
  JOIN modelhatch_responses r ON r.account = i.account AND r.id = i.response
  WHERE i.account = ? AND i.item = ? AND ends > ? LIMIT 1`

const deleteSql = `
  DELETE FROM modelhatch_responses WHERE rowid IN
    (SELECT rowid FROM modelhatch_responses WHERE account = ? ORDER BY id LIMIT 1)`

/** Keeps each response for `ageMs` milliseconds. */
export function sqliteResponses(database: Database, ageMs: number): Required<ResponseStore> {
  const sweep = sweepOf(database, 'modelhatch_responses')
  const find = (sql: string, account: string, id: string) => {
    sweep.use()
    return database.read(() => {
      const row = database.get(sql, account, id, database.now())
      return row && responseOf(account, row)
    })
  }
  return {
    put({ account, id, items, body }) {
      sweep.use()
      return database.transaction(() => {
        database.run('DELETE FROM modelhatch_responses WHERE account = ? AND id = ?', account, id)
        const sql = 'INSERT INTO modelhatch_responses (account, id, ends, items, body) VALUES (?, ?, ?, ?, ?)'
        database.run(sql, account, id, database.now() + ageMs, JSON.stringify(items), body)
        for (const item of new Set(items)) {
          database.run('INSERT INTO modelhatch_response_items VALUES (?, ?, ?)', account, item, id)
        }
      })
    },
    get: (account, id) => find(getSql, account, id),
    holding: (account, itemId) => find(holdingSql, account, itemId),
    delete: (account, id) =>
      database.transaction(() => {
        const sql = 'DELETE FROM modelhatch_responses WHERE account = ? AND id = ? AND ends > ?'
        return database.run(sql, account, id, database.now()) > 0
      }),
    deleteAll: (account) => repeat(database, deleteSql, () => account),
    close: () => sweep.close(),
  }
}
