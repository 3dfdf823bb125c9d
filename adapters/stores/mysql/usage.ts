/** How MySQL adds usage, and reads it: in one statement each. */
import { columnOf, readingAtOnce, type Sql, type UsageStatements, type Values } from '../sql/sql.ts'
import { callTable } from '../sql/usage-columns.ts'
import { addingCalls } from '../sql/usage-tables.ts'
import type { Database } from './database.ts'
import type { Ask, Result } from './transaction.ts'
import { dialect } from './dialect.ts'
import { insertRows, marks } from './locks.ts'

const columns = ['label', ...callTable.map(([name]) => columnOf(name).replaceAll('"', ''))]
const adding = addingCalls(
  dialect,
  `(SELECT c.* FROM (${dialect.each(':ids')}) given STRAIGHT_JOIN @.calls c ON c.id = given.item)`,
)

export function mysqlUsage(
  database: Database,
  ask: (to: Ask, text: string, values: Values) => Promise<Result>,
  many: Sql['many'],
): UsageStatements {
  return {
    append: (rows) =>
      database.transaction(async (to) => {
        const digests = [...new Set(rows.map(({ digest }) => digest))]
        const found = await to(`SELECT digest, label FROM @.usage_labels WHERE digest IN (${marks(digests)})`, digests)
        const labels = new Map(found.rows.map(({ digest, label }) => [digest, label]))
        if (labels.size < digests.length) return false
        const ids = rows.map(({ id }) => id)
        const before = await to(`SELECT id FROM @.calls WHERE id IN (${marks(ids)})`, ids)
        // If another process adds one of them now, the transaction is repeated.
        const known = new Set(before.rows.map(({ id }) => id))
        const added = rows.filter(({ id }, at) => !known.has(id) && ids.indexOf(id) === at)
        if (added.length === 0) return true
        const calls = added.map((row) => [labels.get(row['digest']), ...callTable.map(([name]) => row[name] ?? null)])
        insertRows(to, 'calls', columns, calls)
        for (const text of adding) await ask(to, text, { ids: JSON.stringify(added.map(({ id }) => id)) })
        return true
      }),
    ...readingAtOnce(many),
  }
}
