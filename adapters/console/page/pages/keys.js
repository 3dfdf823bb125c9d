import { h } from '../preact.js'
import { urlOf } from '../api.js'
import { date, dateTime, duration, money, relative, whole } from '../format.js'
import { usePages } from '../load.js'
import { linkTo, usePlace } from '../location.js'
import { StateBadge } from '../parts/badge.js'
import { Button, CsvLink, RowAction } from '../parts/button.js'
import { clipped } from '../parts/columns.js'
import { Page } from '../parts/details.js'
import { useDialog } from '../parts/dialog.js'
import { AccountFilter, ChoiceFilter, TextFilter } from '../parts/filters.js'
import { NewKeyDialog, RevokeDialog, RotateDialog } from '../parts/key-dialogs.js'
import { KeyDialog } from '../parts/key-form.js'
import { Empty } from '../parts/notice.js'
import { table } from '../parts/table.js'
import { VendorKeysCard } from '../parts/vendor-keys.js'
import { useSession } from '../session.js'
import { t } from '../words.js'

/** @import { Pages } from '../load.js' */
/** @import { KeyView } from '../shapes.d.ts' */
/** @typedef {{ kind: 'create' } | { kind: 'shown', key: string, record: KeyView } | { kind: 'edit' | 'rotate' | 'revoke', record: KeyView }} Open */

export function KeysPage() {
  const { role, account: own, readOnly, currency, features, isBilled } = useSession()
  const { query } = usePlace()
  const { state = 'active', text, account } = query
  const of = own ?? account
  const asked = { account, text, state: state === 'all' ? undefined : state }
  const { list, reload } = /** @type {Pages<KeyView>} */ (usePages('keys', asked))
  const { open, setOpen, close, done } = useDialog(reload, /** @type {Open | undefined} */ (undefined))
  const shown = (/** @type {{ key: string, record: KeyView }} */ { key, record }) => {
    setOpen({ kind: 'shown', key, record })
    reload()
  }
  return h(
    Page,
    {
      title: t('page_keys'),
      actions: [
        h(CsvLink, { href: urlOf('keys.csv', asked) }),
        !readOnly &&
          h(Button, { kind: 'primary', icon: 'plus', onClick: () => setOpen({ kind: 'create' }) }, t('createKey')),
      ],
    },
    h(
      'div',
      { class: 'filters' },
      h(TextFilter, { name: 'text', label: t('search') }),
      role === 'admin' && h(AccountFilter, null),
      h(ChoiceFilter, {
        name: 'state',
        label: t('state'),
        usual: 'active',
        options: [
          ['active', t('state_active')],
          ['expired', t('state_expired')],
          ['revoked', t('state_revoked')],
          ['all', t('all')],
        ],
      }),
    ),
    table({
      caption: t('page_keys'),
      ...list,
      keyOf: ({ id }) => id,
      empty: h(Empty, { title: t('noKeys') }, t('noKeysHint')),
      columns: [
        { title: t('name'), head: true, oneLine: true, cell: (key) => h(KeyName, { record: key }) },
        role === 'admin' && clipped(t('by_account'), (key) => key.account),
        clipped(t('by_group'), ({ group }) => group),
        { title: t('state'), cell: (key) => h(StateBadge, { state: stateOf(key) }) },
        { title: t('limits'), cell: (key) => limitsOf(key, currency) },
        {
          title: t('expires'),
          oneLine: true,
          cell: ({ expiresAt }) => (expiresAt === undefined ? t('never') : h(Expiry, { at: expiresAt })),
        },
        { title: t('created'), oneLine: true, cell: ({ createdAt }) => date(createdAt) },
        {
          title: t('actions'),
          hiddenTitle: true,
          cell: (record) =>
            record.source === 'options'
              ? h('small', { title: t('inOptionsHint') }, t('inOptions'))
              : !readOnly && stateOf(record) === 'active' && h(RowActions, { record, onOpen: setOpen }),
        },
      ],
    }),
    // Without billing there is no page of the account.
    features.vendorKeys && !isBilled && of !== undefined && h(VendorKeysCard, { account: of, key: of }),
    open?.kind === 'create' && h(KeyDialog, { onClose: close, onCreated: shown }),
    open?.kind === 'shown' && h(NewKeyDialog, { secret: open.key, record: open.record, onClose: close }),
    open?.kind === 'edit' && h(KeyDialog, { record: open.record, onClose: close, onSaved: () => done() }),
    open?.kind === 'rotate' && h(RotateDialog, { record: open.record, onClose: close, onRotated: shown }),
    open?.kind === 'revoke' &&
      h(RevokeDialog, { record: open.record, onClose: close, onRevoked: () => done(t('revokedKey')) }),
  )
}

/** @param {{ record: KeyView }} properties */
function KeyName({ record: { id, name, prefix, user } }) {
  return [
    h('a', { class: 'clip', title: name, href: linkTo(['requests'], { key: id, range: '30d' }) }, name ?? t('unnamed')),
    h('small', { class: 'under' }, h('code', null, `${prefix}…`), user && ` · ${user}`),
  ]
}

/** @param {{ record: KeyView, onOpen: (open: Open) => unknown }} properties */
function RowActions({ record, onOpen }) {
  const named = record.name ?? record.prefix
  const button = (/** @type {'edit' | 'rotate' | 'revoke'} */ kind) =>
    h(RowAction, { text: t(kind), of: named, onClick: () => onOpen({ kind, record }) })
  return h('span', { class: 'row-actions' }, button('edit'), button('rotate'), button('revoke'))
}

/** @param {{ at: number }} properties */
function Expiry({ at }) {
  return h('span', { title: dateTime(at) }, relative(at, Date.now()))
}

/** @param {KeyView} key */
function stateOf({ revokedAt, expiresAt = Infinity }) {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt <= Date.now() ? 'expired' : 'active'
}

/** Such as "60 requests/min". @param {NonNullable<KeyView['rate']>['requests']} given @param {string} unit */
function frequency(given, unit) {
  const [limit, period] = typeof given === 'object' ? [given.limit, duration(given.periodMs)] : String(given).split('/')
  return `${whole(Number(limit))} ${unit}/${period}`
}

/** @param {KeyView} key @param {string | undefined} currency */
function limitsOf({ rate, caps = [], models, addresses }, currency) {
  const parts = [
    rate?.requests && frequency(rate.requests, t('requestsShort')),
    rate?.tokens && frequency(rate.tokens, t('tokensShort')),
    rate?.concurrent && t('concurrentShort', { count: rate.concurrent }),
    ...caps.map(({ name, money: amount }) =>
      typeof amount !== 'string' ? name : `${name} ${money(amount, currency)}`,
    ),
    models && t('modelCount', { count: models.length }),
    addresses && t('addressCount', { count: addresses.length }),
  ].filter(Boolean)
  return parts.length === 0 ? '–' : parts.join(', ')
}
