/** Fields of a form, and what they hold, by the schema that the API declares for them. */
import { h } from '../preact.js'
import { ApiError } from '../api.js'
import { named, t } from '../words.js'
import { CheckField, SelectField, TextArea, TextField } from './field.js'

/** @typedef {{ type?: string, enum?: string[], items?: Schema, anyOf?: Schema[], const?: unknown, description?: string }} Schema */
/** @typedef {Readonly<Record<string, unknown>>} Values */

/** @param {Schema} schema */
function kindOf({ type, enum: choices, items, anyOf }) {
  if (choices !== undefined) return 'choice'
  if (type === 'boolean') return 'flag'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string') return 'text'
  const isList = type === 'array' && items?.type === 'string'
  // Such as all models, or a list of them.
  return isList || anyOf?.some((each) => each.const === '*') ? 'names' : 'json'
}

/** The value as a text to edit. @param {Schema} schema @param {unknown} value */
export function textOf(schema, value) {
  if (value === undefined) return ''
  if (Array.isArray(value) && kindOf(schema) === 'names') return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

/** The value of a text; undefined if it is empty. @param {string} name @param {Schema} schema @param {string} text */
export function valueOf(name, schema, text) {
  const given = text.trim()
  if (given === '') return undefined
  switch (kindOf(schema)) {
    case 'flag':
      return given === 'true' ? true : undefined
    case 'number':
      return Number(given)
    case 'names':
      return given === '*' ? given : namesIn(given)
    case 'json':
      return parsed(name, given)
    default:
      return given
  }
}

/** Names with commas between them: a name may have spaces. @param {string} text */
export function namesIn(text) {
  const names = text.split(',').map((name) => name.trim())
  return names.filter(Boolean)
}

/** @param {string} name @param {string} text */
export function parsed(name, text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError(t('invalidJson', { name }), { status: 400 })
  }
}

/** @param {{ name: string, schema: Schema, value: string, onChange: (value: string) => unknown, required?: boolean }} properties */
export function SchemaField({ name, schema, value, onChange, required = false }) {
  const common = { label: named('field', name), value, onChange, required, hint: schema.description ?? '' }
  switch (kindOf(schema)) {
    case 'flag': {
      const changed = (/** @type {boolean} */ checked) => onChange(String(checked))
      return h(CheckField, { label: common.label, hint: common.hint, checked: value === 'true', onChange: changed })
    }
    case 'choice':
      return h(SelectField, { ...common, options: [['', t('none')], ...(schema.enum ?? [])] })
    case 'number':
      return h(TextField, { ...common, type: 'number', step: 'any' })
    case 'json':
      return h(TextArea, { ...common, placeholder: '{ }' })
    default:
      return h(TextField, common)
  }
}
