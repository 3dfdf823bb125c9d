/** The statements that both SQL databases share, for Postgres. */
import { columnOf, marking, type Sql, type TableRow, type Values } from '../sql/sql.ts'
import type { Database } from './database.ts'
import { dialect, valueOf } from './dialect.ts'
import { postgresUsage } from './usage.ts'

export function postgresSql(database: Database): Sql {
  const marked = marking('@.', (place) => `$${place}`)
  const ask = <T>(text: string, values: Values, act: (sent: string, list: unknown[]) => T): T => {
    const { text: sent, names } = marked(text)
    return act(
      sent,
      names.map((name) => values[name] ?? null),
    )
  }
  // Of a limit that it does not know, the planner expects a tenth of the table.
  const many = (text: string, values: Values = {}): Promise<readonly TableRow[]> =>
    ask(
      text.replaceAll(/LIMIT :(\w+)/g, (_, name: string) => `LIMIT ${Number(values[name])}`),
      values,
      (...sent) => database.manyRows(...sent),
    )
  return {
    dialect,
    all: (text, values = {}) => ask(text, values, (...sent) => database.rows(...sent)),
    many,
    insert: async (text, values) =>
      (await ask(`${text} ON CONFLICT DO NOTHING RETURNING 1`, values, (...sent) => database.rows(...sent))).length > 0,
    change: (table, set, some, values) =>
      ask(`UPDATE @.${table} SET ${set} WHERE ${some} RETURNING *`, values, (...sent) => database.rows(...sent)),
    run: async (text, values = {}) =>
      (await ask(`${text} RETURNING 1`, values, (...sent) => database.rows(...sent))).length,
    async batch(texts, values = {}) {
      const parts = texts.map((text, index) => `s${index} AS (${text})`)
      await ask(`WITH ${parts.join(', ')} SELECT`, values, (...sent) => database.rows(...sent))
    },
    inserting(table, columns) {
      const sql = `INSERT INTO @.${table} (${columns.map(([name]) => columnOf(name)).join(', ')})
        SELECT ${columns.map(valueOf).join(', ')} FROM jsonb_array_elements($1::jsonb) item ON CONFLICT DO NOTHING`
      return async (rows) => void (await database.rows(sql, [JSON.stringify(rows)]))
    },
    ofEach(text, { columns, rows }, values, { order = '', most } = { most: Infinity }) {
      const own = new RegExp(`:(${columns.map(([name]) => name).join('|')})\\b`, 'g')
      const fields = columns.map(([name, type]) => `"${name}" ${dialect.types[type]}`)
      // OFFSET 0 keeps the order: the rows of each item by their index.
      const query = `SELECT own.* FROM jsonb_to_recordset(:items::jsonb) AS item (${fields.join(', ')})
        CROSS JOIN LATERAL (${text.replaceAll(own, 'item."$1"')} OFFSET 0) own
        ${order} ${most === Infinity ? '' : 'LIMIT :atMost'}`
      return many(query, { ...values, items: JSON.stringify(rows), atMost: most })
    },
    usage: postgresUsage(database, many),
    part: async (text, values = {}) =>
      (await ask(`${text} RETURNING 1`, values, (...sent) => database.manyRows(...sent))).length > 0,
  }
}
