import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { get, urlOf } from '../api.js'
import { date, money } from '../format.js'
import { useLoad, usePages } from '../load.js'
import { linkTo, usePlace } from '../location.js'
import { AccountDialog } from '../parts/account-forms.js'
import { AlertsCard } from '../parts/alerts.js'
import { Amount } from '../parts/amount.js'
import { announce } from '../parts/announce.js'
import { Badge } from '../parts/badge.js'
import { Button, CsvLink } from '../parts/button.js'
import { Details, Page } from '../parts/details.js'
import { Dialog } from '../parts/dialog.js'
import { accountIds, TextFilter } from '../parts/filters.js'
import { Empty, ErrorNotice, Loading, Notice } from '../parts/notice.js'
import { table } from '../parts/table.js'
import { useSession } from '../session.js'
import { t } from '../words.js'

/** @import { Pages } from '../load.js' */
/** @import { AccountView } from '../shapes.d.ts' */

export function AccountsPage() {
  const { readOnly, features } = useSession()
  const [open, setOpen] = useState(/** @type {'create' | 'audit' | undefined} */ (undefined))
  const { prefix } = usePlace().query
  const { list } = /** @type {Pages<AccountView>} */ (usePages('accounts', { prefix }))
  const close = () => setOpen(undefined)
  return h(
    Page,
    {
      title: t('page_accounts'),
      actions: [
        h(Button, { onClick: () => setOpen('audit') }, t('audit')),
        h(CsvLink, { href: urlOf('accounts.csv') }),
        !readOnly && h(Button, { kind: 'primary', icon: 'plus', onClick: () => setOpen('create') }, t('openAccount')),
      ],
    },
    h('div', { class: 'filters' }, h(TextFilter, { name: 'prefix', label: t('idBegins'), suggest: accountIds })),
    table({
      caption: t('page_accounts'),
      ...list,
      keyOf: ({ id }) => id,
      empty:
        prefix === undefined
          ? h(Empty, { title: t('noAccounts') }, t('noAccountsHint'))
          : h(Empty, { title: t('noAccountBegins', { prefix }) }),
      columns: [
        {
          title: t('by_account'),
          head: true,
          cell: ({ id, name }) => [
            h('a', { href: linkTo(['accounts', id]) }, id),
            name && h('small', { class: 'under' }, name),
          ],
        },
        {
          title: t('balance'),
          numeric: true,
          cell: (account) =>
            h(
              'span',
              { class: Number(account.balance) < 0 ? 'negative' : undefined },
              h(Amount, { value: account.balance }),
            ),
        },
        {
          title: t('held'),
          numeric: true,
          cell: ({ held }) => (Number(held) === 0 ? '–' : h(Amount, { value: held })),
        },
        {
          title: t('limits'),
          cell: ({ unlimited }) => (unlimited ? h(Badge, { tone: 'accent' }, t('unlimited')) : t('prepaid')),
        },
        { title: t('created'), oneLine: true, cell: ({ createdAt }) => date(createdAt) },
      ],
    }),
    features.alerts && h(AlertsCard, {}),
    open === 'create' && h(AccountDialog, { onClose: close, onSaved: opened }),
    open === 'audit' && h(AuditDialog, { onClose: close }),
  )
}

/** @param {AccountView} account */
function opened({ id }) {
  announce(t('saved'))
  location.hash = linkTo(['accounts', id])
}

/** @param {readonly { account: string }[]} faults */
function faulty(faults) {
  return faults.map(({ account }) => account).join(', ')
}

/** Recomputes all balances. @param {{ onClose: () => unknown }} properties */
function AuditDialog({ onClose }) {
  const { currency } = useSession()
  const { data, error } = useLoad((signal) => get('audit', {}, signal), [])
  const amount = (/** @type {unknown} */ given) => money(String(given), currency)
  return h(
    Dialog,
    { title: t('audit'), onClose },
    error !== undefined && h(ErrorNotice, { error }),
    data === undefined && error === undefined && h(Loading, null),
    data !== undefined &&
      h(
        'div',
        null,
        data.faults.length === 0
          ? h(Notice, { tone: 'ok' }, h('p', null, t('auditSound')))
          : h(Notice, { tone: 'danger' }, h('p', null, t('auditFaults', { accounts: faulty(data.faults) }))),
        h(Details, {
          rows: [
            [t('page_accounts'), String(data.accounts)],
            [t('credits'), amount(data.credits)],
            [t('settlements'), amount(data.settlements)],
            [t('held'), amount(data.holds)],
            [t('balance'), amount(data.balances)],
          ],
        }),
      ),
    h('footer', null, h(Button, { kind: 'primary', onClick: onClose }, t('close'))),
  )
}
