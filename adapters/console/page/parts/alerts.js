import { h } from '../preact.js'
import { get } from '../api.js'
import { dateTime, money, whole } from '../format.js'
import { usePages } from '../load.js'
import { linkTo } from '../location.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { Card } from './details.js'
import { table } from './table.js'

/** @import { Alert } from '../shapes.d.ts' */

/** The alerts of an account, or of all. Nothing if there are none. @param {{ account?: string }} properties */
export function AlertsCard({ account }) {
  const { currency } = useSession()
  const { items, error, loading, reload, ...more } = usePages(
    (after, signal) => get('alerts', { account, limit: 20, after }, signal),
    [account],
  )
  if (error === undefined && !items?.length) return null
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
      rows: /** @type {Alert[] | undefined} */ (items),
      loading,
      error,
      retry: reload,
      more,
      keyOf: ({ id }) => id,
      empty: h('p', null),
      columns: [
        {
          title: t('time'),
          head: true,
          oneLine: true,
          cell: ({ createdAt, request }) => h('a', { href: linkTo(['requests', request]) }, dateTime(createdAt)),
        },
        account === undefined && {
          title: t('by_account'),
          cell: (alert) => h('span', { class: 'clip' }, alert.account),
        },
        { title: t('kind'), cell: text },
      ],
    }),
  )
}
