/** The audit log. */
import { pageOf, readNumberCursor, type AuditEntry, type AuditStore } from '../index.ts'
import { where, type Dialect, type Sql, type TableRow } from './sql.ts'

export function auditTable({ types: { name, integer, real, text }, table, index }: Dialect): string {
  return `
    CREATE TABLE @.audit_log (
      number ${integer} PRIMARY KEY,
      at ${real} NOT NULL,
      action ${name} NOT NULL,
      account ${name},
      actor ${name},
      content ${text} NOT NULL,
      digest ${name} NOT NULL,
      hash ${name} NOT NULL
    ) ${table};
    CREATE INDEX ${index}audit_log_of ON @.audit_log (account, number);
    CREATE INDEX ${index}audit_log_by ON @.audit_log (actor, number);`
}

export function sqlAudit({ dialect, all, many, insert, part }: Sql): AuditStore {
  const own = dialect.some(
    'audit_log',
    `(account = :account OR actor = :account) ORDER BY number LIMIT ${dialect.part}`,
  )
  return {
    append: (entry) =>
      insert(
        `INSERT INTO @.audit_log (number, at, action, account, actor, content, digest, hash)
        VALUES (:number, :at, :action, :account, :actor, :content, :digest, :hash)`,
        { account: null, actor: null, ...entry },
      ),
    last: async () => (await all('SELECT * FROM @.audit_log ORDER BY number DESC LIMIT 1')).map(entryOf)[0],
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
      return pageOf(rows.map(entryOf), limit, (last) => String(last.number))
    },
    read: async (after, limit) =>
      (
        await many('SELECT * FROM @.audit_log WHERE number > :after ORDER BY number LIMIT :limit', { after, limit })
      ).map(entryOf),
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

function entryOf({ number, at, account, actor, ...texts }: TableRow): AuditEntry {
  const names = { ...(account !== null && { account }), ...(actor !== null && { actor }) }
  return { number: Number(number), at: Number(at), ...names, ...texts } as unknown as AuditEntry
}
