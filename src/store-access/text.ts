/** Texts that every store can keep and compare exactly. */

/**
 * Whether a text from outside may be handed to a store as an id, a cursor or a name: some databases fail at a NUL or at
 * half a surrogate pair, replace it so that two ids become one, or have an index that takes no long value. Such a failure
 * would be taken for an outage, and be everyone's.
 */
export function isStorable(text: unknown, longest = 512): text is string {
  return typeof text === 'string' && text.length <= longest && text.isWellFormed() && !text.includes('\0')
}
