import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, get, send } from '../api.js'
import { useLoad } from '../load.js'
import { announce } from '../parts/announce.js'
import { Button } from '../parts/button.js'
import { FormDialog } from '../parts/dialog.js'
import { SelectField, TextField } from '../parts/field.js'
import { useSession } from '../session.js'
import { t } from '../words.js'

/** A key that is typed in, or created for a quarter of an hour. @param {{ apiKey: string, onKey: (key: string) => unknown }} properties */
export function KeyField({ apiKey, onKey }) {
  const { readOnly, features } = useSession()
  const [open, setOpen] = useState(false)
  const created = (/** @type {string} */ key) => {
    onKey(key)
    setOpen(false)
    announce(t('temporaryKeyCreated'))
  }
  return [
    h(TextField, {
      label: t('apiKey'),
      compact: true,
      type: 'password',
      mono: true,
      value: apiKey,
      onChange: (value) => onKey(value.trim()),
      placeholder: 'sk-…',
    }),
    !readOnly && features.keys && h(Button, { onClick: () => setOpen(true) }, t('temporaryKey')),
    open && h(TemporaryKeyDialog, { onCreated: created, onClose: () => setOpen(false) }),
  ]
}

/** @param {{ onCreated: (key: string) => unknown, onClose: () => unknown }} properties */
function TemporaryKeyDialog({ onCreated, onClose }) {
  const { role, account: own, groups: ownGroups } = useSession()
  const { data } = useLoad((signal) => get('groups', {}, signal), [])
  const groups = /** @type {string[]} */ (data?.items ?? ownGroups)
  const [account, setAccount] = useState(own ?? '')
  const [chosen, setGroup] = useState('')
  const group = chosen === '' ? (groups[0] ?? '') : chosen
  const submit = async () => {
    const { key } = await send('POST', accountPath(account.trim(), 'playground-key'), { group })
    onCreated(key)
  }
  return h(
    FormDialog,
    { title: t('temporaryKey'), action: t('create'), submit, onClose },
    h('p', null, t('temporaryKeyHint')),
    role === 'admin' && h(TextField, { label: t('by_account'), value: account, onChange: setAccount, required: true }),
    h(SelectField, { label: t('by_group'), value: group, onChange: setGroup, options: groups }),
  )
}
