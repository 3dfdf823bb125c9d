import { h } from '../preact.js'
import { duration } from '../format.js'
import { t } from '../words.js'
import { StateBadge } from './badge.js'
import { Card } from './details.js'
import { table } from './table.js'

/** @import { Call } from '../shapes.d.ts' */

/** When the first content and the end came, as a bar. @param {{ call: Call }} properties */
export function Timing({ call: { firstByteMs, totalMs } }) {
  const first = firstByteMs === undefined ? totalMs : Math.min(firstByteMs, totalMs)
  const whole = Math.max(totalMs, 1)
  const parts =
    firstByteMs === undefined
      ? [{ name: t('total'), ms: totalMs, color: '--series-1' }]
      : [
          { name: t('untilFirstByte'), ms: first, color: '--series-3' },
          { name: t('untilEnd'), ms: totalMs - first, color: '--series-1' },
        ]
  const summary = parts.map(({ name, ms }) => `${name}: ${duration(ms)}`).join(', ')
  return h(
    'div',
    null,
    h(
      'div',
      { class: 'timing', role: 'img', 'aria-label': summary },
      ...parts.map(({ ms, color }) =>
        h('i', { style: { inlineSize: `${(ms / whole) * 100}%`, background: `var(${color})` } }),
      ),
    ),
    h(
      'ul',
      { class: 'legend' },
      ...parts.map(({ name, ms, color }) =>
        h('li', null, h('i', { style: { background: `var(${color})` } }), `${name} · ${duration(ms)}`),
      ),
      parts.length > 1 && h('li', null, h('strong', null, `${t('total')} · ${duration(totalMs)}`)),
    ),
  )
}

/** Each attempt at a deployment, with its part of the time. @param {{ call: Call }} properties */
export function AttemptsCard({ call: { attemptLog: rows, attempts, totalMs } }) {
  if (rows === undefined) {
    return attempts === undefined
      ? null
      : h(Card, { title: t('attempts'), class: 'wide' }, h('p', null, t('attemptCount', { count: attempts })))
  }
  const part = (/** @type {number} */ ms) => `${Math.min((ms / Math.max(totalMs, 1)) * 100, 100)}%`
  return h(
    Card,
    { title: t('attempts'), class: 'wide flush' },
    table({
      caption: t('attempts'),
      rows,
      keyOf: (_, at) => String(at),
      empty: h('p', null, ''),
      columns: [
        {
          title: t('provider'),
          head: true,
          cell: ({ provider, providerModel }) => [provider, h('small', null, ' ', providerModel)],
        },
        {
          title: t('outcome'),
          cell: ({ outcome, code }) => [h(StateBadge, { state: outcome }), code && h('small', null, ' ', code)],
        },
        { title: t('httpStatus'), numeric: true, cell: ({ status }) => status ?? '–' },
        { title: t('total'), numeric: true, cell: ({ ms }) => duration(ms) },
        {
          title: t('timing'),
          cell: ({ startMs, ms }) =>
            h(
              'span',
              { class: 'timing small' },
              h('i', { style: { inlineSize: part(startMs) } }),
              h('i', { style: { inlineSize: part(ms), background: 'var(--series-1)' } }),
            ),
        },
      ],
    }),
  )
}
