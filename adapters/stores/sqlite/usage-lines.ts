import type { UsageLineFilter, UsageLineSum } from '../index.ts'
import { given, where, type Condition } from './conditions.ts'
import type { Database, Row } from './database.ts'
import { SlicedReads } from './sliced-reads.ts'
import { fewLabels } from './usage-labels.ts'

const order = ['account', 'model', 'item', 'per', 'price'] as const

/** The sums of equal price lines. Reads the requests in slices of a few milliseconds, between which other calls run. */
export async function sumLines(
  database: Database,
  { account, from = -Infinity, to = Infinity }: UsageLineFilter,
): Promise<UsageLineSum[]> {
  const sums = new Map<string, { readonly line: UsageLineSum; quantity: bigint }>()
  const slices = new SlicedReads(database)
  const owner = given('account = ?', account)
  const labels = account === undefined ? undefined : await fewLabels(database, { account }, owner)
  for (const own of labels?.map((label): Condition => ['c.label = ?', label]) ?? [['lines IS NOT NULL'] as const]) {
    await slices.ofTimes([own], from, to, (some) => {
      for (const row of linesOf(database, [own, ['lines IS NOT NULL'], ...owner, some])) add(sums, row)
    })
  }
  return [...sums.values()]
    .map(({ line, quantity }) => ({ ...line, quantity: Number(quantity) }))
    .sort((left, right) => {
      const differing = order.find((name) => left[name] !== right[name])
      return differing === undefined || left[differing] < right[differing] ? -1 : 1
    })
}

function linesOf(database: Database, conditions: readonly Condition[]): Row[] {
  const { text, values } = where(conditions)
  return database.all(
    `SELECT account, model, line.value ->> 'item' AS item, line.value ->> 'per' AS per, line.value ->> 'price' AS price,
      sum(line.value ->> 'quantity') AS quantity
    FROM modelhatch_calls c CROSS JOIN modelhatch_usage_labels l ON l.label = c.label CROSS JOIN json_each(c.lines) line
    ${text} GROUP BY 1, 2, 3, 4, 5`,
    ...values,
  )
}

function add(sums: Map<string, { readonly line: UsageLineSum; quantity: bigint }>, row: Row): void {
  const { account, model, item, price } = row as unknown as UsageLineSum
  const per = Number(row['per'])
  const quantity = BigInt(row['quantity'] ?? 0)
  const name = JSON.stringify([account, model, item, per, price])
  const before = sums.get(name)
  if (before === undefined) sums.set(name, { line: { account, model, item, quantity: 0, per, price }, quantity })
  else before.quantity += quantity
}
