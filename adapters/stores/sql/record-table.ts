/** Tables with one record a row: definition, insertion and reading follow from one declaration of the columns. */
import { columnOf, type Column, type ColumnType, type Dialect, type TableRow } from './sql.ts'

/** The type of the column of each field, with `?` if the field may be absent. */
type ColumnTypes<T> = {
  readonly [Name in keyof Required<T>]: [T[Name] & (null | undefined)] extends [never] ? ColumnType : `${ColumnType}?`
}

interface RecordTable<T> {
  readonly columns: readonly Column[]
  /** The column definitions of a `CREATE TABLE` statement. */
  readonly definitions: (dialect: Dialect) => string
  /** The statement that inserts a row, whose values have the names of the fields. */
  readonly inserting: (table: string) => string
  readonly recordOf: (row: TableRow) => T
}

export function recordTable<T>(types: ColumnTypes<T>): RecordTable<T> {
  const columns = Object.entries<string>(types).map(([name, given]) => {
    const type = given.replace('?', '') as ColumnType
    return { name, type, column: columnOf(name), rule: given === type ? 'NOT NULL' : '' }
  })
  const names = columns.map(({ column }) => column).join(', ')
  const values = columns.map(({ name }) => `:${name}`).join(', ')
  return {
    columns: columns.map(({ name, type }) => [name, type]),
    definitions: (dialect) =>
      columns.map(({ column, type, rule }) => `${column} ${dialect.types[type]} ${rule}`).join(', '),
    inserting: (table) => `INSERT INTO @.${table} (${names}) VALUES (${values})`,
    recordOf(row) {
      const record: Record<string, unknown> = {}
      for (const { name, type, column } of columns) {
        const value = row[column.slice(1, -1)]
        if (value !== null) record[name] = type === 'integer' || type === 'real' ? Number(value) : value
      }
      return record as T
    },
  }
}
