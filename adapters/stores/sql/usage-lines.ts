/** The sums of equal price lines. */
import { comparing, type UsageLineFilter, type UsageLineSum } from '../index.ts'
import { where, type Sql } from './sql.ts'
import { filterValues, rangeConditions } from './usage-filter.ts'
import { ownerOf } from './usage-labels.ts'

const order = ['account', 'model', 'item', 'per', 'price'] as const

type Sum = { -readonly [Name in keyof UsageLineSum]: UsageLineSum[Name] }

export async function sumLines(sql: Sql, filter: UsageLineFilter): Promise<UsageLineSum[]> {
  const { from = -Infinity, to = Infinity } = filter
  const owner = ownerOf(sql, filter)
  const { elements, member, first } = sql.dialect
  const present = ['c.lines IS NOT NULL']
  const when = rangeConditions(filter)
  const fields = ['item', 'per', 'price', 'quantity']
  const members = fields.map((name) => `${member(name)} AS ${name}`)
  const rows = (some: readonly string[]) => `SELECT account, model, ${members.join(', ')}
    FROM @.calls c ${first} @.usage_labels l ON l.label = c.label CROSS JOIN ${elements('c.lines', fields)}
    ${where([...present, ...owner.conditions, ...(some.length > 0 ? some : when)])}`
  const text = (
    lines: string,
  ) => `SELECT account, model, item, per, price, sum(CAST(quantity AS ${sql.dialect.types.integer})) AS quantity
    FROM (${lines}) lines GROUP BY account, model, item, per, price`
  const sums = new Map<string, { readonly line: Sum; quantity: bigint }>()
  const values = filterValues(filter)
  const source = { times: { from, to, filter: present }, rows }
  await sql.usage.inParts([source], owner, text, values, (found) => {
    for (const row of found) {
      const { account, model, item, price } = row as unknown as UsageLineSum
      const line = { account, model, item, quantity: 0, per: Number(row['per']), price }
      const name = JSON.stringify(order.map((each) => line[each]))
      const sum = sums.get(name) ?? { line, quantity: 0n }
      sums.set(name, sum)
      sum.quantity += BigInt(row['quantity'] as bigint | string)
    }
  })
  return [...sums.values()]
    .map(({ line, quantity }) => ({ ...line, quantity: Number(quantity) }))
    .sort(comparing(order))
}
