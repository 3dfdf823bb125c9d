/** Video tasks in Postgres: one table, every method one statement. */
import type { Json, TaskRecord, TaskStore } from '../index.ts'
import type { Query, Row } from './query.ts'

/** The statements that create the table, whose name gets `prefix`, such as `schema.`. They may be repeated. */
export function taskSchema(prefix: string): string[] {
  const table = `${prefix}tasks`
  // The name of an index must not be qualified: it is created in the schema of its table.
  const name = table.split('.').at(-1)
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (
      tenant text NOT NULL,
      id text NOT NULL,
      version integer NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      due_at bigint,
      leased_until bigint NOT NULL,
      data text NOT NULL,
      PRIMARY KEY (tenant, id)
    )`,
    `CREATE INDEX IF NOT EXISTS ${name}_due ON ${table} (due_at) WHERE due_at IS NOT NULL`,
    `CREATE INDEX IF NOT EXISTS ${name}_over ON ${table} (expires_at) WHERE due_at IS NULL`,
    `CREATE INDEX IF NOT EXISTS ${name}_list ON ${table} (tenant, created_at, id)`,
  ]
}

/** Number of claims from one deletion of expired tasks to the next. */
const claimsBetweenPurges = 60
/** Maximum number of tasks deleted at once. If there may be more, the next claim continues. */
const purgeLimit = 500

/** The task store over the table of `taskSchema`, which must exist. */
export function taskStore(query: Query, prefix: string): TaskStore {
  const table = `${prefix}tasks`
  let claims = 0
  return {
    async insert(task) {
      // Another process may delete the conflicting task between the two statements; then the insertion is tried again.
      for (let attempt = 0; attempt < 5; attempt++) {
        const inserted = await query(
          `INSERT INTO ${table} AS old VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (tenant, id) DO UPDATE SET version = $3, created_at = $4, expires_at = $5, due_at = $6,
             leased_until = $7, data = $8
           WHERE old.expires_at <= $4 AND old.due_at IS NULL RETURNING 1`,
          valuesOf(task),
        )
        if (inserted.rows.length > 0) return task
        const [present] = (await query(`SELECT * FROM ${table} WHERE tenant = $1 AND id = $2`, [task.account, task.id]))
          .rows
        if (present !== undefined) return recordOf(present)
      }
      throw new Error('a task could neither be inserted nor found')
    },
    async find(account, id, now) {
      const text = `SELECT * FROM ${table} WHERE tenant = $1 AND id = $2 AND expires_at > $3`
      const [row] = (await query(text, [account, id, now])).rows
      return row && recordOf(row)
    },
    async replace(task) {
      const replaced = await query(
        `UPDATE ${table} SET version = $3, created_at = $4, expires_at = $5, due_at = $6, leased_until = $7, data = $8
         WHERE tenant = $1 AND id = $2 AND version = $3 - 1 RETURNING 1`,
        valuesOf(task),
      )
      return replaced.rows.length > 0
    },
    async claim({ now, leaseMs, limit }) {
      if (claims++ % claimsBetweenPurges === 0) {
        const { rows } = await query(
          `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM ${table} WHERE due_at IS NULL AND expires_at <= $1
             ORDER BY expires_at LIMIT ${purgeLimit} FOR UPDATE SKIP LOCKED
           )) RETURNING 1`,
          [now],
        )
        if (rows.length === purgeLimit) claims = 0
      }
      const claimed = await query(
        // With ctid, so that the planner never reads all tasks.
        `UPDATE ${table} SET version = version + 1, leased_until = $2 WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE due_at <= $1 AND leased_until <= $1
           ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
         )) RETURNING *`,
        [now, now + leaseMs, limit],
      )
      return claimed.rows.map(recordOf).sort((left, right) => Number(left.dueAt) - Number(right.dueAt))
    },
    async countDue(now, most) {
      const text = `SELECT count(*) AS count FROM (
        SELECT FROM ${table} WHERE due_at <= $1 AND leased_until <= $1 ORDER BY due_at LIMIT $2
      ) due`
      const [row] = (await query(text, [now, most])).rows
      return Number(row?.['count'])
    },
    async list(account, { now, limit, after, order }) {
      const direction = order === 'asc' ? 'ASC' : 'DESC'
      const beyond = order === 'asc' ? '>' : '<'
      // The index supports only the first condition: without it, each page would also read all pages before it.
      const page = `created_at ${beyond}= (SELECT created_at FROM ${table} WHERE tenant = $1 AND id = $4)
        AND (created_at, id COLLATE "C") ${beyond}
          (SELECT created_at, id COLLATE "C" FROM ${table} WHERE tenant = $1 AND id = $4)`
      const listed = await query(
        `SELECT * FROM ${table} WHERE tenant = $1 AND expires_at > $2 ${after === undefined ? '' : `AND ${page}`}
         ORDER BY created_at ${direction}, id COLLATE "C" ${direction} LIMIT $3`,
        [account, now, limit, ...(after === undefined ? [] : [after])],
      )
      return listed.rows.map(recordOf)
    },
    async search({ now, limit, after }) {
      const order = 'ORDER BY created_at DESC, tenant COLLATE "C" DESC, id COLLATE "C" DESC LIMIT $2'
      if (after === undefined) {
        return (await query(`SELECT * FROM ${table} WHERE expires_at > $1 ${order}`, [now, limit])).rows.map(recordOf)
      }
      const { createdAt, account, id } = after
      const found = await query(
        `SELECT * FROM ${table} WHERE expires_at > $1 AND created_at <= $3
           AND (created_at, tenant COLLATE "C", id COLLATE "C") < ($3, $4, $5) ${order}`,
        [now, limit, createdAt, account, id],
      )
      return found.rows.map(recordOf)
    },
    async now() {
      const [row] = (await query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now', [])).rows
      return Number(row?.['now'])
    },
  }
}

function valuesOf(task: TaskRecord): unknown[] {
  const { account, id, version, createdAt, expiresAt, dueAt, leasedUntil, data } = task
  // Text in Postgres cannot contain NUL, which JSON escapes.
  return [account, id, version, createdAt, expiresAt, dueAt, leasedUntil, JSON.stringify(data)]
}

function recordOf(row: Row): TaskRecord {
  return {
    account: String(row['tenant']),
    id: String(row['id']),
    version: Number(row['version']),
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
    dueAt: row['due_at'] === null ? null : Number(row['due_at']),
    leasedUntil: Number(row['leased_until']),
    data: JSON.parse(String(row['data'])) as Json,
  }
}
