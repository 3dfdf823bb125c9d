/** Requests with an `Idempotency-Key`: one row per key, until its lease or its stored response has expired. */
import { expiredAttemptMs, type IdempotencyStore } from '../index.ts'
import { attemptVerdict, type TableRow } from '../sql/rows.ts'
import type { Database } from './database.ts'
import { deletion, sweepOf } from './sweep.ts'

/** The table. After `ends`, another attempt may take over a row; it is deleted `expiredAttemptMs` later. */
export const idempotencySchema: string = `
    CREATE TABLE @.idempotency (
      account text COLLATE "C" NOT NULL,
      route text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      attempt text COLLATE "C" NOT NULL,
      digest text NOT NULL,
      ends timestamptz NOT NULL,
      ended bool NOT NULL DEFAULT false,
      status int,
      headers text,
      body bytea,
      PRIMARY KEY (account, route, key)
    );
    CREATE INDEX ON @.idempotency (ends);

    CREATE FUNCTION @.begin_attempt(
      of_account text, of_route text, of_key text, new_attempt text, new_digest text, lease_ms float8
    ) RETURNS SETOF @.idempotency LANGUAGE plpgsql AS $f$
    BEGIN
      INSERT INTO @.idempotency AS old (account, route, key, attempt, digest, ends)
      VALUES (of_account, of_route, of_key, new_attempt, new_digest,
        clock_timestamp() + lease_ms * interval '1 millisecond')
      ON CONFLICT (account, route, key) DO UPDATE SET attempt = excluded.attempt, digest = excluded.digest,
        ends = excluded.ends, ended = false, status = NULL, headers = NULL, body = NULL
      WHERE old.ends <= clock_timestamp() OR (old.attempt = excluded.attempt AND NOT old.ended);
      IF NOT FOUND THEN
        -- The row that stood in the way is locked by now, and cannot go.
        RETURN QUERY SELECT * FROM @.idempotency WHERE account = of_account AND route = of_route AND key = of_key;
      END IF;
    END
    $f$;
`

const runningAttempt = 'account = $1 AND route = $2 AND key = $3 AND attempt = $4 AND NOT ended'

const deleteSql = deletion('idempotency', 'account = $1 AND ended', 'route, key')

/** The idempotency store of a schema. */
export function postgresIdempotency(database: Database): Required<IdempotencyStore> {
  const sweep = sweepOf(database, 'idempotency', expiredAttemptMs)
  return {
    async begin({ account, route, key, attempt, digest, leaseMs }) {
      sweep.use()
      const values = [account, route, key, attempt, digest, leaseMs]
      const [row] = await database.rows<TableRow>('SELECT * FROM @.begin_attempt($1, $2, $3, $4, $5, $6)', values)
      return row === undefined ? { outcome: 'begun' } : attemptVerdict(row)
    },
    async finish({ account, route, key, attempt, answer, keepMs }) {
      const { status = null, headers = {}, body = null } = answer ?? {}
      await database.rows(
        `UPDATE @.idempotency SET ended = true, ends = clock_timestamp() + $5 * interval '1 millisecond',
          status = $6, headers = $7, body = $8 WHERE ${runningAttempt}`,
        [account, route, key, attempt, keepMs, status, JSON.stringify(headers), body],
      )
    },
    async forget({ account, route, key, attempt }) {
      await database.rows(`DELETE FROM @.idempotency WHERE ${runningAttempt}`, [account, route, key, attempt])
    },
    deleteAll: async (account) => (await database.manyRows(deleteSql, [account])).length > 0,
    close: () => sweep.close(),
  }
}
