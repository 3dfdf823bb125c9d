/** The statements that both SQL databases share, for Postgres. */
import {
  columnOf,
  marking,
  readingAtOnce,
  type Sql,
  type TableRow,
  type UsageStatements,
  type Values,
} from '../sql/sql.ts'
import type { Database } from './database.ts'
import { dialect, valueOf } from './dialect.ts'

export function postgresSql(database: Database, append: UsageStatements['append']): Sql {
  const marked = marking('@.', (place) => `$${place}`)
  // Of a limit that it does not know, the planner expects a tenth of the table.
  const many = (text: string, values: Values = {}): Promise<readonly TableRow[]> =>
    database.manyRows(
      ...marked(
        text.replaceAll(/LIMIT :(\w+)/g, (_, name: string) => `LIMIT ${Number(values[name])}`),
        values,
      ),
    )
  return {
    dialect,
    all: (text, values = {}) => database.rows(...marked(text, values)),
    many,
    insert: async (text, values) =>
      (await database.rows(...marked(`${text} ON CONFLICT DO NOTHING RETURNING 1`, values))).length > 0,
    change: (table, set, some, values) =>
      database.rows(...marked(`UPDATE @.${table} SET ${set} WHERE ${some} RETURNING *`, values)),
    run: async (text, values = {}) => (await database.rows(...marked(`${text} RETURNING 1`, values))).length,
    async batch(texts, values = {}) {
      const parts = texts.map((text, index) => `s${index} AS (${text})`)
      await database.rows(...marked(`WITH ${parts.join(', ')} SELECT`, values))
    },
    inserting(table, columns) {
      const sql = `INSERT INTO @.${table} (${columns.map(([name]) => columnOf(name)).join(', ')})
        SELECT ${columns.map(valueOf).join(', ')} FROM jsonb_array_elements($1::jsonb) item ON CONFLICT DO NOTHING`
      return async (rows) => void (await database.rows(sql, [JSON.stringify(rows, bytesAsText)]))
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
    usage: { append, ...readingAtOnce(many) },
    part: async (text, values = {}) => (await database.manyRows(...marked(`${text} RETURNING 1`, values))).length > 0,
  }
}

/** For `JSON.stringify`, which asks a buffer for another form of it before. See `valueOf`. */
function bytesAsText(this: Values, name: string, value: unknown): unknown {
  const given = this[name]
  return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : value
}
