/** Orders from multipart forms, in which every value is text and lists have several spellings. */
import { estimateTokens } from '../wire/counts.ts'
import { invalid } from '../errors.ts'
import type { JsonObject } from '../http/json-body.ts'
import type { UploadedForm } from '../http/uploaded-form.ts'
import type { Order } from './endpoint.ts'

/** The types of form fields that are not text. */
export type FieldKinds = Readonly<Record<string, 'number' | 'boolean' | 'list'>>

/** The order for a form. Throws 400 unless the fields that have arrived name a model, which routing requires. */
export function formOrder<Request>(form: UploadedForm, kinds: FieldKinds): Order<Request> {
  const fields = () => fieldsOf(form, kinds)
  const { model } = fields()
  if (typeof model !== 'string' || model === '') throw invalid('Missing required parameter: "model".', 'model')
  return {
    model,
    form,
    get stream() {
      return fields()['stream'] === true
    },
    get request() {
      return fields() as Request
    },
    get promptTokens() {
      return estimateTokens(Buffer.byteLength(form.fields.get('prompt')?.[0] ?? ''))
    },
    names: () => form.fields.keys(),
    field: (name) => fields()[name] ?? form.fields.get(name),
    json: (changes) => Buffer.from(JSON.stringify({ ...fields(), ...changes })),
  }
}

/**
 * The fields as a JSON request would have them. A value that is not of its kind stays text, and the schema rejects it.
 */
export function fieldsOf(form: UploadedForm, kinds: FieldKinds): JsonObject {
  const lists = new Map<string, string[]>()
  const fields = new Map<string, unknown>()
  for (const [written, values] of form.fields) {
    // `include[]`, `include[0]` and `include` are the same list.
    const name = written.replace(/\[\d*\]$/, '')
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (kind === 'list') lists.set(name, [...(lists.get(name) ?? []), ...values])
    // A repeated field becomes a list too, which the schema rejects for a field with a single value.
    else fields.set(written, values.length > 1 ? values : read(values[0] as string, kind))
  }
  return Object.fromEntries([...fields, ...lists])
}

function read(text: string, kind: 'number' | 'boolean' | undefined): unknown {
  if (kind === undefined) return text
  if (kind === 'number') return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
  if (/^(?:true|1)$/i.test(text)) return true
  return /^(?:false|0)$/i.test(text) ? false : text
}
