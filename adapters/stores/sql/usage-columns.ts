/** The columns of usage in the tables of SQL stores. */
import {
  summedAmounts,
  usageFields,
  usageFieldsWith,
  usageUnits,
  type UsageDimension,
  type UsageRecord,
  type UsageUnits,
} from '../index.ts'
import { columnOf, type Column, type Dialect } from './sql.ts'

type UsageName = keyof UsageRecord

const widest = ['real', 'integer', 'int', 'flag', 'name', 'count', 'json', 'packed'] as const

function columnFor(name: UsageName): Column {
  const { kept } = usageFields[name]
  return [name, kept === 'packed' ? 'text' : kept]
}

/** The units and their columns. */
export const sums: readonly (readonly [unit: keyof UsageUnits, column: string])[] = usageUnits.map((unit) => [
  unit,
  unit.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
])

export const sumColumns: readonly string[] = sums.map(([, column]) => column)

const bare = (name: string) => columnOf(name).slice(1, -1)

/** The amounts and their columns, and the columns that count requests without them. */
export const amounts: readonly { readonly name: 'cost' | 'vendorCost'; readonly column: string }[] = summedAmounts.map(
  ({ name }) => ({ name, column: bare(name) }),
)

/** The columns of amounts in tables of sums: two parts, so that neither can overflow. */
export const amountColumns: readonly string[] = amounts.flatMap(({ column }) => [`${column}_high`, `${column}_low`])

/** The two parts of each amount of requests, of which sums are taken; 0 without one. */
export const amountParts: readonly string[] = amounts.flatMap(({ column }) => [
  `coalesce(${column} >> 32, 0) AS ${column}_high`,
  `coalesce(${column} & 4294967295, 0) AS ${column}_low`,
])

/** Whether requests have no amount, of which the sums are counts. */
export const missingParts: readonly string[] = summedAmounts.flatMap(({ name, missing }) =>
  missing === undefined ? [] : [`CASE WHEN ${bare(name)} IS NULL THEN 1 ELSE 0 END AS ${missing}`],
)

/** The columns of these counts. */
export const missingAmounts: readonly 'uncosted'[] = summedAmounts.flatMap(({ missing }) => missing ?? [])

/** What tables of sums add up. */
export const addedColumns: readonly string[] = [
  'requests',
  'incomplete',
  ...sumColumns,
  ...amountColumns,
  ...missingAmounts,
]

/** The fields of a label, and of a request besides its label: those with a fixed width first, so that rows are narrow. */
export const labelFields: readonly UsageName[] = usageFieldsWith(({ shared }) => shared)
export const callFields: readonly UsageName[] = widest.flatMap((wanted) =>
  usageFieldsWith(({ shared, kept }) => shared === undefined && kept === wanted),
)

/** The fields of a refused request that can be selected or anonymised. What can be anonymised is not in its `record`. */
export const refusedFields: readonly UsageName[] = [
  'id',
  'startedAt',
  ...usageFieldsWith(({ filter, personal }) => filter ?? personal).filter((name) => name !== 'outcome'),
]

export const personalFields: readonly UsageName[] = usageFieldsWith(({ personal }) => personal)

export const labelTable: readonly Column[] = [['digest', 'name'], ['within', 'int'], ...labelFields.map(columnFor)]
export const callTable: readonly Column[] = callFields.map(columnFor)
export const refusedTable: readonly Column[] = [...refusedFields.map(columnFor), ['record', 'text']]

/** The definitions of the columns of fields. */
export function definitionsOf({ types }: Dialect, fields: readonly UsageName[], isLax = false): string {
  const isRequired = (name: UsageName) => usageFields[name].usual === undefined && !usageFields[name].rule.isOptional()
  return fields
    .map((name) => {
      const [, type] = columnFor(name)
      return `${columnOf(name)} ${types[type]}${isLax || !isRequired(name) ? '' : ' NOT NULL'}`
    })
    .join(', ')
}

/** The dimensions of labels with an account. */
export const ofOwner: ReadonlySet<UsageDimension> = new Set(['account', 'key', 'user', 'tag', 'session'])

/** The expressions of dimensions of labels. The rows of a tag are grouped by the list of all tags. */
const ofLabel = {
  account: 'account',
  group: '"group"',
  key: `coalesce(key, '')`,
  model: 'model',
  provider: `coalesce(provider, '')`,
  providerModel: `coalesce(provider_model, '')`,
  endpoint: 'endpoint',
  user: `coalesce("user", '')`,
  tag: 'tags',
  session: `coalesce(session, '')`,
}

/** The expression of a dimension. `at`: the time of a row. */
export function expressionOf(dimension: UsageDimension, at: string = 'at'): string {
  if (dimension === 'day') return `floor((${at} + :offsetMs) / 86400000)`
  if (dimension === 'period') return `floor((${at} + :offsetMs) / :periodMs) * :periodMs - :offsetMs`
  return ofLabel[dimension]
}

/** Whether a dimension is a time. */
export function isTime(dimension: UsageDimension): boolean {
  return dimension === 'day' || dimension === 'period'
}
