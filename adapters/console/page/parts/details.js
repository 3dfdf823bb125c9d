import { h } from '../preact.js'

/** @import { ComponentChildren } from '../preact.js' */

/** Names and values. Absent values are left out. @param {{ rows: readonly (readonly [name: string, value: ComponentChildren])[] }} properties */
export function Details({ rows }) {
  const present = rows.filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
  return h(
    'dl',
    { class: 'details' },
    ...present.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))),
  )
}

/** @param {{ title: string, actions?: ComponentChildren, children?: ComponentChildren, class?: string }} properties */
export function Card({ title, actions, children, class: name = '' }) {
  return h(
    'section',
    { class: `card ${name}` },
    h('header', null, h('h2', null, title), actions && h('div', { class: 'actions' }, actions)),
    children,
  )
}

/** A figure. @param {{ title: string, children: ComponentChildren, note?: ComponentChildren }} properties */
export function Tile({ title, children, note }) {
  return h(
    'section',
    { class: 'card tile' },
    h('h2', null, title),
    h('p', { class: 'figure' }, children),
    note && h('p', { class: 'fine' }, note),
  )
}

/**
 * A page: its heading, and what stands below.
 * @param {{
 *   title: ComponentChildren, subtitle?: ComponentChildren, back?: { href: string, text: string }, actions?: ComponentChildren,
 *   busy?: boolean, children?: ComponentChildren,
 * }} properties
 */
export function Page({ title, subtitle, back, actions, busy = false, children }) {
  return h(
    'div',
    { class: 'page', 'aria-busy': busy },
    h(
      'header',
      { class: 'page-head' },
      h(
        'div',
        null,
        back && h('a', { class: 'back', href: back.href }, back.text),
        h('h1', { tabIndex: -1 }, title),
        subtitle && h('p', { class: 'subtitle' }, subtitle),
      ),
      actions && h('div', { class: 'actions' }, actions),
    ),
    children,
  )
}
