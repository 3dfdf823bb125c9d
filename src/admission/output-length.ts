/**
 * Names of the output limit among all vendors. Unknown fields are passed on, so a request may contain several of them,
 * and it is unknown which one the vendor applies.
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

/** One field of a request by its name. */
export type Field = (name: string) => unknown

/** The output limit that a request states. */
export interface Length {
  /** Whether the endpoint's documented field sets a limit that no other field can lift. */
  readonly stated: boolean
  /** The largest value of all fields; undefined if none is a number. */
  readonly largest: number | undefined
}

/** Reads the output limit of a request. `own`: the names that the endpoint documents. */
export function lengthIn(field: Field, own: readonly string[]): Length {
  let stated = false
  let lifted = false
  let largest: number | undefined
  for (const name of names) {
    const value = field(name)
    if (value === undefined || value === null) continue
    const tokens = positive(value)
    if (tokens === undefined) {
      // For some vendors 0 or -1 means unlimited.
      lifted = true
      continue
    }
    if (own.includes(name)) stated = true
    largest = Math.max(largest ?? 0, tokens)
  }
  return { stated: stated && !lifted, largest }
}

/**
 * The changes to a request that limit each choice to `cap` tokens: sets `own`, the field that the endpoint's vendors
 * read, if absent, and reduces every larger value under any name.
 */
export function lengthChanges(field: Field, own: string, cap: number): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const name of new Set([own, ...names])) {
    const value = field(name)
    const given = value !== undefined && value !== null
    if (!given && name !== own) continue
    const tokens = positive(value)
    // In a text completion, 0 means to process only the prompt.
    if (name === own && value === 0) continue
    if (tokens === undefined || tokens > cap) changes[name] = cap
  }
  return changes
}

/** A positive number, also given as text, as in forms and by some clients. */
export function positive(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && number > 0 && number <= Number.MAX_SAFE_INTEGER ? number : undefined
}

/** The number of choices per prompt, `unstated` if the request does not set it. */
export function choicesIn(field: Field, unstated: number = 1): number {
  return Math.max(positive(field('n')) ?? unstated, positive(field('best_of')) ?? 1)
}
