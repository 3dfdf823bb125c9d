import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { send } from '../api.js'
import { useAction } from '../load.js'
import { t } from '../words.js'
import { FormDialog } from './dialog.js'
import { TextArea, TextField } from './field.js'
import { parsed } from './schema-fields.js'

/** The parts of a price that have a field of their own. */
const parts = /** @type {const} */ (['input', 'output', 'cached', 'request', 'image', 'second'])

/** Sets the price of a model, from a moment on. @param {{ onClose: () => unknown, onSaved: () => unknown }} properties */
export function PriceDialog({ onClose, onSaved }) {
  const [model, setModel] = useState('')
  const [from, setFrom] = useState('')
  const [others, setOthers] = useState('')
  const [amounts, setAmounts] = useState(/** @type {Record<string, string>} */ ({}))
  const { run, busy, error } = useAction(async () => {
    const given = Object.entries(amounts).filter(([, amount]) => amount.trim() !== '')
    const rest = others.trim() === '' ? {} : parsed(t('otherParts'), others)
    await send('POST', 'registry/prices', {
      model: model.trim(),
      ...(from !== '' && { from: new Date(from).getTime() }),
      price: { ...Object.fromEntries(given.map(([part, amount]) => [part, amount.trim()])), ...rest },
    })
    onSaved()
  })
  return h(
    FormDialog,
    { title: t('newPrice'), action: t('create'), busy, error, onSubmit: run, onClose },
    h(TextField, { label: t('by_model'), value: model, onChange: setModel, required: true }),
    h(TextField, {
      label: t('validFrom'),
      type: 'datetime-local',
      value: from,
      onChange: setFrom,
      hint: t('validFromHint'),
    }),
    ...parts.map((part) =>
      h(TextField, {
        key: part,
        label: t(`price_${part}`),
        value: amounts[part] ?? '',
        pattern: '\\d+(\\.\\d{1,12})?',
        onChange: (amount) => setAmounts((before) => ({ ...before, [part]: amount })),
      }),
    ),
    h(TextArea, { label: t('otherParts'), value: others, onChange: setOthers, placeholder: '{ "tools": { } }' }),
  )
}
