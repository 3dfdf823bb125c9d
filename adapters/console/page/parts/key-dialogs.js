import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, send } from '../api.js'
import { t } from '../words.js'
import { Button } from './button.js'
import { CopyButton } from './copy.js'
import { Dialog, FormDialog } from './dialog.js'
import { SelectField } from './field.js'
import { FirstCall } from './first-call.js'
import { Notice } from './notice.js'

/** @import { KeyView } from '../shapes.d.ts' */

/** @param {{ record: KeyView, onClose: () => unknown, onRotated: (created: { key: string, record: KeyView }) => unknown }} properties */
export function RotateDialog({ record, onClose, onRotated }) {
  const [overlap, setOverlap] = useState('86400000')
  const path = accountPath(record.account, 'keys', record.id, 'rotate')
  const submit = async () => onRotated(await send('POST', path, { overlapMs: Number(overlap) }))
  return h(
    FormDialog,
    { title: t('rotateTitle', { name: record.name ?? record.prefix }), action: t('rotate'), submit, onClose },
    h('p', null, t('rotateHint')),
    h(SelectField, {
      label: t('overlap'),
      value: overlap,
      onChange: setOverlap,
      options: [
        ['0', t('overlapNone')],
        ['3600000', t('overlapHour')],
        ['86400000', t('overlapDay')],
        ['604800000', t('overlapWeek')],
      ],
    }),
  )
}

/** @param {{ record: KeyView, onClose: () => unknown, onRevoked: () => unknown }} properties */
export function RevokeDialog({ record, onClose, onRevoked }) {
  const title = t('revokeTitle', { name: record.name ?? record.prefix })
  const submit = async () => {
    await send('POST', accountPath(record.account, 'keys', record.id, 'revoke'), {})
    onRevoked()
  }
  return h(FormDialog, { title, action: t('revoke'), danger: true, submit, onClose }, h('p', null, t('revokeHint')))
}

/** The only time that a key is shown. @param {{ secret: string, record: KeyView, onClose: () => unknown }} properties */
export function NewKeyDialog({ secret, record, onClose }) {
  return h(
    Dialog,
    { title: t('keyCreated', { name: record.name ?? record.prefix }), onClose, wide: true },
    h(Notice, { tone: 'warn' }, h('p', null, t('keyOnce'))),
    h('p', { class: 'secret' }, h('code', { id: 'new-key' }, secret), h(CopyButton, { text: secret, named: true })),
    h('div', { class: 'fields' }, h(FirstCall, { apiKey: secret })),
    h('footer', null, h(Button, { kind: 'primary', onClick: onClose }, t('keyStored'))),
  )
}
