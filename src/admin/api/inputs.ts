/** Reading of parameters and bodies by the schemas of a route. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import { breachWords } from '../../records/breach-words.ts'
import { defaultSizes, type Sizes } from '../../http/sizes.ts'

/** Bodies are small objects: the largest is a key with a thousand addresses. */
const sizes: Sizes = { ...defaultSizes, jsonBytes: 65_536, jsonDepth: 16, jsonEntries: 2_000, jsonNodes: 5_000 }

/** The longest query string, in characters. */
const longestQuery = 8_192

/** The parameters of a request. Throws a 400 for one that is unknown, repeated or invalid. */
export function readQuery(schema: z.ZodObject | undefined, params: URLSearchParams): Record<string, unknown> {
  const given: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const [name, text] of params) {
    if (name in given) throw invalid(`The parameter "${shown(name)}" is repeated.`, shown(name))
    const field = schema !== undefined && Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined
    if (field === undefined) throw unknown('parameter', [name], Object.keys(schema?.shape ?? {}))
    given[name] = valueOf(field as z.ZodType, text)
  }
  return schema === undefined ? {} : (checked(schema, given, 'parameter') as Record<string, unknown>)
}

/** Throws a 400 for a query string that is too long to be read. */
export function requireShort(target: string): void {
  if (target.length > longestQuery) throw invalid(`The URL is longer than ${longestQuery} characters.`)
}

/** The body of a request. Throws 400, 408, 413 or 415. */
export async function readBody(schema: z.ZodType | undefined, exchange: Exchange): Promise<unknown> {
  return schema === undefined ? {} : checked(schema, (await readJson(exchange, sizes)).value, 'field')
}

/** The text of a parameter as the type of its schema. What does not fit stays a text, which the schema rejects. */
function valueOf(field: z.ZodType, text: string): unknown {
  const type = field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType) : field
  if (type instanceof z.ZodNumber) return /^-?\d{1,16}(?:\.\d{1,6})?$/.test(text) ? Number(text) : text
  if (type instanceof z.ZodArray) return text === '' ? [] : text.split(',')
  return text
}

function checked(schema: z.ZodType, value: unknown, kind: 'parameter' | 'field'): unknown {
  const result = schema.safeParse(value, { error: breachWords })
  if (result.success) return result.data
  const issue = result.error.issues[0] as z.core.$ZodIssue
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    throw unknown(kind, issue.keys, schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])
  }
  const path = shown(issue.path.join('.'))
  throw invalid(path === '' ? issue.message : `"${path}": ${issue.message}`, path)
}

function unknown(kind: string, names: readonly string[], known: readonly string[]): Error {
  const advice = known.length === 0 ? '' : ` Valid ones: ${known.join(', ')}.`
  return invalid(`Unknown ${kind} "${shown(names.join(', '))}".${advice}`, shown(names[0] ?? ''))
}

/** Names come from the client. */
function shown(name: string): string {
  return name.slice(0, 100).toWellFormed()
}
