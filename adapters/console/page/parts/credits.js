import { h } from '../preact.js'
import { accountPath, get } from '../api.js'
import { dateTime, money, relative } from '../format.js'
import { useLoad } from '../load.js'
import { useSession } from '../session.js'
import { named, t } from '../words.js'
import { Card } from './details.js'
import { ErrorNotice } from './notice.js'

/** @import { CreditView } from '../shapes.d.ts' */

/** What an account has for a time only, the soonest to expire first. `turn`: asks again when it changes. @param {{ account: string, turn: number }} properties */
export function CreditsCard({ account, turn }) {
  const { data, error } = useLoad((signal) => get(accountPath(account, 'credits'), {}, signal), [account, turn])
  if (error !== undefined) return h(ErrorNotice, { error })
  const credits = /** @type {CreditView[]} */ (data?.items ?? [])
  if (credits.length === 0) return null
  return h(
    Card,
    { title: t('expiringCredits') },
    h('ul', { class: 'caps' }, ...credits.map((credit) => h(Credit, { credit, key: credit.reference }))),
  )
}

/** @param {{ credit: CreditView }} properties */
function Credit({ credit: { reference, left, expiresAt, allowance } }) {
  const { currency } = useSession()
  const when = relative(expiresAt, Date.now())
  const text = money(left, currency)
  const of = allowance && `${text} / ${money(allowance.amount, currency)}`
  return h(
    'li',
    null,
    h(
      'p',
      null,
      h(
        'strong',
        null,
        allowance ? named('allowance', allowance.period) : h('span', { class: 'clip', title: reference }, reference),
      ),
    ),
    allowance &&
      h('progress', {
        max: Math.max(Number(allowance.amount), Number(left)),
        value: Number(left),
        'aria-label': `${named('allowance', allowance.period)}: ${of}`,
      }),
    h(
      'p',
      { class: 'fine', title: dateTime(expiresAt) },
      `${t('creditLeft', { amount: of ?? text })} · ${t(allowance ? 'renewed' : 'creditExpires', { when })}`,
    ),
  )
}
