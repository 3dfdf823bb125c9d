/** How Postgres adds usage, and reads it: in one statement each. */
import { where, type UsageStatements, type Values } from '../sql/sql.ts'
import type { TableRow } from '../sql/sql.ts'
import type { Database } from './database.ts'

type Many = (text: string, values: Values) => Promise<readonly TableRow[]>

export function postgresUsage(database: Database, many: Many): UsageStatements {
  return {
    append: async (rows) => (await database.call<number>('append_usage', JSON.stringify(rows))) === 0,
    async inParts(sources, _owner, text, values, take) {
      const rows = sources.map((source) => source.rows([]))
      if (rows.length > 0) take(await many(text(rows.join('\nUNION ALL '), true), values))
    },
    newest: (columns, table, { indexed, scanned }, values, most) =>
      many(
        `SELECT ${columns} FROM @.${table} ${where([...indexed, ...scanned])} ORDER BY started_at DESC, id DESC LIMIT :most`,
        { ...values, most },
      ),
  }
}
