/** Requests with an `Idempotency-Key`: one row per key, until its lease or its stored response has expired. */
import { expiredAttemptMs, type IdempotencyStore, type IdempotencyVerdict } from '../index.ts'
import { objectIn } from '../unreadable.ts'
import type { Dialect, Sql, TableRow } from './sql.ts'
import { sweepOf } from './sweep.ts'

/**
 * After `ends`, another attempt may take over a row; it is deleted `expiredAttemptMs` later. The body is the last column, so that
 * the others can be read without it.
 */
export function idempotencyTable({ types: { name, real, integer, flag, bytes, text }, table, index }: Dialect): string {
  return `
    CREATE TABLE @.idempotency (
      account ${name} NOT NULL,
      route ${name} NOT NULL,
      key ${name} NOT NULL,
      attempt ${name} NOT NULL,
      digest ${text} NOT NULL,
      ends ${real} NOT NULL,
      ended ${flag} NOT NULL DEFAULT false,
      status ${integer},
      headers ${text},
      body ${bytes},
      PRIMARY KEY (account, route, key)
    ) ${table};
    CREATE INDEX ${index}idempotency_ends ON @.idempotency (ends);`
}

export function sqlIdempotency(sql: Sql): Required<IdempotencyStore> {
  const { all, insert, run, part, dialect } = sql
  const { now } = dialect
  const sweep = sweepOf(sql, 'idempotency', expiredAttemptMs)
  const own = 'account = :account AND route = :route AND key = :key'
  const running = `${own} AND attempt = :attempt AND NOT ended`
  const takingOver = `UPDATE @.idempotency SET attempt = :attempt, digest = :digest, ends = ${now} + :leaseMs, ended = false,
    status = NULL, headers = NULL, body = NULL
    WHERE ${own} AND (ends <= ${now} OR (attempt = :attempt AND NOT ended))`
  const some = dialect.some('idempotency', `account = :account AND ended ORDER BY route, key LIMIT ${dialect.part}`)
  return {
    async begin(start) {
      sweep.use()
      // The row that has this key may be deleted before it is read; then the insertion is tried again.
      for (let attempt = 0; attempt < 5; attempt++) {
        const begun = await insert(
          `INSERT INTO @.idempotency (account, route, key, attempt, digest, ends)
          VALUES (:account, :route, :key, :attempt, :digest, ${now} + :leaseMs)`,
          { ...start },
        )
        if (begun || (await run(takingOver, { ...start })) > 0) return { outcome: 'begun' }
        const [row] = await all(`SELECT * FROM @.idempotency WHERE ${own}`, { ...start })
        if (row !== undefined) return verdictOf(row)
      }
      throw new Error('an attempt could neither begin nor find the one before it')
    },
    async finish({ answer, ...end }) {
      const { status = null, headers = {}, body = null } = answer ?? {}
      await run(
        `UPDATE @.idempotency SET ended = true, ends = ${now} + :keepMs, status = :status, headers = :headers, body = :body
        WHERE ${running}`,
        { ...end, status, headers: JSON.stringify(headers), body },
      )
    },
    forget: async (start) => void (await run(`DELETE FROM @.idempotency WHERE ${running}`, { ...start })),
    deleteAll: (account) => part(`DELETE FROM @.idempotency WHERE ${some}`, { account }),
    close: () => sweep.close(),
  }
}

/** The verdict on an attempt whose key has a row already. */
function verdictOf(row: TableRow): IdempotencyVerdict {
  const digest = row['digest'] as string
  if (Number(row['ended']) === 0) return { outcome: 'running', digest }
  if (row['status'] === null) return { outcome: 'ended', digest }
  const headers = objectIn(row['headers']) as Record<string, string> | undefined
  if (headers === undefined) return { outcome: 'ended', digest }
  const answer = { status: Number(row['status']), headers, body: row['body'] as Uint8Array }
  return { outcome: 'ended', digest, answer }
}
