/** How many tokens an answer may have: stated by the request, under whatever name a vendor reads. */
import type { Order } from '../endpoints/endpoint.ts'

/**
 * Names under which some vendor takes the length of an answer. Unknown fields pass, so a request may hold several, and
 * which of them the vendor goes by is not known.
 */
const names = [
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_tokens_to_sample',
  'max_gen_len',
  'max_length',
  'n_predict',
  'num_predict',
  'maxOutputTokens',
  'maxTokens',
] as const

type Field = Order<unknown>['field']

export interface Length {
  /** The endpoint's own field says it, and no other field can lift that bound. */
  readonly stated: boolean
  /** The largest of all fields; undefined where none holds a number. */
  readonly largest: number | undefined
}

/** `own`: the names that the endpoint itself documents. */
export function lengthIn(field: Field, own: readonly string[]): Length {
  let stated = false
  let lifted = false
  let largest: number | undefined
  for (const name of names) {
    const value = field(name)
    if (value === undefined || value === null) continue
    const tokens = positive(value)
    if (tokens === undefined) {
      // Some vendors take zero or -1 for "without end".
      lifted = true
      continue
    }
    if (own.includes(name)) stated = true
    largest = Math.max(largest ?? 0, tokens)
  }
  return { stated: stated && !lifted, largest }
}

/**
 * The changes that keep each answer to a request within `cap` tokens: `own`, the field that the endpoint's vendors know, is
 * set where it is not given, and no other field may say more.
 */
export function lengthChanges(field: Field, own: string, cap: number): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const name of new Set([own, ...names])) {
    const value = field(name)
    const given = value !== undefined && value !== null
    if (!given && name !== own) continue
    const tokens = positive(value)
    // No tokens at all is a text completion that only reads its prompt.
    if (name === own && value === 0) continue
    if (tokens === undefined || tokens > cap) changes[name] = cap
  }
  return changes
}

/** A number above zero. Some clients write numbers as text, forms always do. */
export function positive(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && number > 0 && number <= Number.MAX_SAFE_INTEGER ? number : undefined
}
