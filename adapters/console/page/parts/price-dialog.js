import { h } from '../preact.js'
import { send } from '../api.js'
import { t } from '../words.js'
import { FormDialog } from './dialog.js'
import { TextArea, TextField } from './field.js'
import { useFields } from './form.js'
import { parsed } from './schema-fields.js'

/** The parts of a price that have a field of their own. */
const parts = /** @type {const} */ (['input', 'output', 'cached', 'request', 'image', 'second'])

/** @type {Record<string, string>} */
const empty = {}

/** Sets the price of a model, from a moment on. @param {{ onClose: () => unknown, onSaved: () => unknown }} properties */
export function PriceDialog({ onClose, onSaved }) {
  const { values, field } = useFields(empty)
  const submit = async () => {
    const { model = '', from = '', others = '', ...amounts } = values
    const given = Object.entries(amounts).filter(([, amount]) => amount.trim() !== '')
    const rest = others.trim() === '' ? {} : parsed(t('otherParts'), others)
    await send('POST', 'registry/prices', {
      model: model.trim(),
      ...(from !== '' && { from: new Date(from).getTime() }),
      price: { ...Object.fromEntries(given.map(([part, amount]) => [part, amount.trim()])), ...rest },
    })
    onSaved()
  }
  return h(
    FormDialog,
    { title: t('newPrice'), action: t('create'), submit, onClose },
    h(TextField, { label: t('by_model'), ...field('model'), required: true }),
    h(TextField, { label: t('validFrom'), type: 'datetime-local', ...field('from'), hint: t('validFromHint') }),
    ...parts.map((part) =>
      h(TextField, { key: part, label: t(`price_${part}`), ...field(part), pattern: '\\d+(\\.\\d{1,12})?' }),
    ),
    h(TextArea, { label: t('otherParts'), ...field('others'), placeholder: '{ "tools": { } }' }),
  )
}
