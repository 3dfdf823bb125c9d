/** The statements that both SQL databases share, for SQLite. */
import type { SQLInputValue } from 'node:sqlite'
import { columnOf, marking, type Sql, type Values } from '../sql/sql.ts'
import type { Database, Row } from './database.ts'
import { dialect } from './dialect.ts'
import { sqliteUsage } from './usage.ts'

/** Milliseconds after which a part of the work ends, so that it blocks the event loop only briefly. */
const partMs = 4

export function sqliteSql(database: Database): Sql {
  const marked = marking('modelhatch_', () => '?')
  const asking =
    <Answer>(ask: (sql: string, ...values: SQLInputValue[]) => Answer) =>
    (text: string, values: Values): Answer => {
      const [sent, list] = marked(text, values)
      return ask(sent, ...(list as SQLInputValue[]))
    }
  const all = asking((...given) => database.all(...given))
  const lists = asking((...given) => database.lists(...given))
  const run = asking((...given) => database.run(...given))
  const rows = async (text: string, values: Values = {}) => database.read(() => all(text, values))
  return {
    dialect,
    all: rows,
    many: rows,
    insert: async (text, values) => database.read(() => run(`${text} ON CONFLICT DO NOTHING`, values) > 0),
    change: async (table, set, some, values) =>
      database.read(() => {
        if (all(`SELECT 1 FROM @.${table} WHERE ${some} LIMIT 1`, values).length === 0) return []
        return all(`UPDATE @.${table} SET ${set} WHERE ${some} RETURNING *`, values)
      }),
    run: async (text, values = {}) => database.read(() => run(text, values)),
    batch: async (texts, values = {}) =>
      database.transaction(() => {
        for (const text of texts) run(text, values)
      }),
    inserting(table, columns) {
      const sql = `INSERT INTO modelhatch_${table} (${columns.map(([name]) => columnOf(name)).join(', ')})
        VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`
      return async (rows) =>
        database.transaction(() => {
          for (const row of rows) database.run(sql, ...columns.map(([name]) => (row[name] ?? null) as SQLInputValue))
        })
    },
    async ofEach(text, { rows: items }, values, tail) {
      const found: Row[] = []
      const enough = tail?.order === undefined ? (tail?.most ?? Infinity) : Infinity
      let next = 0
      const reading = database.reading()
      const read = () => {
        for (const end = performance.now() + partMs; performance.now() < end;) {
          if (next === items.length || found.length >= enough) return false
          found.push(...all(text, { ...values, ...items[next++] }))
        }
        return true
      }
      while (await reading(read)) await new Promise(setImmediate)
      return found
    },
    usage: sqliteUsage(database, all, lists, run),
    part: async (text, values = {}) =>
      database.transaction(() => {
        const end = performance.now() + partMs
        // At least one step: a busy machine may take its time before the first one.
        do if (run(text, values) === 0) return false
        while (performance.now() < end)
        return true
      }),
  }
}
