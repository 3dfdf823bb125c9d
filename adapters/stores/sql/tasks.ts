/** Video tasks, responses in the background, batches, or files: one table, every method one statement. */
import type { Json, TaskRecord, TaskStore } from '../index.ts'
import { valueIn } from '../unreadable.ts'
import { recordTable } from './record-table.ts'
import type { Dialect, Sql, TableRow } from './sql.ts'

const tables = ['tasks', 'background', 'batches', 'file_batches', 'files'] as const

/** The tables of all kinds. */
export function tasksTables(dialect: Dialect): string {
  return tables.map((table) => tableOf(table, dialect)).join('')
}

const { definitions, inserting, recordOf } = recordTable<Omit<TaskRecord, 'data'> & { readonly data: string }>({
  account: 'name',
  id: 'name',
  version: 'integer',
  createdAt: 'integer',
  expiresAt: 'integer',
  dueAt: 'integer?',
  leasedUntil: 'integer',
  data: 'text',
})

function tableOf(table: string, dialect: Dialect): string {
  const { keyed, index } = dialect
  return `
    CREATE TABLE @.${table} (${definitions(dialect)}, PRIMARY KEY (account, id)) ${keyed};
    CREATE INDEX ${index}${table}_due ON @.${table} (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX ${index}${table}_over ON @.${table} (expires_at) WHERE due_at IS NULL;
    CREATE INDEX ${index}${table}_list ON @.${table} (account, created_at, id);
    CREATE INDEX ${index}${table}_all ON @.${table} (created_at, account, id);`
}

/** Number of claims from one deletion of expired tasks to the next. */
const claimsBetweenPurges = 60
/** Maximum number of tasks deleted at once, because it blocks SQLite's process. If there may be more, the next claim continues. */
const purgeLimit = 100

export function sqlTasks(
  { dialect, all, insert, run, change }: Sql,
  table: (typeof tables)[number] = 'tasks',
): Required<Omit<TaskStore, 'close'>> {
  const { now: clock, some } = dialect
  const present = `SELECT * FROM @.${table} WHERE account = :account AND id = :id`
  const changed = `UPDATE @.${table} SET version = :version, created_at = :createdAt, expires_at = :expiresAt, due_at = :dueAt,
    leased_until = :leasedUntil, data = :data WHERE account = :account AND id = :id`
  const how = { key: 'account, id', skips: true }
  const isDue = 'due_at <= :now AND leased_until <= :now ORDER BY due_at LIMIT'
  const expired = some(table, `due_at IS NULL AND expires_at <= :now ORDER BY expires_at LIMIT ${purgeLimit}`, how)
  const newest = 'ORDER BY created_at DESC, account DESC, id DESC LIMIT :limit'
  let claims = 0
  return {
    async insert(task) {
      // Another process may delete the conflicting task between the statements; then the insertion is tried again.
      for (let attempt = 0; attempt < 5; attempt++) {
        const inserted = await insert(inserting(table), valuesOf(task))
        if (inserted || (await run(`${changed} AND expires_at <= :createdAt AND due_at IS NULL`, valuesOf(task))) > 0)
          return task
        const [found] = await all(present, { ...task })
        if (found !== undefined) return taskOf(found)
      }
      throw new Error('a task could neither be inserted nor found')
    },
    find: async (account, id, now) =>
      (await all(`${present} AND expires_at > :now`, { account, id, now })).map(taskOf)[0],
    replace: async (task) => (await run(`${changed} AND version + 1 = :version`, valuesOf(task))) > 0,
    async claim({ now, leaseMs, limit }) {
      if (claims++ % claimsBetweenPurges === 0) {
        if ((await run(`DELETE FROM @.${table} WHERE ${expired}`, { now })) === purgeLimit) claims = 0
      }
      const claimed = await change(
        table,
        'version = version + 1, leased_until = :until',
        some(table, `${isDue} :limit`, how),
        { key: how.key, now, until: now + leaseMs, limit },
      )
      return claimed.map(taskOf).sort((left, right) => Number(left.dueAt) - Number(right.dueAt))
    },
    async countDue(now, most) {
      const text = `SELECT count(*) AS count FROM (SELECT 1 AS one FROM @.${table} WHERE ${isDue} :most) due`
      return Number((await all(text, { now, most }))[0]?.['count'])
    },
    async list(account, { now, limit, after, order }) {
      const [direction, beyond] = order === 'asc' ? ['ASC', '>'] : ['DESC', '<']
      const last = `FROM @.${table} WHERE account = :account AND id = :after`
      // The index supports only the first condition: without it, each page would also read all pages before it.
      const page = `AND created_at ${beyond}= (SELECT created_at ${last})
        AND (created_at, id) ${beyond} (SELECT created_at, id ${last})`
      const rows = await all(
        `SELECT * FROM @.${table} WHERE account = :account AND expires_at > :now ${after === undefined ? '' : page}
        ORDER BY created_at ${direction}, id ${direction} LIMIT :limit`,
        { account, now, limit, after },
      )
      return rows.map(taskOf)
    },
    async search({ now, limit, after }) {
      const page = 'AND created_at <= :createdAt AND (created_at, account, id) < (:createdAt, :account, :id)'
      const filter = `expires_at > :now ${after === undefined ? '' : page}`
      return (await all(`SELECT * FROM @.${table} WHERE ${filter} ${newest}`, { ...after, now, limit })).map(taskOf)
    },
    now: async () => Math.floor(Number((await all(`SELECT ${clock} AS now`))[0]?.['now'])),
  }
}

function valuesOf(task: TaskRecord): Readonly<Record<string, unknown>> {
  // Not every database can store NUL in a text; JSON escapes it.
  return { ...task, data: JSON.stringify(task.data) }
}

function taskOf(row: TableRow): TaskRecord {
  const { data, ...record } = recordOf(row)
  return { ...record, dueAt: record.dueAt ?? null, data: (valueIn(data) ?? null) as Json }
}
