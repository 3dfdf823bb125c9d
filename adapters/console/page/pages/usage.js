import { h } from '../preact.js'
import { get, urlOf } from '../api.js'
import { money, percent, whole } from '../format.js'
import { useLoad } from '../load.js'
import { linkTo, usePlace } from '../location.js'
import { CsvLink } from '../parts/button.js'
import { Page } from '../parts/details.js'
import { Empty } from '../parts/notice.js'
import { PeriodPicker, timeZone, usePeriod } from '../parts/period.js'
import { table } from '../parts/table.js'
import { AccountFilter, GroupFilter, ModelFilter } from '../parts/filters.js'
import { useKeyNames } from '../parts/key-names.js'
import { useSession } from '../session.js'
import { named, t } from '../words.js'

/** @import { StatisticsRow } from '../shapes.d.ts' */

const dimensions = /** @type {const} */ ([
  'model',
  'provider',
  'providerModel',
  'key',
  'account',
  'user',
  'tag',
  'endpoint',
  'group',
  'day',
])

/** Those that customers do not have. @type {readonly string[]} */
const internal = ['account', 'provider', 'providerModel']

/** @typedef {typeof dimensions[number]} Dimension */

/** The range that is chosen at first. */
const initial = '30d'

export function UsagePage() {
  const { currency, role, isBilled, units, features } = useSession()
  const { query } = usePlace()
  const { range, from, to } = usePeriod(initial)
  const offered = dimensions.filter((each) => role === 'admin' || !internal.includes(each))
  const by = offered.find((each) => each === query['by']) ?? 'model'
  const { account, model } = query
  const asked = { by, from, to, account, model, ...(by === 'day' && { timeZone: timeZone() }) }
  const {
    data: loaded,
    error,
    loading,
    reload,
  } = useLoad(
    async (signal) => ({ by, rows: ordered((await get('usage', asked, signal)).items, by) }),
    Object.values(asked),
  )
  // Rows of another grouping do not fit the columns.
  const data = loaded?.by === by ? loaded.rows : undefined
  const nameOf = useKeyNames(by === 'key', account)
  const actions = [h(PeriodPicker, { range }), h(CsvLink, { href: urlOf('usage.csv', asked) })]
  const amount = (/** @type {string} */ title, /** @type {'cost' | 'vendorCost' | 'margin'} */ name) => ({
    title,
    of: (/** @type {StatisticsRow} */ row) => Number(row[name] ?? 0),
    shown: (/** @type {number} */ _, /** @type {StatisticsRow | undefined} */ row) =>
      row?.[name] === undefined ? '–' : money(row[name], currency, 4, 4),
  })
  const numbers = [
    count(t('requests'), ({ requests }) => requests),
    count(t('incomplete'), ({ incomplete }) => incomplete),
    ...units
      .filter((unit) => data?.some((row) => row[unit] > 0))
      .map((unit) => count(named('unit', unit), (row) => row[unit])),
    { title: t('cacheHits'), of: cacheHits, shown: (/** @type {number} */ part) => (part === 0 ? '–' : percent(part)) },
    isBilled && amount(t(features.costs ? 'revenue' : 'cost'), 'cost'),
    features.costs && amount(t('vendorCost'), 'vendorCost'),
    features.costs && isBilled && amount(t('margin'), 'margin'),
    features.costs && count(t('uncosted'), ({ uncosted = 0 }) => uncosted),
  ]
  // A request can have several tags.
  const total = data !== undefined && by !== 'tag' ? totalOf(data) : undefined
  const hasOrder = by !== 'day'
  return h(
    Page,
    { title: t('page_usage'), actions },
    h(
      'div',
      { class: 'filters' },
      h(GroupFilter, { by, offered }),
      role === 'admin' && h(AccountFilter, null),
      h(ModelFilter, null),
    ),
    table({
      caption: t('page_usage'),
      rows: data,
      loading,
      error,
      retry: reload,
      keyOf: (/** @type {StatisticsRow} */ row) => row[by] ?? '',
      empty: h(Empty, { title: t('noUsage') }, t('noUsageHint')),
      columns: [
        {
          title: t(`by_${by}`),
          head: true,
          cell: (row) => h(Name, { by, value: row[by] ?? '', nameOf }),
          ...(total && { total: t('total') }),
        },
        ...numbers.map(
          (column) =>
            column && {
              title: column.title,
              numeric: true,
              cell: (/** @type {StatisticsRow} */ row) => column.shown(column.of(row), row),
              ...(hasOrder && { order: column.of }),
              ...(total && { total: column.shown(column.of(total), total) }),
            },
        ),
      ],
    }),
  )
}

/** The part of the input that vendors read from their caches. @param {StatisticsRow} row */
function cacheHits({ promptTokens, cachedTokens }) {
  return promptTokens === 0 ? 0 : cachedTokens / promptTokens
}

/** @param {readonly StatisticsRow[]} rows @returns {StatisticsRow} */
function totalOf(rows) {
  /** @type {Record<string, number | string>} */
  const total = {}
  for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
    if (typeof value === 'number') total[name] = Number(total[name] ?? 0) + value
    else if (amounts.has(name)) total[name] = (Number(total[name] ?? 0) + Number(value)).toFixed(9)
  }
  return /** @type {any} */ (total)
}

const amounts = new Set(['cost', 'vendorCost', 'margin'])

/** Leads to the requests of a row. @param {{ by: Dimension, value: string, nameOf: (key: string) => string }} properties */
function Name({ by, value, nameOf }) {
  const { range, from, to } = usePlace().query
  if (value === '') return t('none')
  const listed = by === 'model' || by === 'key' || by === 'account' || by === 'user' || by === 'tag'
  const query = { [by]: value, range: range ?? initial, from, to }
  return listed ? h('a', { href: linkTo(['requests'], query) }, nameOf(value)) : value
}

/** Days with the newest first, all others by what they cost. @param {readonly StatisticsRow[]} rows @param {Dimension} by */
function ordered(rows, by) {
  if (by === 'day') return rows.toReversed()
  return rows.toSorted((left, right) => Number(right.cost) - Number(left.cost) || right.requests - left.requests)
}

/** A column of counts. @param {string} title @param {(row: StatisticsRow) => number} of */
function count(title, of) {
  return { title, of, shown: dashed }
}

/** @param {number} value */
function dashed(value) {
  return value === 0 ? '–' : whole(value)
}
