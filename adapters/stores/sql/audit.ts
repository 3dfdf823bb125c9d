/** The audit log. */
import { pageOf, readNumberCursor, type AuditEntry, type AuditStore } from '../index.ts'
import { recordTable } from './record-table.ts'
import { where, type Dialect, type Sql } from './sql.ts'

const { definitions, inserting, recordOf } = recordTable<AuditEntry>({
  number: 'integer',
  at: 'real',
  action: 'name',
  account: 'name?',
  actor: 'name?',
  content: 'text',
  digest: 'name',
  hash: 'name',
})

export function auditTable(dialect: Dialect): string {
  const { table, index } = dialect
  return `
    CREATE TABLE @.audit_log (${definitions(dialect)}, PRIMARY KEY (number)) ${table};
    CREATE INDEX ${index}audit_log_of ON @.audit_log (account, number);
    CREATE INDEX ${index}audit_log_by ON @.audit_log (actor, number);`
}

export function sqlAudit({ dialect, all, many, insert, part }: Sql): AuditStore {
  const own = dialect.some(
    'audit_log',
    `(account = :account OR actor = :account) ORDER BY number LIMIT ${dialect.part}`,
  )
  return {
    append: (entry) => insert(inserting('audit_log'), { ...entry }),
    last: async () => (await all('SELECT * FROM @.audit_log ORDER BY number DESC LIMIT 1')).map(recordOf)[0],
    async list({ account, actor, action, from, to, limit = 100, after }) {
      const number = after === undefined ? undefined : readNumberCursor(after)
      const filter = where([
        account !== undefined && 'account = :account',
        actor !== undefined && 'actor = :actor',
        action !== undefined && 'action = :action',
        from !== undefined && 'at >= :from',
        to !== undefined && 'at < :to',
        after !== undefined && 'number < :number',
      ])
      const values = { account, actor, action, from, to, number, most: limit + 1 }
      const rows = await many(`SELECT * FROM @.audit_log ${filter} ORDER BY number DESC LIMIT :most`, values)
      return pageOf(rows.map(recordOf), limit, (last) => String(last.number))
    },
    read: async (after, limit) =>
      (
        await many('SELECT * FROM @.audit_log WHERE number > :after ORDER BY number LIMIT :limit', { after, limit })
      ).map(recordOf),
    erase: (account, as) =>
      part(`UPDATE @.audit_log SET ${renamed('account')}, ${renamed('actor')}, content = '' WHERE ${own}`, {
        account,
        as,
      }),
  }
}

/** Sets a column to the pseudonym where it has the account. */
function renamed(column: string): string {
  return `${column} = CASE WHEN ${column} = :account THEN :as ELSE ${column} END`
}
