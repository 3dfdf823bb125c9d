/** Columns that several tables have. */
import { h } from '../preact.js'
import { Amount } from './amount.js'

/** @import { Column } from './table.js' */

/** A text that is cut where it is too long. @template T @param {string} title @param {(row: T) => string | undefined} of @returns {Column<T>} */
export function clipped(title, of) {
  return { title, cell: (row) => h('span', { class: 'clip', title: of(row) }, of(row) ?? '–') }
}

/** An amount of money. @template T @param {string} title @param {(row: T) => string} of @returns {Column<T>} */
export function amounts(title, of) {
  return { title, numeric: true, cell: (row) => h(Amount, { value: of(row) }) }
}
