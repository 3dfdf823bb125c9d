import { h } from '../preact.js'
import { useId } from 'preact/hooks'

/** @import { ComponentChildren } from '../preact.js' */

/**
 * @typedef {object} FieldProperties
 * @property {string} label
 * @property {string} value
 * @property {(value: string) => unknown} onChange
 * @property {string} [hint]
 * @property {boolean} [required]
 * @property {boolean} [compact] For a bar of filters: the label is above in small letters.
 */

/** @param {{ label: string, hint?: string | undefined, compact?: boolean | undefined, id: string, children?: ComponentChildren }} properties */
function Labelled({ label, hint, compact, id, children }) {
  return h(
    'div',
    { class: compact ? 'field compact' : 'field' },
    h('label', { for: id }, label),
    children,
    hint && h('p', { class: 'fine', id: `${id}-hint` }, hint),
  )
}

/** @param {string} id @param {string | undefined} hint */
const described = (id, hint) => (hint ? { 'aria-describedby': `${id}-hint` } : {})

/**
 * @param {FieldProperties & {
 *   type?: 'text' | 'search' | 'password' | 'number' | 'datetime-local' | 'month', placeholder?: string, pattern?: string,
 *   min?: string, step?: string, mono?: boolean, suggestions?: readonly string[],
 * }} properties
 */
export function TextField({ label, value, onChange, hint, compact, type = 'text', mono, suggestions, ...rest }) {
  const id = useId()
  const input = h('input', {
    id,
    type,
    value,
    ...rest,
    ...described(id, hint),
    ...(suggestions && { list: `${id}-list` }),
    class: mono ? 'mono' : undefined,
    autocomplete: 'off',
    spellcheck: false,
    onInput: (event) => onChange(event.currentTarget.value),
  })
  const options = suggestions?.map((each) => h('option', { value: each }))
  return h(Labelled, { label, hint, compact, id }, input, options && h('datalist', { id: `${id}-list` }, ...options))
}

/** @param {FieldProperties & { rows?: number, placeholder?: string, onKeyDown?: (event: KeyboardEvent) => unknown }} properties */
export function TextArea({ label, value, onChange, hint, compact, rows = 3, required, placeholder, onKeyDown }) {
  const id = useId()
  const onInput = (/** @type {{ currentTarget: HTMLTextAreaElement }} */ event) => onChange(event.currentTarget.value)
  const area = h('textarea', { id, rows, value, required, placeholder, onInput, onKeyDown, ...described(id, hint) })
  return h(Labelled, { label, hint, compact, id }, area)
}

/** @param {FieldProperties & { options: readonly (readonly [value: string, text: string])[] }} properties */
export function SelectField({ label, value, onChange, hint, compact, required, options }) {
  const id = useId()
  const select = h(
    'select',
    { id, value, required, ...described(id, hint), onChange: (event) => onChange(event.currentTarget.value) },
    ...options.map(([each, text]) => h('option', { value: each, selected: each === value }, text)),
  )
  return h(Labelled, { label, hint, compact, id }, select)
}

/** @param {{ label: string, checked: boolean, onChange: (checked: boolean) => unknown, hint?: string }} properties */
export function CheckField({ label, checked, onChange, hint }) {
  const id = useId()
  return h(
    'div',
    { class: 'field check' },
    h('input', {
      id,
      type: 'checkbox',
      checked,
      ...described(id, hint),
      onChange: (event) => onChange(event.currentTarget.checked),
    }),
    h('label', { for: id }, label),
    hint && h('p', { class: 'fine', id: `${id}-hint` }, hint),
  )
}
