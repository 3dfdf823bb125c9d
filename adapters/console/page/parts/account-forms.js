import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, send } from '../api.js'
import { useAction } from '../load.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { FormDialog } from './dialog.js'
import { CheckField, TextField } from './field.js'

/** @import { AccountView } from '../shapes.d.ts' */

/** @param {{ account: string, kind: 'top-ups' | 'adjustments', onClose: () => unknown, onSaved: () => unknown }} properties */
export function CreditDialog({ account, kind, onClose, onSaved }) {
  const { currency } = useSession()
  const [amount, setAmount] = useState('')
  // The same reference when a submission is repeated, so that nothing is paid twice.
  const [reference, setReference] = useState(() => `console-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`)
  const [note, setNote] = useState('')
  const { run, busy, error } = useAction(async () => {
    await send('POST', accountPath(account, kind), {
      amount,
      reference,
      ...(note.trim() !== '' && { note: note.trim() }),
    })
    onSaved()
  })
  const title = kind === 'top-ups' ? t('topUp') : t('adjust')
  const pattern = kind === 'top-ups' ? '\\d+(\\.\\d{1,6})?' : '-?\\d+(\\.\\d{1,6})?'
  return h(
    FormDialog,
    { title, action: title, busy, error, onSubmit: run, onClose },
    kind === 'adjustments' && h('p', null, t('adjustHint')),
    h(TextField, {
      label: currency === undefined ? t('amount') : `${t('amount')} (${currency})`,
      value: amount,
      onChange: setAmount,
      required: true,
      pattern,
    }),
    h(TextField, {
      label: t('reference'),
      value: reference,
      onChange: setReference,
      required: true,
      hint: t('referenceHint'),
      mono: true,
    }),
    h(TextField, { label: t('note'), value: note, onChange: setNote }),
  )
}

/** @param {{ account: AccountView, onClose: () => unknown, onSaved: () => unknown }} properties */
export function EditDialog({ account, onClose, onSaved }) {
  const [name, setName] = useState(account.name ?? '')
  const [unlimited, setUnlimited] = useState(account.unlimited)
  const { run, busy, error } = useAction(async () => {
    await send('PATCH', accountPath(account.id), { name, unlimited })
    onSaved()
  })
  return h(
    FormDialog,
    { title: t('editTitle', { name: account.id }), action: t('save'), busy, error, onSubmit: run, onClose },
    h(TextField, { label: t('name'), value: name, onChange: setName }),
    h(CheckField, { label: t('unlimited'), checked: unlimited, onChange: setUnlimited, hint: t('unlimitedHint') }),
  )
}
