/** Price lines of usage records, their removal after the retention period, and the anonymisation of accounts and users. */
import type { UsageLineSum, UsageStore } from '../index.ts'
import { conditions, where } from './conditions.ts'
import type { Database } from './database.ts'
import { anonymisingRefused } from './usage-refused.ts'

/** Maximum number of records that a step changes. */
const batch = 500

type Methods = Required<Pick<UsageStore, 'sumLines' | 'removeBefore' | 'anonymise'>>

export function usageLife(database: Database): Methods {
  return {
    async sumLines({ account, from, to }) {
      const values: unknown[] = []
      const filter = conditions(values, { 'account =': account, 'started_at >=': from, 'started_at <': to })
      const rows = await database.manyRows<{ row: string }>(
        `SELECT json_build_object('account', account, 'model', model, 'item', item, 'quantity', sum(quantity), 'per', per,
            'price', price)::text AS row
          FROM @.calls c JOIN @.usage_labels l ON l.label = c.label
          CROSS JOIN LATERAL jsonb_to_recordset(c.rest->'lines') AS line (item text, quantity numeric, per numeric, price text)
          ${where([...filter, `c.rest ? 'lines'`])}
          GROUP BY account, model, item, per, price
          ORDER BY account, model, item COLLATE "C", per, price COLLATE "C"`,
        values,
      )
      return rows.map(({ row }) => JSON.parse(row) as UsageLineSum)
    },
    async removeBefore(before, most, only) {
      let removed = 0
      for (const table of only === undefined ? ['refused', 'calls'] : ['refused']) {
        const rows = await database.rows(removing(table), [before, most - removed])
        removed += rows.length
      }
      return removed
    },
    async anonymise({ account, user, as }) {
      const refused = await database.rows(anonymisingRefused, [account, user ?? null, as, batch])
      if (refused.length > 0) return true
      const [row] = await database.rows<{ more: boolean }>(anonymising, [account, user ?? null, as, batch])
      return row?.more === true
    },
  }
}

/** With ctid, the planner never reads the whole table. */
function removing(table: string): string {
  return `DELETE FROM @.${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM @.${table} WHERE started_at < $1 ORDER BY started_at LIMIT $2 FOR UPDATE SKIP LOCKED
    )) RETURNING 1`
}

const anonymising = 'SELECT @.anonymise_usage($1, $2, $3, $4) AS more'
