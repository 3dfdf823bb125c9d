import { h } from '../preact.js'
import { accountPath, send } from '../api.js'
import { dateTime } from '../format.js'
import { useList } from '../load.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { Button, RowAction } from './button.js'
import { Card } from './details.js'
import { FormDialog, useDialog } from './dialog.js'
import { SelectField, TextField } from './field.js'
import { useFields } from './form.js'
import { Empty } from './notice.js'
import { table } from './table.js'

/** @import { Pages } from '../load.js' */
/** @import { VendorKeyView } from '../shapes.d.ts' */
/** @typedef {{ kind: 'add' } | { kind: 'delete', record: VendorKeyView }} Open */

/** An account's own keys at vendors, which are never shown. @param {{ account: string }} properties */
export function VendorKeysCard({ account }) {
  const { readOnly } = useSession()
  const { list, reload } = /** @type {Pages<VendorKeyView>} */ (useList(accountPath(account, 'vendor-keys')))
  const vendors = useList('vendor-keys/providers').list.rows
  const { open, setOpen, close: onClose, done } = useDialog(reload, /** @type {Open | undefined} */ (undefined))
  return h(
    Card,
    {
      title: t('vendorKeys'),
      class: 'flush',
      actions: !readOnly && h(Button, { icon: 'plus', onClick: () => setOpen({ kind: 'add' }) }, t('addVendorKey')),
    },
    table({
      caption: t('vendorKeys'),
      ...list,
      keyOf: ({ provider }) => provider,
      empty: h(Empty, { title: t('noVendorKeys') }, t('noVendorKeysHint')),
      columns: [
        { title: t('by_provider'), head: true, oneLine: true, cell: ({ provider }) => provider },
        { title: t('vendorKey'), oneLine: true, cell: ({ hint }) => h('code', null, `…${hint}`) },
        { title: t('created'), oneLine: true, cell: ({ createdAt }) => dateTime(createdAt) },
        { title: t('actor'), cell: ({ by }) => by ?? '' },
        {
          title: t('actions'),
          hiddenTitle: true,
          cell: (record) =>
            !readOnly &&
            h(RowAction, {
              text: t('delete'),
              of: record.provider,
              onClick: () => setOpen({ kind: 'delete', record }),
            }),
        },
      ],
    }),
    open?.kind === 'add' && vendors && h(AddDialog, { account, names: vendors, onClose, onDone: () => done() }),
    open?.kind === 'delete' && h(DeleteDialog, { record: open.record, onClose, onDone: () => done(t('deleted')) }),
  )
}

/** @param {{ account: string, names: readonly string[], onClose: () => unknown, onDone: () => unknown }} properties */
function AddDialog({ account, names, onClose, onDone }) {
  const { values, field } = useFields({ provider: '', apiKey: '' })
  const submit = async () => {
    await send('PUT', accountPath(account, 'vendor-keys', values.provider), { apiKey: values.apiKey.trim() })
    onDone()
  }
  const shared = { label: t('by_provider'), ...field('provider'), required: true }
  return h(
    FormDialog,
    { title: t('addVendorKey'), action: t('save'), submit, onClose },
    names.length === 0 ? h(TextField, shared) : h(SelectField, { ...shared, options: ['', ...names] }),
    h(TextField, {
      label: t('vendorKey'),
      ...field('apiKey'),
      type: 'password',
      required: true,
      hint: t('vendorKeyHint'),
    }),
  )
}

/** @param {{ record: VendorKeyView, onClose: () => unknown, onDone: () => unknown }} properties */
function DeleteDialog({ record: { account, provider }, onClose, onDone }) {
  const title = t('deleteVendorKey', { name: provider })
  const submit = async () => {
    await send('DELETE', accountPath(account, 'vendor-keys', provider))
    onDone()
  }
  return h(
    FormDialog,
    { title, action: t('delete'), danger: true, submit, onClose },
    h('p', null, t('deleteVendorKeyHint')),
  )
}
