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

/** A table of rows, or what there is to say instead. On a phone one of many columns is a list of cards. @template T @param {TableProperties<T>} properties */
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
    { class: shown.length > 3 ? 'table cards' : 'table', 'aria-busy': loading },
    h(
      'div',
      { class: 'scroll', role: 'region', 'aria-label': caption, tabIndex: 0 },
      h(
        'table',
        { role: 'table' },
        h('caption', { class: 'visually-hidden' }, caption),
        h(
          'thead',
          { role: 'rowgroup' },
          rowOf(
            shown.map((column) => headOf(column, sorted, sort)),
            '',
          ),
        ),
        h(
          'tbody',
          { role: 'rowgroup' },
          ...ordered.map((row, at) =>
            rowOf(
              shown.map((column) => cellOf(column, row)),
              keyOf(row, at),
            ),
          ),
        ),
        rows.length > 1 &&
          shown.some(({ total }) => total !== undefined) &&
          h(
            'tfoot',
            { role: 'rowgroup' },
            rowOf(
              shown.map((column) => cellOf({ ...column, cell: () => column.total }, {})),
              '',
            ),
          ),
      ),
    ),
    more?.moreError !== undefined && h(ErrorNotice, { error: more.moreError }),
    more?.next !== undefined &&
      h('div', { class: 'more' }, h(Button, { busy: more.loadingMore, onClick: more.loadMore }, t('loadMore'))),
  )
}

/** With roles, because Safari forgets those of elements that are shown in another way. @param {ComponentChildren[]} cells @param {string} key */
function rowOf(cells, key) {
  return h('tr', { role: 'row', key }, ...cells)
}

/**
 * @template T
 * @param {Column<T>} column @param {{ by: string, isUp: boolean }} sorted @param {(by: string) => unknown} sort
 */
function headOf({ title, numeric, hiddenTitle, order }, { by, isUp }, sort) {
  const text = hiddenTitle ? h('span', { class: 'visually-hidden' }, title) : title
  const properties = {
    scope: 'col',
    role: /** @type {const} */ ('columnheader'),
    class: numeric ? 'numeric' : undefined,
  }
  if (order === undefined) return h('th', properties, text)
  const state = by !== title ? undefined : isUp ? 'ascending' : 'descending'
  const mark = state && h('span', { 'aria-hidden': 'true' }, isUp ? ' ↑' : ' ↓')
  const button = h('button', { type: 'button', class: 'sort', onClick: () => sort(title) }, text, mark)
  return h('th', { ...properties, 'aria-sort': state }, button)
}

/** @template T @param {Column<T>} column @param {T} row */
function cellOf({ title, cell, numeric, head, oneLine, hiddenTitle }, row) {
  const properties = { class: numeric ? 'numeric' : oneLine ? 'nowrap' : undefined }
  if (head) return h('th', { ...properties, scope: 'row', role: 'rowheader' }, cell(row))
  return h('td', { ...properties, role: 'cell', ...(!hiddenTitle && { 'data-title': title }) }, cell(row))
}
