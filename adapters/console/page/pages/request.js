import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, ApiError, get, send } from '../api.js'
import { exactTime, money, whole } from '../format.js'
import { useLoad } from '../load.js'
import { linkTo } from '../location.js'
import { announce } from '../parts/announce.js'
import { StateBadge } from '../parts/badge.js'
import { Button } from '../parts/button.js'
import { Content } from '../parts/content.js'
import { CopyButton } from '../parts/copy.js'
import { Card, Details, Page } from '../parts/details.js'
import { FormDialog } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { useFields } from '../parts/form.js'
import { useKeyNames } from '../parts/key-names.js'
import { Empty, ErrorNotice, Loading } from '../parts/notice.js'
import { AttemptsCard, Timing } from '../parts/timing.js'
import { table } from '../parts/table.js'
import { useSession } from '../session.js'
import { named, t } from '../words.js'

/** @import { Call } from '../shapes.d.ts' */

/** @param {{ id: string }} properties */
export function RequestPage({ id }) {
  const { role, readOnly, isBilled } = useSession()
  const [refunding, setRefunding] = useState(false)
  const { data, error, reload } = useLoad((signal) => get(`requests/${encodeURIComponent(id)}`, {}, signal), [id])
  const call = /** @type {Call | undefined} */ (data)
  // The reference of a charge leads here, too.
  const shown = call?.id ?? id
  const isUnknown = error instanceof ApiError && error.status === 404
  const canRefund = role === 'admin' && !readOnly && isBilled && call !== undefined && Number(call.cost) > 0
  return h(
    Page,
    {
      title: t('request'),
      subtitle: [h('code', null, shown), h(CopyButton, { text: shown })],
      back: { href: linkTo(['requests']), text: t('page_requests') },
      actions: canRefund && h(Button, { onClick: () => setRefunding(true) }, t('refund')),
    },
    isUnknown
      ? h(Empty, { title: t('noRequest') }, t('noRequestHint'))
      : error !== undefined && h(ErrorNotice, { error, retry: reload }),
    call === undefined && error === undefined && h(Loading, null),
    call !== undefined && h(Parts, { call }),
    refunding && call !== undefined && h(RefundDialog, { call, onClose: () => setRefunding(false) }),
  )
}

/** A value that leads to the requests with it. @param {'account' | 'key' | 'user' | 'session'} name @param {string | undefined} value @param {string} [text] */
function list(name, value, text = value) {
  return value && h('a', { href: linkTo(['requests'], { [name]: value, range: '30d' }) }, text)
}

/** @param {{ call: Call }} properties */
function Parts({ call }) {
  const { currency, isBilled, units } = useSession()
  const nameOf = useKeyNames(call.key !== undefined, call.account)
  const cost =
    isBilled && Number(call.overage) !== 0 ? t('overageNote', { amount: money(call.overage, currency) }) : undefined
  return h(
    'div',
    { class: 'grid' },
    h(
      Card,
      { title: t('summary') },
      h(Details, {
        rows: [
          [t('outcome'), [h(StateBadge, { state: call.outcome }), call.code && h('code', null, ' ', call.code)]],
          [t('time'), exactTime(call.startedAt)],
          [t('by_model'), call.model],
          [t('by_endpoint'), `${call.endpoint}${call.stream ? ` · ${t('streamed')}` : ''}`],
          [t('provider'), call.provider && `${call.provider} · ${call.providerModel ?? ''}`],
          [t('by_account'), list('account', call.account)],
          [t('by_group'), call.group],
          [t('by_key'), list('key', call.key, nameOf(call.key ?? ''))],
          [t('by_user'), list('user', call.user)],
          [t('by_session'), list('session', call.session)],
          [t('by_tag'), call.tags?.join(', ')],
        ],
      }),
    ),
    h(
      Card,
      { title: t('page_usage') },
      h(Details, {
        rows: [
          ...units.map((unit) => /** @type {const} */ ([named('unit', unit), call[unit] > 0 && whole(call[unit])])),
          [t('cost'), isBilled && [h('strong', null, money(call.cost, currency)), cost && h('small', null, ' ', cost)]],
          [t('vendorCost'), call.vendorCost !== undefined && money(call.vendorCost, currency, 9)],
          [t('basis'), named('basis', call.basis)],
        ],
      }),
      call.lines !== undefined && h(Lines, { lines: call.lines }),
    ),
    h(Card, { title: t('timing'), class: 'wide' }, h(Timing, { call })),
    h(AttemptsCard, { call }),
    h(Content, { call, key: call.id }),
  )
}

/** @param {{ lines: NonNullable<Call['lines']> }} properties */
function Lines({ lines }) {
  const { currency } = useSession()
  return table({
    caption: t('priceLines'),
    rows: lines,
    keyOf: ({ item }, at) => `${item} ${at}`,
    empty: h('p', null, ''),
    columns: [
      { title: t('item'), head: true, cell: ({ item }) => item },
      { title: t('quantity'), numeric: true, cell: ({ quantity }) => whole(quantity) },
      {
        title: t('price'),
        numeric: true,
        cell: ({ price, per }) => `${money(price, currency)}${per === 1 ? '' : ` / ${whole(per)}`}`,
      },
    ],
  })
}

/** @param {{ call: Call, onClose: () => unknown }} properties */
function RefundDialog({ call, onClose }) {
  const { values, field } = useFields({ amount: call.cost, reason: '' })
  const submit = async () => {
    await send('POST', accountPath(call.account, 'refunds'), { request: call.id, ...values })
    announce(t('refunded'))
    onClose()
  }
  return h(
    FormDialog,
    { title: t('refund'), action: t('refund'), submit, onClose },
    h('p', null, t('refundHint', { account: call.account })),
    h(TextField, { label: t('amount'), ...field('amount'), required: true, pattern: '\\d+(\\.\\d{1,6})?' }),
    h(TextField, { label: t('reason'), ...field('reason'), required: true }),
  )
}
