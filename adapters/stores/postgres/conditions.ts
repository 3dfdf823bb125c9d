/** The conditions with a value: optional conditions within SQL would prevent the use of an index. Appends to `values`. */
export function conditions(values: unknown[], wanted: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(wanted).flatMap(([condition, value]) =>
    value === undefined ? [] : [`${condition} $${values.push(value)}`],
  )
}

export function where(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`
}
