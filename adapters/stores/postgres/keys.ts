/** Keys, by hash. Watchers poll, because LISTEN needs a connection of its own, and loses changes when it breaks. */
import { cursorOf, pageOf, pollForChanges, readCursor, type KeyQuestion, type KeyStore } from '../index.ts'
import { keyOf, keyText, type TableRow } from '../sql/rows.ts'
import { conditions } from './conditions.ts'
import type { Database } from './database.ts'

/** The table of keys. */
export const keysSchema: string = `
    CREATE TABLE @.keys (
      id text COLLATE "C" PRIMARY KEY,
      hash text COLLATE "C" NOT NULL UNIQUE,
      account text COLLATE "C" NOT NULL,
      created_at float8 NOT NULL,
      version bigint NOT NULL,
      record jsonb NOT NULL,
      changed timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX ON @.keys (account, created_at);
    CREATE INDEX keys_created_at ON @.keys (created_at, id);
    CREATE INDEX ON @.keys (changed);
`

/** The key store of a schema. */
export function postgresKeys(database: Database): KeyStore {
  return {
    async find(hash) {
      const [row] = await database.rows<TableRow>('SELECT hash, record::text FROM @.keys WHERE hash = $1', [hash])
      return row && keyOf(row)
    },
    async insert(record) {
      const { id, hash, account, createdAt, version } = record
      const rows = await database.rows(
        `INSERT INTO @.keys (id, hash, account, created_at, version, record) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT DO NOTHING RETURNING id`,
        [id, hash, account, createdAt, version, keyText(record)],
      )
      return rows.length > 0
    },
    async update(record) {
      const { id, account, createdAt, version } = record
      const rows = await database.rows(
        `UPDATE @.keys SET account = $2, created_at = $3, version = $4::bigint, record = $5, changed = clock_timestamp()
        WHERE id = $1 AND version = $4::bigint - 1 RETURNING id`,
        [id, account, createdAt, version, keyText(record)],
      )
      return rows.length > 0
    },
    async list(account) {
      const rows = await database.rows<TableRow>(
        'SELECT hash, record::text FROM @.keys WHERE account = $1 ORDER BY created_at DESC, id DESC',
        [account],
      )
      return rows.map(keyOf)
    },
    async search(question) {
      const { limit = 100 } = question
      const values: unknown[] = []
      const found = (await database.manyRows<TableRow>(searching(question, limit + 1, values), values)).map(keyOf)
      return pageOf(found, limit, (last) => cursorOf(last.createdAt, last.id))
    },
    watch: (changed) =>
      pollForChanges(changed, async (since) => {
        // A change gets its time before its commit makes it visible, so the last seconds are queried again.
        const rows = await database.rows<{ now: string; hash: string | null; at: string }>(
          // Unlike clock_timestamp(), statement_timestamp() is constant within the statement, which allows the index.
          `SELECT clock_timestamp()::text AS now, hash, changed::text AS at FROM (SELECT) one
          LEFT JOIN @.keys ON changed > coalesce($1::timestamptz, statement_timestamp()) - interval '5 seconds'`,
          [since ?? null],
        )
        const changes = rows.flatMap(({ hash, at }) => (hash === null ? [] : [{ hash, at }]))
        return { now: rows[0]?.now ?? '', changes }
      }),
  }
}

/** The statement that searches keys. Appends to `values`. */
function searching(question: KeyQuestion, limit: number, values: unknown[]): string {
  const { account, group, user, tag, text, state, now, after } = question
  const expires = `(record->>'expiresAt')::float8`
  const states = {
    active: () => `NOT record ? 'revokedAt' AND coalesce(${expires} > $${values.push(now)}, true)`,
    expired: () => `NOT record ? 'revokedAt' AND ${expires} <= $${values.push(now)}`,
    revoked: () => `record ? 'revokedAt'`,
  }
  const filter = [
    'true',
    ...conditions(values, { 'account =': account, "record->>'group' =": group, "record->>'user' =": user }),
    ...(tag === undefined ? [] : [`record->'tags' ? $${values.push(tag)}`]),
    ...(state === undefined ? [] : [states[state]()]),
  ]
  if (text !== undefined) {
    const wanted = `lower($${values.push(text)}::text COLLATE "C")`
    const texts = ['id', `record->>'prefix'`, 'account', `record->>'name'`, `record->>'user'`]
    filter.push(`(${texts.map((each) => `strpos(lower(${each} COLLATE "C"), ${wanted}) > 0`).join(' OR ')})`)
  }
  if (after !== undefined) {
    const [createdAt, id] = readCursor(after)
    filter.push(`(created_at, id) < ($${values.push(createdAt)}::float8, $${values.push(id)}::text COLLATE "C")`)
  }
  return `SELECT hash, record::text FROM @.keys WHERE ${filter.join(' AND ')}
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`
}
