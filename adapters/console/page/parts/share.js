import { h } from '../preact.js'
import { get } from '../api.js'
import { compact, money, whole } from '../format.js'
import { useLoad } from '../load.js'
import { linkTo } from '../location.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { Card } from './details.js'
import { useKeyNames } from './key-names.js'
import { Empty } from './notice.js'
import { table } from './table.js'

/** @import { StatisticsRow } from '../shapes.d.ts' */

/** The models, accounts or keys with the highest cost. @param {{ by: 'model' | 'account' | 'key', from: number, to: number }} properties */
export function ShareCard({ by, from, to }) {
  const { currency, isBilled } = useSession()
  const { data, error, loading, reload } = useLoad(
    async (signal) => ranked((await get('usage', { by, from, to }, signal)).items, isBilled),
    [by, from, to],
  )
  const nameOf = useKeyNames(by === 'key')
  const most = Math.max(...(data ?? []).map((row) => weightOf(row, isBilled)), 0)
  return h(
    Card,
    { title: t(`top_${by}`), actions: h('a', { href: linkTo(['usage'], { by }) }, t('all')), class: 'share' },
    table({
      caption: t(`top_${by}`),
      rows: data,
      loading,
      error,
      retry: reload,
      keyOf: (/** @type {StatisticsRow} */ row) => row[by] ?? '',
      empty: h(Empty, { title: t('noUsage') }),
      columns: [
        {
          title: t(`by_${by}`),
          head: true,
          cell: (row) => h(Bar, { text: nameOf(row[by] ?? '') || t('none'), part: weightOf(row, isBilled) / most }),
        },
        { title: t('requests'), numeric: true, cell: ({ requests }) => whole(requests) },
        {
          title: t('tokens'),
          numeric: true,
          cell: ({ promptTokens, completionTokens }) => compact(promptTokens + completionTokens),
        },
        isBilled && { title: t('cost'), numeric: true, cell: ({ cost }) => rounded(cost, currency) },
      ],
    }),
  )
}

/** Two digits after the point, unless nothing would be left. @param {string} cost @param {string | undefined} currency */
const rounded = (cost, currency) => money(cost, currency, Number(cost) < 0.005 ? 6 : 2)

/** @param {readonly StatisticsRow[]} rows @param {boolean} byCost */
function ranked(rows, byCost) {
  return rows.toSorted((left, right) => weightOf(right, byCost) - weightOf(left, byCost)).slice(0, 6)
}

/** @param {StatisticsRow} row @param {boolean} byCost */
function weightOf({ cost, requests }, byCost) {
  return byCost ? Number(cost) : requests
}

/** @param {{ text: string, part: number }} properties */
function Bar({ text, part }) {
  const inlineSize = `${Number.isFinite(part) ? Math.max(part * 100, 1) : 0}%`
  return h('span', { class: 'bar' }, h('span', null, text), h('i', { style: { inlineSize } }))
}
