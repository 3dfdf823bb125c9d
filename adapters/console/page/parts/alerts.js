import { h } from '../preact.js'
import { dateTime, money, whole } from '../format.js'
import { usePages } from '../load.js'
import { linkTo } from '../location.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { clipped } from './columns.js'
import { Card } from './details.js'
import { table } from './table.js'

/** @import { Pages } from '../load.js' */
/** @import { Alert } from '../shapes.d.ts' */

/** The alerts of an account, or of all. Nothing if there are none. @param {{ account?: string }} properties */
export function AlertsCard({ account }) {
  const { currency } = useSession()
  const { list } = /** @type {Pages<Alert>} */ (usePages('alerts', { account }, { limit: 20 }))
  if (list.error === undefined && !list.rows?.length) return null
  const text = (/** @type {Alert} */ alert) => {
    if (alert.type === 'balance.low')
      return `${t('balance')}: ${money(alert.balance, currency)} < ${money(alert.level, currency)}`
    const { cap, measure, percent, used, limit } = alert
    const amount = (/** @type {string} */ value) =>
      measure === 'money' ? money(value, currency) : whole(Number(value))
    return `${cap}: ${amount(used)} / ${amount(limit)} (≥ ${percent}%)`
  }
  return h(
    Card,
    { title: t('alerts'), class: 'flush' },
    table({
      caption: t('alerts'),
      ...list,
      keyOf: ({ id }) => id,
      empty: h('p', null),
      columns: [
        {
          title: t('time'),
          head: true,
          oneLine: true,
          cell: ({ createdAt, request }) => h('a', { href: linkTo(['requests', request]) }, dateTime(createdAt)),
        },
        account === undefined && clipped(t('by_account'), (alert) => alert.account),
        { title: t('kind'), cell: text },
      ],
    }),
  )
}
