/** Video tasks in Postgres: one table, every method one statement. */
import type { Json, TaskRecord, TaskStore } from '../index.ts'
import type { Query, Row } from './query.ts'

/** Of version 1; safe to run again. */
export function taskSchema(prefix: string): string[] {
  const table = `${prefix}tasks`
  // An index lives in the schema of its table, and cannot be told another.
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

/** Claims between two sweeps of what has expired. */
const claimsBetweenPurges = 60
/** Tasks that one sweep removes at most. Where there are more, the next claim goes on. */
const purged = 500

/** `query` is called with the table in place. */
export function taskStore(query: Query, prefix: string): TaskStore {
  const table = `${prefix}tasks`
  let claims = 0
  return {
    async insert(task) {
      // Somebody else may remove what stood in the way between the two statements: then the place is free.
      for (let tries = 0; tries < 5; tries++) {
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
    async find(tenant, id, now) {
      const text = `SELECT * FROM ${table} WHERE tenant = $1 AND id = $2 AND expires_at > $3`
      const [row] = (await query(text, [tenant, id, now])).rows
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
             ORDER BY expires_at LIMIT ${purged} FOR UPDATE SKIP LOCKED
           )) RETURNING 1`,
          [now],
        )
        if (rows.length === purged) claims = 0
      }
      const claimed = await query(
        // By their places: the planner must not think of reading all tasks for it.
        `UPDATE ${table} SET version = version + 1, leased_until = $2 WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE due_at <= $1 AND leased_until <= $1
           ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
         )) RETURNING *`,
        [now, now + leaseMs, limit],
      )
      return claimed.rows.map(recordOf).sort((left, right) => Number(left.dueAt) - Number(right.dueAt))
    },
    async list(tenant, { now, limit, after, order }) {
      const direction = order === 'asc' ? 'ASC' : 'DESC'
      const beyond = order === 'asc' ? '>' : '<'
      // The index knows the time of creation alone: without that condition a late page would read all before it.
      const page = `created_at ${beyond}= (SELECT created_at FROM ${table} WHERE tenant = $1 AND id = $4)
        AND (created_at, id COLLATE "C") ${beyond}
          (SELECT created_at, id COLLATE "C" FROM ${table} WHERE tenant = $1 AND id = $4)`
      const listed = await query(
        `SELECT * FROM ${table} WHERE tenant = $1 AND expires_at > $2 ${after === undefined ? '' : `AND ${page}`}
         ORDER BY created_at ${direction}, id COLLATE "C" ${direction} LIMIT $3`,
        [tenant, now, limit, ...(after === undefined ? [] : [after])],
      )
      return listed.rows.map(recordOf)
    },
    async now() {
      const [row] = (await query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now', [])).rows
      return Number(row?.['now'])
    },
  }
}

function valuesOf(task: TaskRecord): unknown[] {
  const { account, id, version, createdAt, expiresAt, dueAt, leasedUntil, data } = task
  // NUL cannot stand in a text of Postgres; in JSON text it is escaped anyway.
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
