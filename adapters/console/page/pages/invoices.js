import { h } from '../preact.js'
import { accountPath, get, urlOf } from '../api.js'
import { dateTime, money, whole } from '../format.js'
import { useList, useLoad } from '../load.js'
import { filter, linkTo, usePlace } from '../location.js'
import { Amount } from '../parts/amount.js'
import { Button, CsvLink } from '../parts/button.js'
import { amounts, clipped } from '../parts/columns.js'
import { Card, Page } from '../parts/details.js'
import { TextField } from '../parts/field.js'
import { Empty, ErrorNotice, Loading } from '../parts/notice.js'
import { timeZone } from '../parts/period.js'
import { table } from '../parts/table.js'
import { useSession } from '../session.js'
import { named, t } from '../words.js'

/** @import { Pages } from '../load.js' */
/** @import { EntryView, Statement, StatisticsRow } from '../shapes.d.ts' */

/** What accounts paid and were charged in a month of the reader's time zone. */
export function InvoicesPage() {
  const { account: own } = useSession()
  const { query } = usePlace()
  const month = /^\d{4}-\d\d$/.test(query['month'] ?? '') ? (query['month'] ?? '') : monthAt(new Date())
  const account = own ?? query['account']
  const zone = timeZone()
  const asked = { month, timeZone: zone }
  const csv = account === undefined ? 'invoices.csv' : accountPath(account, 'statement.csv')
  const actions = [
    h(TextField, {
      label: t('month'),
      compact: true,
      type: 'month',
      value: month,
      onChange: (chosen) => chosen !== '' && filter({ month: chosen }),
    }),
    h(Button, { onClick: () => print() }, t('print')),
    h(CsvLink, { href: urlOf(csv, asked) }),
  ]
  return h(
    Page,
    {
      title: account === undefined || own !== undefined ? t('page_invoices') : `${t('invoice')} ${account}`,
      subtitle: `${own === undefined ? '' : `${own} · `}${month} · ${t('timesIn', { zone })}`,
      ...(own === undefined &&
        account !== undefined && { back: { href: linkTo(['invoices'], { month }), text: t('page_invoices') } }),
      actions,
    },
    account === undefined ? h(Accounts, { month }) : h(OfAccount, { account, asked, key: account }),
  )
}

/** @param {Date} at */
function monthAt(at) {
  return `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}`
}

/** What each account was charged. @param {{ month: string }} properties */
function Accounts({ month }) {
  const [year = 0, number = 0] = month.split('-').map(Number)
  const [from, to] = [number - 1, number].map((each) => new Date(year, each, 1).getTime())
  const { list } = /** @type {Pages<StatisticsRow>} */ (useList('usage', { by: 'account', from, to }))
  return table({
    caption: t('page_invoices'),
    ...list,
    keyOf: ({ account = '' }) => account,
    empty: h(Empty, { title: t('noUsage') }),
    columns: [
      {
        title: t('by_account'),
        head: true,
        cell: ({ account = '' }) => h('a', { class: 'clip', href: linkTo(['invoices'], { account, month }) }, account),
      },
      { title: t('requests'), numeric: true, order: (row) => row.requests, cell: (row) => whole(row.requests) },
      { ...amounts(t('settlements'), (row) => row.cost), order: (row) => Number(row.cost) },
    ],
  })
}

/** @param {{ account: string, asked: { month: string, timeZone: string } }} properties */
function OfAccount({ account, asked }) {
  const { data, error, reload } = useLoad(
    async (signal) => {
      const statement = /** @type {Statement} */ (await get(accountPath(account, 'statement'), asked, signal))
      const { from, to } = statement
      const used = await get('usage', { by: 'model', account, from, to }, signal)
      return { statement, used: /** @type {StatisticsRow[]} */ (used.items) }
    },
    [account, asked.month],
  )
  if (error !== undefined) return h(ErrorNotice, { error, retry: reload })
  if (data === undefined) return h(Loading, null)
  return [h(Movements, data), h(Charges, data)]
}

