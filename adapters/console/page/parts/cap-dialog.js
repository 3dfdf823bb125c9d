import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, send } from '../api.js'
import { dateTime } from '../format.js'
import { useAction } from '../load.js'
import { t } from '../words.js'
import { Button } from './button.js'
import { FormDialog } from './dialog.js'
import { TextField } from './field.js'
import { ErrorNotice } from './notice.js'

/** @import { GroupCap } from '../shapes.d.ts' */

/** The name of a measure. @param {string} measure */
export const measureName = (measure) => t(measure === 'money' ? 'amount' : measure === 'tokens' ? 'tokens' : 'requests')

/**
 * Replaces the limits of a cap for one account, for good or until a time.
 * @param {{ account: string, cap: GroupCap, onClose: () => unknown, onSaved: () => unknown }} properties
 */
export function CapDialog({ account, cap: { cap, group, limits, overrides }, onClose, onSaved }) {
  const [fields, setFields] = useState(/** @type {Record<string, string | number>} */ ({ ...limits }))
  const [until, setUntil] = useState('')
  const path = accountPath(account, 'caps', cap)
  const clearing = useAction(async () => {
    await send('DELETE', path, undefined, { group })
    onSaved()
  })
  const submit = async () => {
    const { money, ...rest } = fields
    const counts = Object.entries(rest).map(([measure, value]) => [measure, Number(value)])
    const given = { ...(money !== undefined && { money }), ...Object.fromEntries(counts) }
    await send('PUT', path, { group, limits: given, ...(until !== '' && { until: new Date(until).getTime() }) })
    onSaved()
  }
  return h(
    FormDialog,
    { title: t('editTitle', { name: cap }), action: t('save'), submit, onClose },
    ...Object.keys(limits).map((measure) =>
      h(TextField, {
        label: measureName(measure),
        value: String(fields[measure]),
        onChange: (value) => setFields({ ...fields, [measure]: value }),
        required: true,
        pattern: measure === 'money' ? '\\d+(\\.\\d{1,6})?' : '\\d+',
      }),
    ),
    h(TextField, {
      label: t('expires'),
      value: until,
      onChange: setUntil,
      type: 'datetime-local',
      hint: t('expiresHint'),
    }),
    overrides.length > 0 && [
      ...overrides.map((each) =>
        h('p', { class: 'fine' }, `${t('expires')}: ${each.until ? dateTime(each.until) : t('never')}`),
      ),
      h(Button, { busy: clearing.busy, onClick: clearing.run }, t('clear')),
      h(ErrorNotice, { error: clearing.error }),
    ],
  )
}
