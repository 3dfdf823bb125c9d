import { h } from '../preact.js'
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
  if (error !== undefined) return h(ErrorNotice, { error, ...(retry && { retry }) })
  if (rows === undefined) return h(Loading, null)
  if (rows.length === 0 && more?.next === undefined) return empty
  const shown = columns.filter((column) => typeof column === 'object')
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
        h('thead', null, h('tr', null, ...shown.map(headOf))),
        h(
          'tbody',
          null,
          ...rows.map((row, at) => h('tr', { key: keyOf(row, at) }, ...shown.map((column) => cellOf(column, row)))),
        ),
      ),
    ),
    more?.moreError !== undefined && h(ErrorNotice, { error: more.moreError }),
    more?.next !== undefined &&
      h('div', { class: 'more' }, h(Button, { busy: more.loadingMore, onClick: more.loadMore }, t('loadMore'))),
  )
}

/** @template T @param {Column<T>} column */
function headOf({ title, numeric, hiddenTitle }) {
  const text = hiddenTitle ? h('span', { class: 'visually-hidden' }, title) : title
  return h('th', { scope: 'col', class: numeric ? 'numeric' : undefined }, text)
}

/** @template T @param {Column<T>} column @param {T} row */
function cellOf({ cell, numeric, head, oneLine }, row) {
  const classes = numeric ? 'numeric' : oneLine ? 'nowrap' : undefined
  return head ? h('th', { scope: 'row', class: classes }, cell(row)) : h('td', { class: classes }, cell(row))
}
