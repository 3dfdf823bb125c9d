import { createContext, h } from '../preact.js'
import { useContext, useId } from 'preact/hooks'
import { ApiError } from '../api.js'

/** @import { ComponentChildren } from '../preact.js' */

/** Why a form was refused: the field that it is about says so. */
export const Refusal = createContext(/** @type {unknown} */ (undefined))

/**
 * @typedef {object} FieldProperties
 * @property {string} label
 * @property {string} value
 * @property {(value: string) => unknown} onChange
 * @property {string} [name] What the API calls it.
 * @property {string} [hint]
 * @property {boolean} [required]
 * @property {boolean} [compact] For a bar of filters: the label is above in small letters.
 */

/**
 * What the input of a field has in common with others, and the field around it.
 * @param {{ label: string, name?: string | undefined, hint?: string | undefined, compact?: boolean | undefined, check?: boolean }} properties
 */
function useField({ label, name, hint, compact, check }) {
  const id = useId()
  const error = useContext(Refusal)
  const { param } = error instanceof ApiError ? error : { param: undefined }
  const isRefused = name !== undefined && (param === name || param?.startsWith(`${name}.`))
  const described = [isRefused && `${id}-refusal`, hint && `${id}-hint`].filter(Boolean).join(' ')
  const input = {
    id,
    ...(described && { 'aria-describedby': described }),
    ...(isRefused && { 'aria-invalid': /** @type {const} */ (true) }),
  }
  const around = (/** @type {ComponentChildren[]} */ ...children) =>
    h(
      'div',
      { class: check ? 'field check' : compact ? 'field compact' : 'field' },
      !check && h('label', { for: id }, label),
      ...children,
      check && h('label', { for: id }, label),
      isRefused && h('p', { class: 'fine negative', id: `${id}-refusal` }, /** @type {ApiError} */ (error).message),
      hint && h('p', { class: 'fine', id: `${id}-hint` }, hint),
    )
  return { input, around }
}

/**
 * @param {FieldProperties & {
 *   type?: 'text' | 'search' | 'password' | 'number' | 'date' | 'datetime-local' | 'month', placeholder?: string, pattern?: string,
 *   min?: string, step?: string, mono?: boolean, suggestions?: readonly string[],
 * }} properties
 */
export function TextField({ label, name, value, onChange, hint, compact, type = 'text', mono, suggestions, ...rest }) {
  const { input, around } = useField({ label, name, hint, compact })
  const list = suggestions && `${input.id}-list`
  return around(
    h('input', {
      ...input,
      type,
      value,
      ...rest,
      ...(list && { list }),
      class: mono ? 'mono' : undefined,
      autocomplete: 'off',
      spellcheck: false,
      onInput: (event) => onChange(event.currentTarget.value),
    }),
    list && h('datalist', { id: list }, ...suggestions.map((each) => h('option', { value: each }))),
  )
}

/** @param {FieldProperties & { rows?: number, placeholder?: string, onKeyDown?: (event: KeyboardEvent) => unknown }} properties */
export function TextArea({ label, name, value, onChange, hint, compact, rows = 3, required, placeholder, onKeyDown }) {
  const { input, around } = useField({ label, name, hint, compact })
  const onInput = (/** @type {{ currentTarget: HTMLTextAreaElement }} */ event) => onChange(event.currentTarget.value)
  return around(h('textarea', { ...input, rows, value, required, placeholder, onInput, onKeyDown }))
}

/** @param {FieldProperties & { options: readonly (string | readonly [value: string, text: string])[] }} properties `options`: values, or with their texts. */
export function SelectField({ label, name, value, onChange, hint, compact, required, options }) {
  const { input, around } = useField({ label, name, hint, compact })
  return around(
    h(
      'select',
      { ...input, value, required, onChange: (event) => onChange(event.currentTarget.value) },
      ...options.map((option) => {
        const [each, text] = typeof option === 'string' ? [option, option] : option
        return h('option', { value: each, selected: each === value }, text)
      }),
    ),
  )
}

/** @param {{ label: string, checked: boolean, onChange: (checked: boolean) => unknown, name?: string, hint?: string }} properties */
export function CheckField({ label, name, checked, onChange, hint }) {
  const { input, around } = useField({ label, name, hint, check: true })
  return around(
    h('input', {
      ...input,
      type: 'checkbox',
      checked,
      onChange: (event) => onChange(event.currentTarget.checked),
    }),
  )
}
