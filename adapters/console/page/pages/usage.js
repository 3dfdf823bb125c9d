import { h } from '../preact.js'
import { get, urlOf } from '../api.js'
import { money, percent, whole } from '../format.js'
import { useLoad } from '../load.js'
import { filter, linkTo, usePlace } from '../location.js'
import { LinkButton } from '../parts/button.js'
import { PageHead } from '../parts/details.js'
import { SelectField } from '../parts/field.js'
import { Empty } from '../parts/notice.js'
import { PeriodPicker, timeZone, usePeriod } from '../parts/period.js'
import { table } from '../parts/table.js'
import { AccountFilter, ModelFilter } from '../parts/filters.js'
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

export function UsagePage() {
  const { currency, role, isBilled, units, features } = useSession()
  const { query } = usePlace()
  const { range, from, to } = usePeriod('30d')
  const offered = dimensions.filter((each) => role === 'admin' || !internal.includes(each))
  const by = offered.find((each) => each === query['by']) ?? 'model'
  const { account, model } = query
  const asked = { by, from, to, account, model, ...(by === 'day' && { timeZone: timeZone() }) }
  const { data, error, loading, reload } = useLoad(
    async (signal) => ordered((await get('usage', asked, signal)).items, by),
    Object.values(asked),
  )
  const nameOf = useKeyNames(by === 'key', account)
  const actions = [
    h(PeriodPicker, { range }),
    h(LinkButton, { href: urlOf('usage.csv', asked), icon: 'download', download: true }, t('csv')),
  ]
  /** @type {readonly (readonly [title: string, value: (row: StatisticsRow) => string | undefined])[]} */
  const numbers = [
    [t('requests'), ({ requests }) => whole(requests)],
    [t('incomplete'), ({ incomplete }) => dashed(incomplete)],
    ...units.map(
      (unit) => /** @type {const} */ ([named('unit', unit), (/** @type {StatisticsRow} */ row) => dashed(row[unit])]),
    ),
    [t('cacheHits'), cacheHits],
    ...(isBilled
      ? [
          /** @type {const} */ ([
            t(features.costs ? 'revenue' : 'cost'),
            (/** @type {StatisticsRow} */ { cost }) => money(cost, currency, 4, 4),
          ]),
        ]
      : []),
    ...(features.costs ? costColumns(isBilled, currency) : []),
  ]
  return h(
    'div',
    { class: 'page' },
    h(PageHead, { title: t('page_usage'), actions }),
    h(
      'div',
      { class: 'filters' },
      h(SelectField, {
        label: t('groupBy'),
        compact: true,
        value: by,
        onChange: (value) => filter({ by: value }),
        options: offered.map((each) => /** @type {const} */ ([each, t(`by_${each}`)])),
      }),
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
        { title: t(`by_${by}`), head: true, cell: (row) => h(Name, { by, value: row[by] ?? '', range, nameOf }) },
        ...numbers.map(([title, cell]) => ({ title, numeric: true, cell })),
      ],
    }),
  )
}

/**
 * What the host paid to vendors, and what is left.
 * @param {boolean} isBilled @param {string | undefined} currency
 * @returns {readonly (readonly [title: string, value: (row: StatisticsRow) => string | undefined])[]}
 */
function costColumns(isBilled, currency) {
  const amount = (/** @type {string | undefined} */ value) => (value === undefined ? '–' : money(value, currency, 4, 4))
  return [
    [t('vendorCost'), ({ vendorCost }) => amount(vendorCost)],
    ...(isBilled
      ? [/** @type {const} */ ([t('margin'), (/** @type {StatisticsRow} */ { margin }) => amount(margin)])]
      : []),
    [t('uncosted'), ({ uncosted = 0 }) => dashed(uncosted)],
  ]
}

/** The part of the input that vendors read from their caches. @param {StatisticsRow} row */
function cacheHits({ promptTokens, cachedTokens }) {
  return promptTokens === 0 ? '–' : percent(cachedTokens / promptTokens)
}

/** Leads to the requests of a row. @param {{ by: Dimension, value: string, range: string, nameOf: (key: string) => string }} properties */
function Name({ by, value, range, nameOf }) {
  if (value === '') return t('none')
  const listed = by === 'model' || by === 'key' || by === 'account' || by === 'user' || by === 'tag'
  return listed ? h('a', { href: linkTo(['requests'], { [by]: value, range }) }, nameOf(value)) : value
}

/** Days with the newest first, all others by what they cost. @param {readonly StatisticsRow[]} rows @param {Dimension} by */
function ordered(rows, by) {
  if (by === 'day') return rows.toReversed()
  return rows.toSorted((left, right) => Number(right.cost) - Number(left.cost) || right.requests - left.requests)
}

/** @param {number} value */
function dashed(value) {
  return value === 0 ? '–' : whole(value)
}
