import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, send } from '../api.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { FormDialog } from './dialog.js'
import { CheckField, TextField } from './field.js'
import { useFields } from './form.js'

/** @import { AccountView } from '../shapes.d.ts' */

/** The reference stays the same when a submission is repeated, so that nothing is paid twice. */
const newCredit = () => ({
  amount: '',
  reference: `console-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`,
  note: '',
})

/** @param {{ account: string, kind: 'top-ups' | 'adjustments', onClose: () => unknown, onSaved: () => unknown }} properties */
export function CreditDialog({ account, kind, onClose, onSaved }) {
  const { currency } = useSession()
  const { values, field } = useFields(newCredit)
  const submit = async () => {
    const note = values.note.trim()
    await send('POST', accountPath(account, kind), { ...values, note: note || undefined })
    onSaved()
  }
  const title = kind === 'top-ups' ? t('topUp') : t('adjust')
  const pattern = kind === 'top-ups' ? '\\d+(\\.\\d{1,6})?' : '-?\\d+(\\.\\d{1,6})?'
  const label = currency === undefined ? t('amount') : `${t('amount')} (${currency})`
  return h(
    FormDialog,
    { title, action: title, submit, onClose },
    kind === 'adjustments' && h('p', null, t('adjustHint')),
    h(TextField, { label, ...field('amount'), required: true, pattern }),
    h(TextField, {
      label: t('reference'),
      ...field('reference'),
      required: true,
      hint: t('referenceHint'),
      mono: true,
    }),
    h(TextField, { label: t('note'), ...field('note') }),
  )
}

/**
 * Opens an account, or changes one.
 * @param {{ account?: AccountView, onClose: () => unknown, onSaved: (account: AccountView) => unknown }} properties
 */
export function AccountDialog({ account, onClose, onSaved }) {
  const { values, field } = useFields({ id: '', name: account?.name ?? '' })
  const [unlimited, setUnlimited] = useState(account?.unlimited ?? false)
  const submit = async () => {
    const name = values.name.trim()
    const saved = account
      ? send('PATCH', accountPath(account.id), { name, unlimited })
      : send('POST', 'accounts', { id: values.id.trim(), unlimited, name: name || undefined })
    onSaved(await saved)
  }
  const title = account ? t('editTitle', { name: account.id }) : t('openAccount')
  return h(
    FormDialog,
    { title, action: t(account ? 'save' : 'create'), submit, onClose },
    !account && h(TextField, { label: t('accountId'), ...field('id'), required: true, hint: t('accountIdHint') }),
    h(TextField, { label: t('name'), ...field('name') }),
    h(CheckField, { label: t('unlimited'), checked: unlimited, onChange: setUnlimited, hint: t('unlimitedHint') }),
  )
}
