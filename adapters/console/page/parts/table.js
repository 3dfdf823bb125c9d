import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { t } from '../words.js'
import { Button } from './button.js'
import { ErrorNotice, Loading } from './notice.js'

/** @import { ComponentChildren, VNode } from '../preact.js' */

/**
 * @template T
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: T) => ComponentChildren} cell
 * @property {boolean} [numeric] Aligned to the right, in digits of equal width.
 * @property {boolean} [head] The cell that names the row.
 * @property {boolean} [oneLine] Not broken into lines.
 * @property {boolean} [hiddenTitle] For a screen reader only.
 * @property {(row: T) => number} [order] Makes the column sortable, the highest first.
 * @property {ComponentChildren} [total] Of all rows.
 */

/**
 * @template T
 * @typedef {{
 *   caption: string, columns: readonly (Column<T> | false | undefined)[], rows: readonly T[] | undefined,
 *   keyOf: (row: T, index: number) => string, empty: VNode, loading?: boolean, error?: unknown, retry?: () => unknown,
 *   more?: { next: string | undefined, loadMore: () => unknown, loadingMore: boolean, moreError: unknown },
 * }} TableProperties
 */

/** A table of rows, or what there is to say instead. @template T @param {TableProperties<T>} properties */
export function table(properties) {
  return h(Table, properties)
}

/** @param {TableProperties<any>} properties */
function Table({ caption, columns, rows, keyOf, empty, loading = false, error, retry, more }) {
  const [sorted, setSorted] = useState({ by: '', isUp: false })
  if (error !== undefined) return h(ErrorNotice, { error, ...(retry && { retry }) })
  if (rows === undefined) return h(Loading, null)
  if (rows.length === 0 && more?.next === undefined) return empty
  const shown = columns.filter((column) => typeof column === 'object')
  const { order } = shown.find(({ title }) => title === sorted.by) ?? {}
  const sign = sorted.isUp ? -1 : 1
  const ordered = order === undefined ? rows : rows.toSorted((left, right) => sign * (order(right) - order(left)))
  const sort = (/** @type {string} */ by) => setSorted({ by, isUp: by === sorted.by && !sorted.isUp })
  return h(
    'div',
    { class: 'table', 'aria-busy': loading },
    h(
      'div',
      { class: 'scroll', role: 'region', 'aria-label': caption, tabIndex: 0 },
      h(
        'table',
        null,
        h('caption', { class: 'visually-hidden' }, caption),
        h('thead', null, h('tr', null, ...shown.map((column) => headOf(column, sorted, sort)))),
        h(
          'tbody',
          null,
          ...ordered.map((row, at) => h('tr', { key: keyOf(row, at) }, ...shown.map((column) => cellOf(column, row)))),
        ),
        rows.length > 1 &&
          shown.some(({ total }) => total !== undefined) &&
          h(
            'tfoot',
            null,
            h('tr', null, ...shown.map((column) => cellOf({ ...column, cell: () => column.total }, {}))),
          ),
      ),
    ),
    more?.moreError !== undefined && h(ErrorNotice, { error: more.moreError }),
    more?.next !== undefined &&
      h('div', { class: 'more' }, h(Button, { busy: more.loadingMore, onClick: more.loadMore }, t('loadMore'))),
  )
}

/**
 * @template T
 * @param {Column<T>} column @param {{ by: string, isUp: boolean }} sorted @param {(by: string) => unknown} sort
 */
function headOf({ title, numeric, hiddenTitle, order }, { by, isUp }, sort) {
  const text = hiddenTitle ? h('span', { class: 'visually-hidden' }, title) : title
  const properties = { scope: 'col', class: numeric ? 'numeric' : undefined }
  if (order === undefined) return h('th', properties, text)
  const state = by !== title ? undefined : isUp ? 'ascending' : 'descending'
  const mark = state && h('span', { 'aria-hidden': 'true' }, isUp ? ' ↑' : ' ↓')
  const button = h('button', { type: 'button', class: 'sort', onClick: () => sort(title) }, text, mark)
  return h('th', { ...properties, 'aria-sort': state }, button)
}

/** @template T @param {Column<T>} column @param {T} row */
function cellOf({ cell, numeric, head, oneLine }, row) {
  const classes = numeric ? 'numeric' : oneLine ? 'nowrap' : undefined
  return head ? h('th', { scope: 'row', class: classes }, cell(row)) : h('td', { class: classes }, cell(row))
}
