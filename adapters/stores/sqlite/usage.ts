/** How SQLite adds usage, and reads it in slices of a few milliseconds. */
import { columnOf, where, type TableList, type UsageStatements, type Values } from '../sql/sql.ts'
import { callTable } from '../sql/usage-columns.ts'
import { addingCalls } from '../sql/usage-tables.ts'
import type { Database } from './database.ts'
import { SlicedReads, type Query } from './sliced-reads.ts'
import { dialect } from './dialect.ts'

const insert = `INSERT INTO @.calls (label, ${callTable.map(([name]) => columnOf(name)).join(', ')})
  VALUES (:label, ${callTable.map(([name]) => `:${name}`).join(', ')}) ON CONFLICT DO NOTHING`
const adding = addingCalls(
  dialect,
  '(SELECT c.* FROM json_each(:ids) given CROSS JOIN @.calls c ON c.id = given.value)',
)

export function sqliteUsage(
  database: Database,
  all: Query,
  lists: (text: string, values: Values) => readonly TableList[],
  run: (text: string, values: Values) => number,
): UsageStatements {
  const slices = () => new SlicedReads(database.reading(), all)
  return {
    append: async (rows) =>
      database.transaction(() => {
        const labels = new Map<unknown, unknown>()
        for (const { digest } of rows) {
          if (labels.has(digest)) continue
          const [row] = all('SELECT label FROM @.usage_labels WHERE digest = :digest', { digest })
          if (row === undefined) return false
          labels.set(digest, row['label'])
        }
        const added = rows.filter((row) => run(insert, { ...row, label: labels.get(row['digest']) }) > 0)
        if (added.length === 0) return true
        const ids = JSON.stringify(added.map(({ id }) => id))
        for (const text of adding) run(text, { ids })
        return true
      }),
    async inParts(sources, owner, text, values, take) {
      const reads = slices()
      for (const source of sources)
        await reads.read(source, owner, values, (some, part) =>
          take(all(text(source.rows(some), false), { ...values, ...part })),
        )
    },
    async labelled(owner, names, sums, values, take) {
      const reads = slices()
      const labels = await reads.labelsOf(owner, values)
      await reads.ofLabels(labels, (some, part) => {
        const all = { ...values, ...part }
        take(lists(names(some), all), lists(sums(some), all))
      })
    },
    async newest(columns, table, { indexed, scanned }, values, most) {
      if (scanned.length > 0)
        return slices().newest(columns, `@.${table}`, scanned.join(' AND '), indexed, values, most)
      const text = `SELECT ${columns} FROM @.${table} ${where(indexed)} ORDER BY started_at DESC, id DESC LIMIT :most`
      return database.read(() => all(text, { ...values, most }))
    },
  }
}
