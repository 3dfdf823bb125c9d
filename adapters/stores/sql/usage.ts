/** Usage: one row per request, and precomputed sums. */
import { cursorOf, pageOf, type UsageStore } from '../index.ts'
import { columnOf, type Sql } from './sql.ts'
import { callFields, labelFields, personalFields, refusedTable } from './usage-columns.ts'
import { durationsOf } from './usage-durations.ts'
import { addingLabels } from './usage-labels.ts'
import { sumLines } from './usage-lines.ts'
import { listed } from './usage-list.ts'
import { callColumns, callRow, recordOf, refusedColumns, refusedRow } from './usage-rows.ts'
import { summed } from './usage-sums.ts'
import { admitUsers } from './usage-users.ts'

/** Maximum number of records that a step of anonymising changes. */
const most = 100

export function sqlUsage(sql: Sql): Required<Omit<UsageStore, 'close'>> {
  const { dialect, all, run, batch, inserting, part, usage } = sql
  const { some, among } = dialect
  const find = `
    SELECT ${callColumns} FROM @.calls c JOIN @.usage_labels l ON l.label = c.label WHERE c.id = :id
    UNION ALL SELECT ${refusedColumns} FROM @.refused WHERE id = :id`
  const refuse = inserting('refused', refusedTable)
  const removing = (table: string, key: string) =>
    `DELETE FROM @.${table} WHERE ${some(table, 'started_at < :before ORDER BY started_at LIMIT :most', { key, skips: true })}`
  const personal = personalFields.map(columnOf)
  const isPersonal = ['account <> :as', ...personal.map((column) => `${column} IS NOT NULL`)].join(' OR ')
  const ofLabels = without(personalFields.filter((name) => labelFields.includes(name)))
  const addLabels = addingLabels(sql)
  return {
    async append(records) {
      if (records.length === 0) return
      const rows = records.map(callRow)
      // Labels may be anonymised between the two; then they are added again.
      for (let attempt = 0; attempt < 5; attempt++) {
        if (await usage.append(rows)) return
        await addLabels(rows)
      }
      throw new Error('labels of usage could neither be added nor found')
    },
    async appendRefused(records) {
      if (records.length > 0) await refuse(records.map(refusedRow))
    },
    find: async (id) => (await all(find, { id })).map(recordOf)[0],
    async list(question) {
      const { limit = 100 } = question
      return pageOf(await listed(sql, question, limit + 1), limit, (last) => cursorOf(last.startedAt, last.id))
    },
    async removeBefore(before, limit, only) {
      const refused = await run(removing('refused', 'id'), { before, most: limit })
      if (only === 'refused') return refused
      return refused + (await run(removing('calls', 'rowid'), { before, most: limit - refused }))
    },
    summarise: (question) => summed(sql, question),
    durations: (question) => durationsOf(sql, question),
    sumLines: (filter) => sumLines(sql, filter),
    admitUsers: (users, most) => admitUsers(sql, users, most),
    /** Does a part of the work; returns whether there is more. The labels come last, because they select the records. */
    async anonymise(anonymisation) {
      const isOf = anonymisation.user === undefined ? 'account = :account' : 'account = :account AND "user" = :user'
      const isLabel = `${isOf} AND within IS NOT NULL`
      const labels = among('label', `SELECT label FROM @.usage_labels WHERE ${isLabel}`)
      const ofCalls = some('calls', `session IS NOT NULL AND ${labels} LIMIT ${most}`)
      const ofRefused = some('refused', `${isOf} AND (${isPersonal}) LIMIT ${most}`, { key: 'id' })
      const steps = [
        `UPDATE @.calls SET ${without(personalFields.filter((name) => callFields.includes(name)))} WHERE ${ofCalls}`,
        `UPDATE @.refused SET account = :as, ${without(personalFields)} WHERE ${ofRefused}`,
      ]
      for (const step of steps) if (await part(step, { ...anonymisation })) return true
      await batch(
        [
          `UPDATE @.usage_labels SET account = :as, digest = NULL, ${ofLabels} WHERE ${isLabel}`,
          `DELETE FROM @.usage_users WHERE ${isOf}`,
        ],
        { ...anonymisation },
      )
      return false
    },
  }
}

function without(fields: readonly string[]): string {
  return fields.map((name) => `${columnOf(name)} = NULL`).join(', ')
}
