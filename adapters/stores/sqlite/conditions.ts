import type { SQLInputValue } from 'node:sqlite'

/** A condition with its values. */
export type Condition = readonly [sql: string, ...values: SQLInputValue[]]

/** The condition, or none if there is no value for it. */
export function given(sql: string, value: SQLInputValue | undefined): Condition[] {
  return value === undefined ? [] : [[sql, value]]
}

export function where(conditions: readonly Condition[]): {
  readonly text: string
  readonly values: readonly SQLInputValue[]
} {
  const text = conditions.length === 0 ? '' : `WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`
  return { text, values: conditions.flatMap(([, ...values]) => values) }
}
