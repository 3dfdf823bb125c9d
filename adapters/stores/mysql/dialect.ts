/** What is MySQL's and MariaDB's own in SQL. */
import { joiningLabels, sound, type Dialect } from '../sql/sql.ts'

const table = 'ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
const text = 'longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'

/** Names are bytes, because the collations that compare exactly have different names in MySQL and MariaDB. */
export const dialect: Dialect = {
  types: {
    name: 'varbinary(1024)',
    text: 'longtext',
    json: 'longtext',
    integer: 'bigint',
    int: 'int',
    real: 'double',
    count: 'double',
    flag: 'boolean',
    bytes: 'longblob',
    identity: 'int AUTO_INCREMENT PRIMARY KEY',
    numbered: 'bigint AUTO_INCREMENT PRIMARY KEY',
  },
  table,
  keyed: table,
  index: '',
  // Without UNIX_TIMESTAMP, which depends on the time zone of the session: an hour of each year would be there twice.
  now: `(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1e3)`,
  part: 100,
  contains: (whole, part) => `locate(${part}, ${whole}) > 0`,
  // LOWER would also change letters that are not of ASCII.
  lower: (given) =>
    Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ').reduce(
      (made, letter) => `replace(${made}, '${letter}', '${letter.toLowerCase()}')`,
      given,
    ),
  field: (json, name) => `CAST(json_unquote(json_extract(${sound(json)}, '$.${name}')) AS binary)`,
  list: (json, name) => `json_extract(${sound(json)}, '$.${name}')`,
  has: (list, given) => `json_contains(${sound(list)}, json_quote(${given}))`,
  each: (list, of, which) => `SELECT CAST(part AS binary) AS item FROM ${of === undefined ? '' : `@.${of} own,`}
    json_table(${sound(list)}, '$[*]' COLUMNS (part ${text} PATH '$')) parts ${which === undefined ? '' : `WHERE ${which}`}`,
  elements: (list, fields) =>
    `json_table(${sound(list)}, '$[*]' COLUMNS (${fields.map((name) => `${name} ${text} PATH '$.${name}'`).join(', ')})) element`,
  member: (field) => `element.${field}`,
  among: (value, query) => `${value} IN (${query})`,
  some: (_table, which) => which,
  existing: (key) => `ON DUPLICATE KEY UPDATE ${key} = ${key}`,
  replacing: (_key, columns) =>
    `ON DUPLICATE KEY UPDATE ${columns.map((each) => `${each} = VALUES(${each})`).join(', ')}`,
  adding: (name, keys, added, query) => {
    const sums = added.map((each) => {
      const old = `@.${name}.${each}`
      return `${each} = coalesce(${old} + VALUES(${each}), ${old}, VALUES(${each}))`
    })
    return `INSERT INTO @.${name} (${[...keys, ...added].join(', ')}) ${query} ON DUPLICATE KEY UPDATE ${sums.join(', ')}`
  },
  first: 'STRAIGHT_JOIN',
  ofLabels: joiningLabels('@.usage_labels l STRAIGHT_JOIN'),
}

/** Names in double quotes, and reserved words that the shared statements use as names. */
const names = /"(\w+)"|(?<![:'`.\w])(key|lines)(?![\w'])/g

/**
 * A statement that the databases share, as MySQL understands it: its own quotes and types of casts. JSON is stored as text, which
 * needs none.
 */
export function translated(statement: string): string {
  return statement
    .replaceAll(names, '`$1$2`')
    .replaceAll(/CAST\(([\w.:?`]+) AS text\)/g, '$1')
    .replaceAll(' AS bigint)', ' AS signed)')
}

const indexOn = /^CREATE INDEX (\w+) ON (\S+) (\([^)]*\))/

/**
 * The definitions of tables, each with its indexes: a server takes long for each statement. There are no indexes of a part of the
 * rows, so that one with only a label would be of no use.
 */
export function definitions(tables: string): string[] {
  const statements = tables
    .split(';')
    .map((each) => translated(each.replaceAll(/--.*/g, '').trim()))
    .filter((each) => each !== '')
  const indexes = statements.flatMap((each) => {
    const [, name, of, columns] =
      indexOn.exec(each.replace('(label) WHERE session', '(label, session) WHERE session')) ?? []
    return name === undefined ? [] : [{ of, text: `, INDEX ${name} ${columns}` }]
  })
  return statements
    .filter((each) => !indexOn.test(each))
    .map((each) => {
      const own = indexes.filter(({ of }) => each.startsWith(`CREATE TABLE ${of} `)).map(({ text: index }) => index)
      return each.replace(`) ${table}`, `${own.join('')}) ${table}`)
    })
}
