import { h } from '../preact.js'

/** Outlines on a grid of 20. */
const outlines = {
  overview: 'M3 16V9m4.7 7V4m4.6 12v-5M17 16V7',
  usage: 'M10 3a7 7 0 1 0 7 7h-7zM13 3.6A7 7 0 0 1 16.4 7H13z',
  requests: 'M3 5h14M3 10h14M3 15h9',
  keys: 'M12.5 11.5a4 4 0 1 0-4-4c0 .5.1 1 .3 1.4L3 14.7V17h3v-2h2v-2l1.1-1.2a4 4 0 0 0 3.4.7M13.5 6.5h.01',
  accounts: 'M3 5h14v11H3zM3 8.5h14M13 12.5h1.5',
  invoices: 'M5 3h10v14l-2.5-1.5L10 17l-2.5-1.5L5 17zM7.5 7h5M7.5 10h5',
  reconcile: 'M10 3v14M6 17h8M4 6h12M4 6l-2 5.5h4zM16 6l-2 5.5h4z',
  models: 'M10 3l6.5 3.5v7L10 17l-6.5-3.5v-7zM3.5 6.5L10 10l6.5-3.5M10 10v7',
  registry: 'M4 5h12M4 10h12M4 15h12M7 3.5v3M13 8.5v3M8 13.5v3',
  videos: 'M3 5h10v10H3zM13 9l4-2.5v7L13 11',
  audit: 'M5 3h10v14H5zM7.5 7h5M7.5 10h5M7.5 13h3',
  playground: 'M4 4h12v9H9l-3.5 3v-3H4zM7.5 8.5h5',
  setup: 'M4 6l4 4-4 4M10 14.5h6',
  menu: 'M3 6h14M3 10h14M3 14h14',
  close: 'M5 5l10 10M15 5L5 15',
  copy: 'M8 8h8v8H8zM5 12H4V4h8v1',
  check: 'M4.5 10.5l3.5 3.5 7.5-8',
  plus: 'M10 4v12M4 10h12',
  download: 'M10 3.5v9m0 0l-3.5-3.5M10 12.5L13.5 9M4 16.5h12',
  table: 'M3.5 5h13v10h-13zM3.5 8.5h13M8 8.5V15',
  chart: 'M3.5 15.5l4-5 3 3 6-8',
  light: 'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 2v2M10 16v2M2 10h2M16 10h2',
  dark: 'M16 12.2A6.5 6.5 0 0 1 7.8 4a6.5 6.5 0 1 0 8.2 8.2z',
  system: 'M3 4.5h14v9H3zM7 16.5h6M10 13.5v3',
  stop: 'M6 6h8v8H6z',
  refresh: 'M15.5 8A6 6 0 1 0 16 11M16 4v4h-4',
}

/** @typedef {keyof typeof outlines} IconName */

/** An icon beside a text, or in a button with a label: never read out. @param {{ name: IconName }} properties */
export function Icon({ name }) {
  const stroke = /** @type {const} */ ({ fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5 })
  const path = h('path', { d: outlines[name], ...stroke, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' })
  return h('svg', { class: 'icon', viewBox: '0 0 20 20', width: 20, height: 20, 'aria-hidden': 'true' }, path)
}
