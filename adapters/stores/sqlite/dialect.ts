/** What is SQLite's own in SQL. */
import { adding, joiningLabels, replacing, sound, type Dialect } from '../sql/sql.ts'

export const dialect: Dialect = {
  types: {
    name: 'TEXT',
    text: 'TEXT',
    json: 'TEXT',
    integer: 'INTEGER',
    int: 'INTEGER',
    real: 'REAL',
    count: 'REAL',
    flag: 'INTEGER',
    bytes: 'BLOB',
    identity: 'INTEGER PRIMARY KEY',
    numbered: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  },
  table: 'STRICT',
  keyed: 'STRICT, WITHOUT ROWID',
  index: 'modelhatch_',
  now: `(unixepoch('subsec') * 1000.0)`,
  part: 1,
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  lower: (text) => `lower(${text})`,
  field: (json, name) => `(${sound(json)} ->> '${name}')`,
  list: (json, name) => `(${sound(json)} -> '${name}')`,
  has: (list, text) => `EXISTS (SELECT 1 FROM json_each(${sound(list)}) WHERE value = ${text})`,
  each: (
    list,
    table,
    which,
  ) => `SELECT value AS item FROM ${table === undefined ? '' : `@.${table} own,`} json_each(${sound(list)})
    ${which === undefined ? '' : `WHERE ${which}`}`,
  elements: (list) => `json_each(${sound(list)}) element`,
  member: (field) => `CASE element.type WHEN 'object' THEN element.value ->> '${field}' END`,
  among: (value, query) => `${value} IN (${query})`,
  some: (table, which, { key = 'rowid' } = {}) => `(${key}) IN (SELECT ${key} FROM @.${table} WHERE ${which})`,
  existing: () => 'ON CONFLICT DO NOTHING',
  replacing,
  adding,
  first: 'CROSS JOIN',
  // NOT INDEXED, because slices select labels by their number.
  ofLabels: joiningLabels('@.usage_labels l NOT INDEXED CROSS JOIN'),
}
