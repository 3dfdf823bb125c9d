import { h } from '../preact.js'
import { get } from '../api.js'
import { compact, money } from '../format.js'
import { useList, useLoad } from '../load.js'
import { filter, linkTo, usePlace } from '../location.js'
import { Badge, StateBadge } from '../parts/badge.js'
import { Page } from '../parts/details.js'
import { SelectField } from '../parts/field.js'
import { TextFilter } from '../parts/filters.js'
import { HealthCard } from '../parts/health.js'
import { Empty } from '../parts/notice.js'
import { table } from '../parts/table.js'
import { useSession } from '../session.js'
import { named, t } from '../words.js'

/** @import { Pages } from '../load.js' */
/** @import { DeploymentView, ModelView, Price } from '../shapes.d.ts' */

export function ModelsPage() {
  const { role, groups, currency } = useSession()
  const { query } = usePlace()
  const { group, text = '' } = query
  const { list } = /** @type {Pages<ModelView>} */ (useList('models', { group }))
  const { data: prices } = useLoad((signal) => get('prices', {}, signal), [])
  const shown = list.rows?.filter(({ id }) => id.toLowerCase().includes(text.toLowerCase()))
  const isAdmin = role === 'admin'
  return h(
    Page,
    {
      title: t('page_models'),
      subtitle: [
        currency === undefined ? '' : t('pricesIn', { currency }),
        prices?.date && ` · ${prices.name ?? ''} ${prices.date}`,
      ],
    },
    isAdmin && h(HealthCard, null),
    h(
      'div',
      { class: 'filters' },
      h(TextFilter, { name: 'text', label: t('search') }),
      groups.length > 1 &&
        h(SelectField, {
          label: t('by_group'),
          compact: true,
          value: group ?? '',
          onChange: (value) => filter({ group: value }),
          options: [['', t('all')], ...groups],
        }),
    ),
    table({
      caption: t('page_models'),
      ...list,
      rows: shown,
      keyOf: ({ id }) => id,
      empty: h(Empty, { title: t('noModels') }),
      columns: [
        { title: t('by_model'), head: true, cell: (model) => h(ModelName, { model }) },
        {
          title: t('contextWindow'),
          numeric: true,
          cell: ({ contextWindow }) => (contextWindow === undefined ? '–' : compact(contextWindow)),
        },
        {
          title: t('maxOutput'),
          numeric: true,
          cell: ({ maxOutputTokens }) => (maxOutputTokens === undefined ? '–' : compact(maxOutputTokens)),
        },
        { title: t('price'), cell: ({ price }) => h(Prices, { price }) },
        { title: t('by_group'), cell: (model) => model.groups.join(', ') },
        isAdmin && { title: t('deployments'), cell: ({ deployments = [] }) => h(Deployments, { deployments }) },
      ],
    }),
  )
}

/** @param {{ model: ModelView }} properties */
function ModelName({ model: { id, displayName, ownedBy } }) {
  return [
    h('a', { href: linkTo(['playground'], { model: id }) }, id),
    h('small', { class: 'under' }, displayName ?? ownedBy),
  ]
}

/** @param {{ price: Price | undefined }} properties */
function Prices({ price }) {
  const { currency } = useSession()
  const lines = price === undefined ? [] : priceLines(price, currency)
  if (lines.length === 0) return '–'
  return h(
    'ul',
    { class: 'prices' },
    ...lines.map(({ name, value }) => h('li', { key: name }, h('span', null, name), h('b', null, value))),
  )
}

/** @param {{ deployments: readonly DeploymentView[] }} properties */
function Deployments({ deployments }) {
  return h(
    'ul',
    { class: 'deployments' },
    ...deployments.map(({ provider, model, weight, state }) =>
      h(
        'li',
        { key: `${provider} ${model}` },
        h('span', null, provider),
        h('code', null, model),
        weight !== undefined &&
          deployments.some((each) => each.weight !== weight) &&
          h(Badge, null, t('weight', { weight })),
        state !== undefined && h(StateBadge, { state }),
      ),
    ),
  )
}

/** Prices per million tokens. */
const ofTokens = /^(?:input|output|cache|reasoning)/

/** A price in lines to read. Tiers show their lowest and highest price. @param {Price} price @param {string | undefined} currency */
function priceLines(price, currency) {
  return Object.entries(price).flatMap(([name, value]) => {
    const shown = rangeOf(value, currency)
    if (shown === undefined) return []
    const unit = ofTokens.test(name) ? ` ${t('perMillion')}` : ''
    return [{ name: named('price', name), value: `${shown}${unit}` }]
  })
}

/** @param {unknown} value @param {string | undefined} currency */
function rangeOf(value, currency) {
  if (typeof value === 'string') return money(value, currency)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const amounts = Object.values(value).filter((each) => typeof each === 'string')
  if (amounts.length === 0) return undefined
  const ordered = amounts.toSorted((left, right) => Number(left) - Number(right))
  const [low, high] = [ordered[0] ?? '0', ordered.at(-1) ?? '0']
  return low === high ? money(low, currency) : `${money(low, currency)} – ${money(high, currency)}`
}
