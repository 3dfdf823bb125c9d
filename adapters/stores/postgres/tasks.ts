/** Video tasks in Postgres: one table, every method one statement. */
import type { TaskRecord, TaskStore } from '../index.ts'
import { taskOf, type TableRow } from '../sql/rows.ts'
import type { Database } from './database.ts'

/** The table of tasks. */
export const tasksSchema: string = `
    CREATE TABLE @.tasks (
      tenant text NOT NULL,
      id text NOT NULL,
      version integer NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      due_at bigint,
      leased_until bigint NOT NULL,
      data text NOT NULL,
      PRIMARY KEY (tenant, id)
    );
    CREATE INDEX tasks_due ON @.tasks (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX tasks_over ON @.tasks (expires_at) WHERE due_at IS NULL;
    CREATE INDEX tasks_list ON @.tasks (tenant, created_at, id);
    CREATE INDEX tasks_all ON @.tasks (created_at, tenant COLLATE "C", id COLLATE "C");
`

/** Number of claims from one deletion of expired tasks to the next. */
const claimsBetweenPurges = 60
/** Maximum number of tasks deleted at once. If there may be more, the next claim continues. */
const purgeLimit = 500

/** The task store of a schema. */
export function postgresTasks(database: Database): TaskStore {
  const query = (text: string, values: unknown[]) => database.rows<TableRow>(text, values)
  let claims = 0
  return {
    async insert(task) {
      // Another process may delete the conflicting task between the two statements; then the insertion is tried again.
      for (let attempt = 0; attempt < 5; attempt++) {
        const inserted = await query(
          `INSERT INTO @.tasks AS old VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (tenant, id) DO UPDATE SET version = $3, created_at = $4, expires_at = $5, due_at = $6,
             leased_until = $7, data = $8
           WHERE old.expires_at <= $4 AND old.due_at IS NULL RETURNING 1`,
          valuesOf(task),
        )
        if (inserted.length > 0) return task
        const [present] = await query(`SELECT * FROM @.tasks WHERE tenant = $1 AND id = $2`, [task.account, task.id])
        if (present !== undefined) return taskOf(present)
      }
      throw new Error('a task could neither be inserted nor found')
    },
    async find(account, id, now) {
      const text = `SELECT * FROM @.tasks WHERE tenant = $1 AND id = $2 AND expires_at > $3`
      const [row] = await query(text, [account, id, now])
      return row && taskOf(row)
    },
    async replace(task) {
      const replaced = await query(
        `UPDATE @.tasks SET version = $3, created_at = $4, expires_at = $5, due_at = $6, leased_until = $7, data = $8
         WHERE tenant = $1 AND id = $2 AND version = $3 - 1 RETURNING 1`,
        valuesOf(task),
      )
      return replaced.length > 0
    },
    async claim({ now, leaseMs, limit }) {
      if (claims++ % claimsBetweenPurges === 0) {
        const rows = await query(
          `DELETE FROM @.tasks WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM @.tasks WHERE due_at IS NULL AND expires_at <= $1
             ORDER BY expires_at LIMIT ${purgeLimit} FOR UPDATE SKIP LOCKED
           )) RETURNING 1`,
          [now],
        )
        if (rows.length === purgeLimit) claims = 0
      }
      const claimed = await query(
        // With ctid, so that the planner never reads all tasks.
        `UPDATE @.tasks SET version = version + 1, leased_until = $2 WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM @.tasks WHERE due_at <= $1 AND leased_until <= $1
           ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
         )) RETURNING *`,
        [now, now + leaseMs, limit],
      )
      return claimed.map(taskOf).sort((left, right) => Number(left.dueAt) - Number(right.dueAt))
    },
    async countDue(now, most) {
      const text = `SELECT count(*) AS count FROM (
        SELECT FROM @.tasks WHERE due_at <= $1 AND leased_until <= $1 ORDER BY due_at LIMIT $2
      ) due`
      const [row] = await query(text, [now, most])
      return Number(row?.['count'])
    },
    async list(account, { now, limit, after, order }) {
      const direction = order === 'asc' ? 'ASC' : 'DESC'
      const beyond = order === 'asc' ? '>' : '<'
      // The index supports only the first condition: without it, each page would also read all pages before it.
      const page = `created_at ${beyond}= (SELECT created_at FROM @.tasks WHERE tenant = $1 AND id = $4)
        AND (created_at, id COLLATE "C") ${beyond}
          (SELECT created_at, id COLLATE "C" FROM @.tasks WHERE tenant = $1 AND id = $4)`
      const listed = await query(
        `SELECT * FROM @.tasks WHERE tenant = $1 AND expires_at > $2 ${after === undefined ? '' : `AND ${page}`}
         ORDER BY created_at ${direction}, id COLLATE "C" ${direction} LIMIT $3`,
        [account, now, limit, ...(after === undefined ? [] : [after])],
      )
      return listed.map(taskOf)
    },
    async search({ now, limit, after }) {
      const order = 'ORDER BY created_at DESC, tenant COLLATE "C" DESC, id COLLATE "C" DESC LIMIT $2'
      if (after === undefined) {
        return (await query(`SELECT * FROM @.tasks WHERE expires_at > $1 ${order}`, [now, limit])).map(taskOf)
      }
      const { createdAt, account, id } = after
      const found = await query(
        `SELECT * FROM @.tasks WHERE expires_at > $1 AND created_at <= $3
           AND (created_at, tenant COLLATE "C", id COLLATE "C") < ($3, $4, $5) ${order}`,
        [now, limit, createdAt, account, id],
      )
      return found.map(taskOf)
    },
    async now() {
      const [row] = await query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now', [])
      return Number(row?.['now'])
    },
  }
}

function valuesOf(task: TaskRecord): unknown[] {
  const { account, id, version, createdAt, expiresAt, dueAt, leasedUntil, data } = task
  // Text in Postgres cannot contain NUL, which JSON escapes.
  return [account, id, version, createdAt, expiresAt, dueAt, leasedUntil, JSON.stringify(data)]
}
