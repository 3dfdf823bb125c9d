/** Validation of request bodies against schemas, and the error messages for it. */
import * as z from 'zod'
import { invalid } from '../errors.ts'
import type { JsonBody } from '../http/json-body.ts'

/** The shortest array, in bytes, that `check` skips for the fields in `unread`. */
const largeList = 16_384

interface Rule {
  readonly name: string
  readonly type: z.core.$ZodType
  readonly optional: boolean
}

const rulesOf = new WeakMap<z.ZodObject, readonly Rule[]>()
const compiled = new WeakMap<z.ZodType, z.ZodType>()

/**
 * Throws 400 for the first invalid field, which `param` names. Refinements of the whole schema do not count: each field is
 * validated on its own if the whole is not valid, or too long to be parsed. `unread`: fields whose long arrays are skipped,
 * because the code that reads them validates each entry.
 */
export function check(schema: z.ZodObject, body: JsonBody, unread: readonly string[] = []): void {
  if (body.isSmall && isValid(schema, body.value)) return
  let rules = rulesOf.get(schema)
  if (rules === undefined) rulesOf.set(schema, (rules = rulesIn(schema)))
  for (const { name, type, optional } of rules) {
    if (unread.includes(name) && !body.isSmall && body.sizeOf(name) > largeList && body.isList(name)) continue
    const value = body.get(name)
    if (value !== undefined || !optional) requireValid(type as z.ZodType, value, name)
  }
}

/** Whether a schema accepts a value, without the output and the issues that `safeParse` makes. */
function isValid(schema: z.ZodType, value: unknown): boolean {
  let fast = compiled.get(schema)
  if (fast === undefined) compiled.set(schema, (fast = z.compile(schema)))
  return z.validate(fast, value)
}

function rulesIn({ shape }: z.ZodObject): Rule[] {
  return Object.entries(shape).map(([name, type]) => ({ name, type, optional: type._zod.optin === 'optional' }))
}

/** Like `check`, for a value that is not a `JsonBody`. `place`: its path in the request, for the error message. */
export function verify(schema: z.ZodType, value: unknown, place: string = ''): void {
  if (!isValid(schema, value)) requireValid(schema, value, place)
}

function requireValid(schema: z.ZodType, value: unknown, place: string): void {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return
  const issue = furthest(result.error.issues[0] as z.core.$ZodIssue)
  const param = nameOf([place, ...issue.path])
  throw invalid(sentence(issue, param), param)
}

/**
 * For a value that matches no branch of a union: the issue of the branch that matched deepest, as the most specific
 * one.
 */
function furthest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue
  const inside = (each: z.core.$ZodIssue) => furthest({ ...each, path: [...issue.path, ...each.path] })
  const branches = issue.errors.map((errors) => errors.map(inside).reduce(deeper)).sort(byDepth)
  const [first = issue, second = issue] = branches
  return first.path.length > second.path.length ? first : issue
}

function deeper(left: z.core.$ZodIssue, right: z.core.$ZodIssue): z.core.$ZodIssue {
  return right.path.length > left.path.length ? right : left
}

function byDepth(left: z.core.$ZodIssue, right: z.core.$ZodIssue): number {
  return right.path.length - left.path.length
}

/** The path in OpenAI's notation, such as `messages[0].role`. */
function nameOf(path: PropertyKey[]): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`
    return name === '' ? String(key) : `${name}.${String(key)}`
  }, '')
}

function sentence(issue: z.core.$ZodIssue, param: string): string {
  if (issue.code === 'custom' && issue.params?.['missing'] === true) {
    return `Missing required parameter: "${param}", ${issue.message}.`
  }
  if (issue.code === 'invalid_type' && issue.input === undefined) return `Missing required parameter: "${param}".`
  return `Invalid value for "${param}": ${issue.message}.`
}
