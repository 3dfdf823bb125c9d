/** Counts statements and the rows that they read from tables, by explaining each of them before it runs. */
import type { Queryable } from '../../../../adapters/stores/postgres/postgres.ts'

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Node[]
}

export interface Counted extends Queryable {
  /** The numbers since the last call. */
  readonly take: () => { readonly statements: number; readonly rows: number; readonly returned: number }
}

/** Of statements that begin with SELECT or WITH, and that are not calls of functions. */
export function countingRows(pool: Queryable): Counted {
  let [statements, rows, returned] = [0, 0, 0]
  return {
    async query(text, values) {
      if (!/^\s*(?:SELECT|WITH)\b/.test(text) || /^\s*SELECT \w+\.\w+\(/.test(text)) return pool.query(text, values)
      const explained = await pool.query(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`, values)
      const [{ Plan: plan }] = (explained.rows[0] as { 'QUERY PLAN': [{ Plan: Node }] })['QUERY PLAN']
      const result = await pool.query(text, values)
      statements++
      rows += readBy(plan)
      returned += result.rows.length
      return result
    },
    take() {
      const taken = { statements, rows, returned }
      statements = rows = returned = 0
      return taken
    },
  }
}

/** The rows that a node and those below it read from tables, also those that a filter then rejects. */
function readBy(node: Node): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = node
  const own = node['Relation Name'] === undefined ? 0 : node['Actual Rows'] + filtered + rechecked
  const below = node.Plans?.reduce((sum, each) => sum + readBy(each), 0) ?? 0
  return own * node['Actual Loops'] + below
}
