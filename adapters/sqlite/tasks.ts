/** Video tasks in SQLite: one table, every method one statement. */
import type { DatabaseSync } from 'node:sqlite'
import type { Json, TaskRecord, TaskStore } from '../../src/index.ts'

type Row = Readonly<Record<string, unknown>>

/** Of version 1; safe to run again. */
export const taskSchema: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS modelhatch_tasks (
    tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, due_at INTEGER, leased_until INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX IF NOT EXISTS modelhatch_tasks_due ON modelhatch_tasks (due_at) WHERE due_at IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS modelhatch_tasks_list ON modelhatch_tasks (tenant, created_at, id)',
]

/** The table must be there. */
export function taskStore(database: DatabaseSync): TaskStore {
  const insert = database.prepare(
    `INSERT INTO modelhatch_tasks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET version = ?3, created_at = ?4,
       expires_at = ?5, due_at = ?6, leased_until = ?7, data = ?8
     WHERE expires_at <= ?4 AND due_at IS NULL RETURNING 1`,
  )
  const present = database.prepare('SELECT * FROM modelhatch_tasks WHERE tenant = ? AND id = ?')
  const find = database.prepare('SELECT * FROM modelhatch_tasks WHERE tenant = ? AND id = ? AND expires_at > ?')
  const replace = database.prepare(
    `UPDATE modelhatch_tasks SET version = ?3, created_at = ?4, expires_at = ?5, due_at = ?6, leased_until = ?7, data = ?8
     WHERE tenant = ?1 AND id = ?2 AND version = ?3 - 1 RETURNING 1`,
  )
  const purge = database.prepare('DELETE FROM modelhatch_tasks WHERE due_at IS NULL AND expires_at <= ?')
  const claim = database.prepare(
    `UPDATE modelhatch_tasks SET version = version + 1, leased_until = ?2 WHERE (tenant, id) IN (
       SELECT tenant, id FROM modelhatch_tasks WHERE due_at <= ?1 AND leased_until <= ?1 ORDER BY due_at LIMIT ?3
     ) RETURNING *`,
  )
  const list = (order: 'ASC' | 'DESC', beyond: '>' | '<') =>
    database.prepare(
      `SELECT * FROM modelhatch_tasks WHERE tenant = ?1 AND expires_at > ?2 AND (?4 IS NULL OR (created_at, id) ${beyond}
         (SELECT created_at, id FROM modelhatch_tasks WHERE tenant = ?1 AND id = ?4))
       ORDER BY created_at ${order}, id ${order} LIMIT ?3`,
    )
  const lists = { asc: list('ASC', '>'), desc: list('DESC', '<') }

  return {
    async insert(task) {
      if (insert.get(...valuesOf(task)) !== undefined) return task
      return recordOf(present.get(task.tenant, task.id) as Row)
    },
    async find(tenant, id, now) {
      const row = find.get(tenant, id, now)
      return row && recordOf(row)
    },
    async replace(task) {
      return replace.get(...valuesOf(task)) !== undefined
    },
    async claim({ now, leaseMs, limit }) {
      purge.run(now)
      const claimed = claim.all(now, now + leaseMs, limit).map(recordOf)
      return claimed.sort((left, right) => Number(left.dueAt) - Number(right.dueAt))
    },
    async list(tenant, { now, limit, after, order }) {
      return lists[order].all(tenant, now, limit, after ?? null).map(recordOf)
    },
  }
}

type Values = [string, string, number, number, number, number | null, number, string]

function valuesOf({ tenant, id, version, createdAt, expiresAt, dueAt, leasedUntil, data }: TaskRecord): Values {
  return [tenant, id, version, createdAt, expiresAt, dueAt, leasedUntil, JSON.stringify(data)]
}

function recordOf(row: Row): TaskRecord {
  return {
    tenant: row['tenant'] as string,
    id: row['id'] as string,
    version: row['version'] as number,
    createdAt: row['created_at'] as number,
    expiresAt: row['expires_at'] as number,
    dueAt: row['due_at'] as number | null,
    leasedUntil: row['leased_until'] as number,
    data: JSON.parse(row['data'] as string) as Json,
  }
}
