/** What is Postgres's own in SQL. */
import { adding, named, replacing, where, type Column, type Dialect } from '../sql/sql.ts'

export const dialect: Dialect = {
  types: {
    name: 'text COLLATE "C"',
    text: 'text',
    json: 'jsonb',
    integer: 'bigint',
    int: 'int',
    real: 'float8',
    count: 'numeric',
    flag: 'boolean',
    bytes: 'bytea',
    identity: 'int GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    numbered: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  },
  table: '',
  keyed: '',
  index: '',
  // Unlike clock_timestamp(), it is constant within the statement, which allows an index.
  now: '(extract(epoch FROM statement_timestamp())::float8 * 1000)',
  part: 100,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  lower: (text) => `lower(${text} COLLATE "C")`,
  field: (json, name) => `(${json} ->> '${name}')`,
  list: (json, name) => `(${json} -> '${name}')`,
  has: (list, text) => `${list} @> jsonb_build_array(${text}::text)`,
  each: (list, table, which) => `SELECT jsonb_array_elements_text(${list}::jsonb) AS item
    ${table === undefined ? '' : `FROM @.${table} own`} ${which === undefined ? '' : `WHERE ${which}`}`,
  elements: (list) => `jsonb_array_elements(CASE jsonb_typeof(${list}) WHEN 'array' THEN ${list} END) element`,
  member: (field) => `(element.value ->> '${field}')`,
  among: (value, query) => `${value} = ANY (ARRAY(${query}))`,
  // With ctid, the planner never reads the whole table.
  some: (table, which, { skips = false } = {}) =>
    `ctid = ANY (ARRAY(SELECT ctid FROM @.${table} WHERE ${which} FOR UPDATE ${skips ? 'SKIP LOCKED' : ''}))`,
  existing: () => 'ON CONFLICT DO NOTHING',
  replacing,
  adding,
  first: 'JOIN',
  // Statistics may be missing or old, so these need none. With OFFSET 0, the rows of each label are read by their primary key;
  // of a range of a column the planner expects few rows, and looks up the label of each; not of a term.
  ofLabels(columns, labels, parts, few) {
    const sums = parts.map(({ table, columns: own, range: [begin, end], conditions }) => {
      const range = few ? ['s.label = l.label', `number >= ${begin}`] : [`number + 0 >= ${begin}`]
      return `SELECT label, ${own.map(named).join(', ')} FROM ${table} s ${where([...range, `number < ${end}`, ...conditions])}`
    })
    const all = sums.join(' UNION ALL ')
    const joined = few ? `CROSS JOIN LATERAL (${all} OFFSET 0) s` : `JOIN (${all}) s ON s.label = l.label`
    const given = parts[0]?.columns.map(([, name]) => `s.${name}`) ?? []
    return `SELECT ${[columns, ...given].join(', ')} FROM @.usage_labels l ${joined} ${where(labels)}`
  },
}

/** A value of an `item` in JSON. Bytes are in base64 there. */
export function valueOf([name, type]: Column): string {
  if (type === 'bytes') return `decode(item ->> '${name}', 'base64')`
  return `CAST(item ->> '${name}' AS ${type === 'name' ? 'text' : dialect.types[type]})`
}
