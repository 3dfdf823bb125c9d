import { h } from '../preact.js'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../words.js'
import { Button } from './button.js'
import { draw } from './plot.js'
import { Empty } from './notice.js'
import { table } from './table.js'
import { periodOf } from './tooltip.js'

/** @import { ComponentChildren } from '../preact.js' */
/** @import { PlotData } from './plot.js' */

/**
 * A figure over time, as a plot or, for those who cannot see it, as a table.
 * @param {{ title: string, value: ComponentChildren, note?: ComponentChildren, summary: string, data: PlotData, class?: string }} properties
 * `summary`: what the plot shows, in words.
 */
export function ChartCard({ title, value, note, summary, data, class: name = '' }) {
  const [asTable, setAsTable] = useState(false)
  const label = asTable ? t('showChart') : t('showTable')
  const toggle = h(Button, {
    kind: 'quiet',
    icon: asTable ? 'chart' : 'table',
    label: `${label}: ${title}`,
    onClick: () => setAsTable(!asTable),
  })
  return h(
    'section',
    { class: `card chart ${name}` },
    h('header', null, h('h2', null, title), toggle),
    h('p', { class: 'figure' }, h('span', null, value), note && h('small', null, note)),
    asTable ? h(Figures, { title, data }) : h(Plot, { summary, data }),
    data.lines.length > 1 && h(Legend, { data }),
  )
}

/** @param {{ summary: string, data: PlotData }} properties */
function Plot({ summary, data }) {
  const root = useRef(/** @type {HTMLDivElement | null} */ (null))
  useEffect(() => (root.current === null ? undefined : draw(root.current, data)), [data])
  return h('div', { class: 'plot', ref: root, role: 'img', 'aria-label': summary })
}

/** @param {{ data: PlotData }} properties */
function Legend({ data }) {
  return h(
    'ul',
    { class: 'legend' },
    ...data.lines.map(({ name, color }) =>
      h('li', { key: name }, h('i', { style: { background: `var(${color})` } }), name),
    ),
  )
}

/** @param {{ title: string, data: PlotData }} properties */
function Figures({ title, data: { times, periodMs, lines, format } }) {
  const rows = times
    .map((at, index) => ({ at, index }))
    .filter(({ index }) => lines.some(({ values }) => values[index]))
  return h(
    'div',
    { class: 'plot figures' },
    table({
      caption: title,
      rows: rows.toReversed(),
      keyOf: ({ at }) => String(at),
      empty: h(Empty, { title: t('noUsage') }),
      columns: [
        { title: t('time'), head: true, cell: ({ at }) => periodOf(at, periodMs) },
        ...lines.map(({ name, values }) => ({
          title: name,
          numeric: true,
          cell: (/** @type {{ index: number }} */ { index }) => format(values[index] ?? 0),
        })),
      ],
    }),
  )
}
