/** A body against a schema, and what the caller is told when it does not fit. */
import * as z from 'zod'
import { invalid } from '../errors.ts'
import type { JsonBody, JsonObject } from '../http/json-body.ts'

/** A field larger than this in a large body is not looked into here: the provider that uses it checks what it needs. */
const largeField = 16_384

/** Throws 400 that names the first field at fault in `param`. */
export function check(schema: z.ZodObject, body: JsonBody): void {
  if (body.isSmall) return verify(schema, body.value)
  const fields: JsonObject = {}
  const unseen: Record<string, true> = {}
  for (const name of Object.keys(schema.shape)) {
    if (body.sizeOf(name) > largeField && body.isList(name)) unseen[name] = true
    else fields[name] = body.get(name)
  }
  verify(schema.omit(unseen), fields)
}

/** Throws 400 as `check` does, for what is no JSON body, or a part of one: `place` says which. */
export function verify(schema: z.ZodObject, value: JsonObject, place: string = ''): void {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return
  const issue = result.error.issues[0] as z.core.$ZodIssue
  const param = nameOf([place, ...issue.path])
  throw invalid(sentence(issue, param), param)
}

/** `messages[0].role`, as OpenAI writes it. */
function nameOf(path: PropertyKey[]): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`
    return name === '' ? String(key) : `${name}.${String(key)}`
  }, '')
}

function sentence(issue: z.core.$ZodIssue, param: string): string {
  if (issue.code === 'invalid_type' && issue.input === undefined) return `Missing required parameter: "${param}".`
  return `Invalid value for "${param}": ${issue.message}.`
}
