import type { DatabaseSync } from 'node:sqlite'
import type { TaskRecord, TaskStore } from '../index.ts'
import { taskOf, type TableRow } from '../sql/rows.ts'

/** The table of tasks. */
export const tasksSchema: string = `
    CREATE TABLE modelhatch_tasks (
      tenant TEXT NOT NULL,
      id TEXT NOT NULL,
      version INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      due_at INTEGER,
      leased_until INTEGER NOT NULL,
      data TEXT NOT NULL,
      PRIMARY KEY (tenant, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX modelhatch_tasks_due ON modelhatch_tasks (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX modelhatch_tasks_list ON modelhatch_tasks (tenant, created_at, id);
    CREATE INDEX modelhatch_tasks_over ON modelhatch_tasks (expires_at) WHERE due_at IS NULL;
    CREATE INDEX modelhatch_tasks_all ON modelhatch_tasks (created_at, tenant, id);
`

/** The condition for tasks after `:after` in the order of a list. */
function beyond(sign: '>' | '<'): string {
  return `AND (created_at, id) ${sign} (SELECT created_at, id FROM modelhatch_tasks WHERE tenant = :tenant AND id = :after)`
}

/** The task store on an existing table. Every change is one statement, so that it needs no transaction. */
export function taskStore(database: DatabaseSync): TaskStore {
  const insert = database.prepare(
    `INSERT INTO modelhatch_tasks
     VALUES (:tenant, :id, :version, :createdAt, :expiresAt, :dueAt, :leasedUntil, :data)
     ON CONFLICT DO UPDATE SET version = excluded.version, created_at = excluded.created_at,
       expires_at = excluded.expires_at, due_at = excluded.due_at, leased_until = excluded.leased_until, data = excluded.data
     WHERE expires_at <= excluded.created_at AND due_at IS NULL RETURNING 1`,
  )
  const present = database.prepare('SELECT * FROM modelhatch_tasks WHERE tenant = ? AND id = ?')
  const find = database.prepare('SELECT * FROM modelhatch_tasks WHERE tenant = ? AND id = ? AND expires_at > ?')
  const replace = database.prepare(
    `UPDATE modelhatch_tasks SET version = :version, created_at = :createdAt, expires_at = :expiresAt, due_at = :dueAt,
       leased_until = :leasedUntil, data = :data
     WHERE tenant = :tenant AND id = :id AND version = :version - 1 RETURNING 1`,
  )
  // At most 100 per claim, because deleting many rows at once would block the event loop.
  const purge = database.prepare(
    `DELETE FROM modelhatch_tasks WHERE (tenant, id) IN (
       SELECT tenant, id FROM modelhatch_tasks WHERE due_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT 100
     )`,
  )
  const claim = database.prepare(
    `UPDATE modelhatch_tasks SET version = version + 1, leased_until = :until WHERE (tenant, id) IN (
       SELECT tenant, id FROM modelhatch_tasks WHERE due_at <= :now AND leased_until <= :now ORDER BY due_at LIMIT :limit
     ) RETURNING *`,
  )
  const due = database.prepare(
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM modelhatch_tasks WHERE due_at <= :now AND leased_until <= :now ORDER BY due_at LIMIT :most
     )`,
  )
  const list = (order: 'ASC' | 'DESC', after: string) =>
    database.prepare(
      `SELECT * FROM modelhatch_tasks WHERE tenant = :tenant AND expires_at > :now ${after}
       ORDER BY created_at ${order}, id ${order} LIMIT :limit`,
    )
  const firsts = { asc: list('ASC', ''), desc: list('DESC', '') }
  const laters = { asc: list('ASC', beyond('>')), desc: list('DESC', beyond('<')) }
  const search = (beyond: string) =>
    database.prepare(
      `SELECT * FROM modelhatch_tasks WHERE ${beyond} expires_at > :now
       ORDER BY created_at DESC, tenant DESC, id DESC LIMIT :limit`,
    )
  const found = search('')
  const foundAfter = search('(created_at, tenant, id) < (:createdAt, :tenant, :id) AND')

  return {
    async insert(task) {
      if (insert.get(valuesOf(task)) !== undefined) return task
      return taskOf(present.get(task.account, task.id) as TableRow)
    },
    async find(tenant, id, now) {
      const row = find.get(tenant, id, now)
      return row && taskOf(row)
    },
    async replace(task) {
      return replace.get(valuesOf(task)) !== undefined
    },
    async claim({ now, leaseMs, limit }) {
      purge.run(now)
      const claimed = claim.all({ now, until: now + leaseMs, limit }).map(taskOf)
      return claimed.sort((left, right) => Number(left.dueAt) - Number(right.dueAt))
    },
    async countDue(now, most) {
      return Number(due.get({ now, most })?.['count'])
    },
    async list(tenant, { now, limit, after, order }) {
      const rows =
        after === undefined
          ? firsts[order].all({ tenant, now, limit })
          : laters[order].all({ tenant, now, limit, after })
      return rows.map(taskOf)
    },
    async search({ now, limit, after }) {
      if (after === undefined) return found.all({ now, limit }).map(taskOf)
      const { createdAt, account, id } = after
      return foundAfter.all({ now, limit, createdAt, tenant: account, id }).map(taskOf)
    },
  }
}

function valuesOf({ account, id, version, createdAt, expiresAt, dueAt, leasedUntil, data }: TaskRecord) {
  return { tenant: account, id, version, createdAt, expiresAt, dueAt, leasedUntil, data: JSON.stringify(data) }
}
