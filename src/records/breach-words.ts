/** What is wrong with an option, or a field of administration: in words that say what to write, and never with the value. */
import type * as z from 'zod'

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
}

/** Completes "the field …". Undefined: the words of the rule, or else zod's own. */
export function breachWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return ofType(kinds[issue.expected] ?? issue.expected, issue.input)
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
    case 'too_small':
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
    default:
      return undefined
  }
}

function ofType(wanted: string, given: unknown): string {
  if (given === undefined) return `is missing; it must be ${wanted}`
  if (Number.isFinite(given) && wanted === kinds['int']) return `must be ${wanted}`
  return `must be ${wanted}, not ${kindOf(given)}`
}

function kindOf(value: unknown): string {
  if (value === null || typeof value === 'undefined') return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function bound(origin: string, than: string, limit: number | bigint): string {
  if (origin === 'string') return `must have ${than} ${limit} characters`
  return origin === 'array' || origin === 'set' ? `must have ${than} ${limit} entries` : `must be ${than} ${limit}`
}