/** From the opening to the closing balance. @param {{ statement: Statement }} properties */
function Movements({ statement: { from, to, opening, credits, charged, otherCharges, closing } }) {
  const isOver = to <= Date.now()
  const rows = [
    { at: from, kind: t('openingBalance'), amount: opening },
    ...credits.map((entry) => ({ ...entry, kind: creditOf(entry) })),
    { kind: t('settlements'), amount: negated(charged) },
    ...(Number(otherCharges) === 0 ? [] : [{ kind: t('otherCharges'), amount: negated(otherCharges) }]),
    { at: isOver ? to : Date.now(), kind: t(isOver ? 'closingBalance' : 'currentBalance'), amount: closing },
  ].map((row) => ({ at: undefined, reference: '', note: '', ...row }))
  return h(
    Card,
    { title: t('balance'), class: 'flush' },
    table({
      caption: t('balance'),
      rows,
      keyOf: (_, index) => String(index),
      empty: h('p', null),
      columns: [
        { title: t('kind'), head: true, cell: ({ kind }) => kind },
        { title: t('time'), oneLine: true, cell: ({ at }) => at !== undefined && dateTime(at) },
        { title: t('reference'), cell: ({ reference }) => h('code', { class: 'clip', title: reference }, reference) },
        { title: t('note'), cell: ({ note }) => note },
        amounts(t('amount'), ({ amount }) => amount),
      ],
    }),
  )
}

/** The ledger names refunds and expiries by their reference. @param {EntryView} entry */
function creditOf({ reference, amount }) {
  const [, kind] = /^(refund|expiry):/.exec(reference) ?? []
  return named('credit', kind ?? (Number(amount) < 0 ? 'correction' : 'payment'))
}

/** @param {string} amount */
function negated(amount) {
  return amount.startsWith('-') ? amount.slice(1) : Number(amount) === 0 ? amount : `-${amount}`
}

/** Each price line of each model; without lines, what was used of it. @param {{ statement: Statement, used: readonly StatisticsRow[] }} properties */
function Charges({ statement: { charges, charged }, used }) {
  const { currency, units } = useSession()
  const usedOf = (/** @type {string} */ model) => {
    const row = used.find((each) => each.model === model)
    const counted = units.filter((unit) => row !== undefined && row[unit] > 0)
    return counted.map((unit) => `${named('unit', unit)}: ${whole(row?.[unit] ?? 0)}`)
  }
  const rows = charges.flatMap(({ model, requests, cost, lines, rest }) => {
    if (lines.length === 0) {
      const item = [`${t('requests')}: ${whole(requests)}`, ...usedOf(model)].join(', ')
      return [{ model, item, quantity: 0, price: '', amount: cost }]
    }
    const shown = lines.map(({ item, quantity, per, price, amount }) => ({
      model,
      item: named('price', item),
      quantity,
      price: `${money(price, currency)}${per === 1 ? '' : ` / ${whole(per)}`}`,
      amount,
    }))
    return Number(rest) === 0 ? shown : [...shown, { model, item: t('rest'), quantity: 0, price: '', amount: rest }]
  })
  const hasLines = charges.some(({ lines }) => lines.length > 0)
  return h(
    Card,
    { title: t('chargesByModel'), class: 'flush' },
    table({
      caption: t('chargesByModel'),
      rows,
      keyOf: (_, index) => String(index),
      empty: h(Empty, { title: t('noUsage') }),
      columns: [
        { ...clipped(t('by_model'), ({ model }) => model), head: true, total: t('total') },
        { title: t('item'), cell: ({ item }) => item },
        hasLines && {
          title: t('quantity'),
          numeric: true,
          cell: ({ quantity }) => (quantity === 0 ? '' : whole(quantity)),
        },
        hasLines && { title: t('price'), numeric: true, cell: ({ price }) => price },
        { ...amounts(t('amount'), ({ amount }) => amount), total: h(Amount, { value: charged }) },
      ],
    }),
  )
}
