import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, ApiError, get } from '../api.js'
import { money } from '../format.js'
import { useLoad } from '../load.js'
import { linkTo } from '../location.js'
import { AccountDialog, CreditDialog } from '../parts/account-forms.js'
import { AlertsCard } from '../parts/alerts.js'
import { Badge } from '../parts/badge.js'
import { LedgerEntries } from '../parts/ledger-entries.js'
import { Button, LinkButton } from '../parts/button.js'
import { CapsCard } from '../parts/caps.js'
import { CreditsCard } from '../parts/credits.js'
import { Page, Tile } from '../parts/details.js'
import { useDialog } from '../parts/dialog.js'
import { Empty, ErrorNotice, Loading } from '../parts/notice.js'
import { VendorKeysCard } from '../parts/vendor-keys.js'
import { useSession } from '../session.js'
import { t } from '../words.js'

/** @import { AccountView } from '../shapes.d.ts' */
/** @typedef {'top-ups' | 'adjustments' | 'edit'} Open */

/** @param {{ id: string }} properties */
export function AccountPage({ id }) {
  const { role, account: own, readOnly, features } = useSession()
  const [turn, setTurn] = useState(0)
  const { data, error, reload } = useLoad((signal) => get(accountPath(id), {}, signal), [id, turn])
  const account = /** @type {AccountView | undefined} */ (data)
  const again = () => setTurn(turn + 1)
  const { open, setOpen, close, done } = useDialog(again, /** @type {Open | undefined} */ (undefined))
  const isAdmin = role === 'admin'
  // A customer exists before the first payment, the account does not.
  const isNew = id === own && error instanceof ApiError && error.status === 404
  const actions = isAdmin && [
    h(LinkButton, { href: linkTo(['requests'], { account: id }) }, t('page_requests')),
    h(LinkButton, { href: linkTo(['keys'], { account: id }) }, t('page_keys')),
    !readOnly && [
      h(Button, { onClick: () => setOpen('edit') }, t('edit')),
      h(Button, { onClick: () => setOpen('adjustments') }, t('adjust')),
      h(Button, { kind: 'primary', onClick: () => setOpen('top-ups') }, t('topUp')),
    ],
  ]
  return h(
    Page,
    {
      title: isAdmin ? id : t('by_account'),
      subtitle: account && [
        account.name,
        account.unlimited ? h(Badge, { tone: 'accent' }, t('unlimited')) : h(Badge, null, t('prepaid')),
      ],
      ...(isAdmin && { back: { href: linkTo(['accounts']), text: t('page_accounts') } }),
      actions: account !== undefined && actions,
    },
    isNew && h(Empty, { title: t('noPayments') }, t('noAccountsHint')),
    error !== undefined && !isNew && h(ErrorNotice, { error, retry: reload }),
    account === undefined && error === undefined && h(Loading, null),
    account !== undefined && [
      h(Balance, { account }),
      features.credits && h(CreditsCard, { account: id, turn }),
      features.caps && h(CapsCard, { account: id }),
    ],
    features.vendorKeys && (isNew || account !== undefined) && h(VendorKeysCard, { account: id }),
    account !== undefined && [
      features.alerts && h(AlertsCard, { account: id }),
      h(LedgerEntries, { account: id, turn }),
    ],
    open === 'edit' && account !== undefined && h(AccountDialog, { account, onClose: close, onSaved: () => done() }),
    (open === 'top-ups' || open === 'adjustments') &&
      h(CreditDialog, { account: id, kind: open, onClose: close, onSaved: () => done() }),
  )
}

/** @param {{ account: AccountView }} properties */
function Balance({ account: { balance, held } }) {
  const { currency } = useSession()
  const shown = money(balance, currency)
  const [, whole, rest] = /^(.*\.\d\d)(\d*\D*)$/.exec(shown) ?? [shown, shown]
  return h(
    'div',
    { class: 'figures-row' },
    h(
      Tile,
      { title: t('balance') },
      h('span', { class: Number(balance) < 0 ? 'negative' : undefined }, whole, h('small', null, rest)),
    ),
    h(Tile, { title: t('held'), note: t('heldHint') }, h('span', null, money(held, currency))),
  )
}
