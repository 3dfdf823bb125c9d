/** Keys, by hash. Watchers poll, because LISTEN needs a connection of its own, and loses changes when it breaks. */
import { pollForChanges, type KeyRecord, type KeyStore } from '../index.ts'
import type { Database } from './database.ts'
import type { Part } from './migration.ts'

/** The table of keys. */
export const keysPart: Part = {
  name: 'keys',
  versions: [
    `
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
    CREATE INDEX ON @.keys (changed);
    `,
  ],
}

interface Row {
  readonly hash: string
  readonly record: string
}

/** The key store of a schema. */
export function postgresKeys(database: Database): KeyStore {
  return {
    async find(hash) {
      const [row] = await database.rows<Row>('SELECT hash, record::text FROM @.keys WHERE hash = $1', [hash])
      return row && recordOf(row)
    },
    async insert(record) {
      const { id, hash, account, createdAt, version } = record
      const rows = await database.rows(
        `INSERT INTO @.keys (id, hash, account, created_at, version, record) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT DO NOTHING RETURNING id`,
        [id, hash, account, createdAt, version, jsonOf(record)],
      )
      return rows.length > 0
    },
    async update(record) {
      const { id, account, createdAt, version } = record
      const rows = await database.rows(
        `UPDATE @.keys SET account = $2, created_at = $3, version = $4::bigint, record = $5, changed = clock_timestamp()
        WHERE id = $1 AND version = $4::bigint - 1 RETURNING id`,
        [id, account, createdAt, version, jsonOf(record)],
      )
      return rows.length > 0
    },
    async list(account) {
      const rows = await database.rows<Row>(
        'SELECT hash, record::text FROM @.keys WHERE account = $1 ORDER BY created_at DESC, id DESC',
        [account],
      )
      return rows.map(recordOf)
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

/** The record without its hash, which has its own column and never changes. */
function jsonOf(record: KeyRecord): string {
  return JSON.stringify({ ...record, hash: undefined })
}

function recordOf({ hash, record }: Row): KeyRecord {
  return { ...(JSON.parse(record) as Omit<KeyRecord, 'hash'>), hash }
}
