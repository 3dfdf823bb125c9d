import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { send } from '../api.js'
import { money, percent } from '../format.js'
import { useAction, useList } from '../load.js'
import { Button } from '../parts/button.js'
import { amounts, clipped } from '../parts/columns.js'
import { Page, Tile } from '../parts/details.js'
import { SelectField, TextField } from '../parts/field.js'
import { submitting, useFields } from '../parts/form.js'
import { Empty, ErrorNotice, Loading } from '../parts/notice.js'
import { table } from '../parts/table.js'
import { useSession } from '../session.js'
import { named, t } from '../words.js'

/** @import { ComponentChildren } from '../preact.js' */
/** @import { Reconciled, ReconciledSums } from '../shapes.d.ts' */

const dayMs = 86_400_000

/** A day in UTC. @param {number} ago */
const dayBefore = (ago) => new Date(Date.now() - ago * dayMs).toISOString().slice(0, 10)

/** The bill of the day before may not be complete. */
const lastWeek = () => ({ vendor: '', from: dayBefore(8), to: dayBefore(2), rate: '1' })

/** The books beside the bill of a vendor, which is read when the operator says so. */
export function ReconcilePage() {
  const { currency } = useSession()
  const reports = useList('reports').list
  const { values, field } = useFields(lastWeek)
  const [found, setFound] = useState(/** @type {Reconciled | undefined} */ (undefined))
  const vendors = /** @type {{ vendor: string }[]} */ (reports.rows ?? []).map(({ vendor }) => vendor)
  const vendor = values.vendor || (vendors[0] ?? '')
  const { run, busy, error } = useAction(async () => {
    setFound(undefined)
    const [from, to] = [Date.parse(values.from), Date.parse(values.to) + dayMs]
    setFound(await send('POST', 'reconciliations', { vendor, from, to, rate: values.rate.trim() }))
  })
  return h(
    Page,
    { title: t('page_reconcile') },
    h(ErrorNotice, reports),
    h(
      'form',
      { class: 'filters', onSubmit: submitting(run) },
      h(SelectField, {
        label: t('by_provider'),
        ...field('vendor'),
        value: vendor,
        compact: true,
        options: vendors,
      }),
      h(TextField, { label: t('firstDay'), ...field('from'), type: 'date', compact: true, required: true }),
      h(TextField, { label: t('lastDay'), ...field('to'), type: 'date', compact: true, required: true }),
      currency !== undefined &&
        currency !== 'USD' &&
        h(TextField, { label: t('exchangeRate', { currency }), ...field('rate'), compact: true, required: true }),
      h(Button, { kind: 'primary', type: 'submit', busy }, t('compare')),
    ),
    h('p', { class: 'fine' }, t('reconcileHint')),
    busy ? h(Loading, null) : h(ErrorNotice, { error }),
    found && !busy && [h(Sums, { found }), h(Days, { found })],
  )
}

/** @param {{ found: Reconciled }} properties */
function Sums({ found }) {
  const { currency } = useSession()
  const tile = (/** @type {string} */ title, /** @type {string} */ value, /** @type {ComponentChildren} */ note) =>
    h(Tile, { title, note }, h('span', null, money(value, currency)))
  return h(
    'div',
    { class: 'figures-row' },
    tile(t('books'), found.ours, ''),
    tile(t('bill'), found.theirs, ''),
    tile(t('difference'), found.difference, h(Causes, { causes: found.causes })),
    tile(t('unexplained'), found.unexplained, t('ofTheBill', { share: percent(found.unexplainedShare) })),
  )
}

/** @param {'ours' | 'theirs' | 'difference' | 'unexplained'} name @param {string} title */
const amount = (name, title) => ({
  ...amounts(title, (/** @type {ReconciledSums} */ row) => row[name]),
  order: (/** @type {ReconciledSums} */ row) => Math.abs(Number(row[name])),
})

/** @param {{ found: Reconciled }} properties */
function Days({ found: { days } }) {
  return table({
    caption: t('page_reconcile'),
    rows: days,
    keyOf: ({ day, model }) => `${day} ${model}`,
    empty: h(Empty, { title: t('noUsage') }),
    columns: [
      { title: t('by_day'), head: true, oneLine: true, cell: ({ day }) => day },
      clipped(t('by_model'), ({ model }) => model),
      amount('ours', t('books')),
      amount('theirs', t('bill')),
      amount('difference', t('difference')),
      { title: t('cause'), cell: ({ causes }) => h(Causes, { causes }) },
      amount('unexplained', t('unexplained')),
    ],
  })
}

/** @param {{ causes: ReconciledSums['causes'] }} properties */
function Causes({ causes }) {
  const { currency } = useSession()
  return Object.entries(causes)
    .map(([cause, value]) => `${named('cause', cause)} ${money(value ?? '0', currency)}`)
    .join(', ')
}
