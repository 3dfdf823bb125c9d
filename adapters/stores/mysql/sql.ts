/** The statements that all SQL databases share, for MySQL and MariaDB. */
import { columnOf, marking, type Sql, type TableRow, type Values } from '../sql/sql.ts'
import type { Database } from './database.ts'
import type { Ask } from './transaction.ts'
import { dialect, translated } from './dialect.ts'
import { mysqlUsage } from './usage.ts'

/** Number of queries that are sent as one. */
const mostAtOnce = 100

export function mysqlSql(database: Database): Sql {
  const marked = marking('@.', () => '?', translated)
  const ask = (to: Ask, text: string, values: Values) => to(...marked(text, values))
  const many = async (text: string, values: Values = {}) =>
    (await database.use((to) => ask(to, text, values), 'long')).rows
  const all = async (text: string, values: Values = {}) => (await database.use((to) => ask(to, text, values))).rows
  const run = async (text: string, values: Values = {}) => (await database.use((to) => ask(to, text, values))).changed
  return {
    dialect,
    all,
    many,
    run,
    insert: async (text, values) => {
      try {
        return (await run(text, values)) > 0
      } catch (error) {
        if (database.isDuplicate(error)) return false
        throw error
      }
    },
    batch: (texts, values = {}) =>
      database.transaction(async (to) => {
        for (const text of texts) await ask(to, text, values)
      }),
    async change(table, set, which, { key, ...values }) {
      const some = `SELECT ${key} FROM @.${table} WHERE ${which}`
      if ((await all(some, values)).length === 0) return []
      return database.transaction(async (to) => {
        const columns = key.split(', ')
        const { rows } = await ask(to, `${some} FOR UPDATE SKIP LOCKED`, values)
        if (rows.length === 0) return []
        const found = rows.map((_, row) => `(${columns.map((name) => `${name} = :${name}_${row}`).join(' AND ')})`)
        const named = rows.flatMap((row, at) => columns.map((name) => [`${name}_${at}`, row[name]] as const))
        const given: Values = { ...values, ...Object.fromEntries(named) }
        await ask(to, `UPDATE @.${table} SET ${set} WHERE ${found.join(' OR ')}`, given)
        return (await ask(to, `SELECT * FROM @.${table} WHERE ${found.join(' OR ')}`, given)).rows
      })
    },
    inserting(table, columns) {
      const names = columns.map(([name]) => columnOf(name)).join(', ')
      const row = `(${columns.map(() => '?').join(', ')})`
      const [first] = columns[0] as readonly [string, unknown]
      return async (rows) => {
        if (rows.length === 0) return
        const text = translated(
          `INSERT INTO @.${table} (${names}) VALUES ${rows.map(() => row).join(', ')} ${dialect.existing(columnOf(first))}`,
        )
        const values = rows.flatMap((each: TableRow) => columns.map(([name]) => each[name] ?? null))
        await database.use((to) => to(text, values))
      }
    },
    async ofEach(text, { columns, rows }, values, tail) {
      const own = new RegExp(`:(${columns.map(([name]) => name).join('|')})\\b`, 'g')
      const found: TableRow[] = []
      for (let from = 0; from < rows.length; from += mostAtOnce) {
        const some = rows.slice(from, from + mostAtOnce)
        const queries = some.map((_, at) => `(${text.replaceAll(own, `:$1_${at}`)})`)
        const named = some.flatMap((row, at) => columns.map(([name]) => [`${name}_${at}`, row[name]] as const))
        found.push(...(await many(queries.join(' UNION ALL '), { ...values, ...Object.fromEntries(named) })))
        if (tail !== undefined && tail.order === undefined && found.length >= tail.most) break
      }
      return found
    },
    usage: mysqlUsage(database, ask, many),
    part: async (text, values = {}) => (await database.use((to) => ask(to, text, values), 'long')).changed > 0,
  }
}
