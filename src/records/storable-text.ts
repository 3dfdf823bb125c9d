/**
 * Whether every store can keep and compare a text from a client or vendor exactly. Some databases fail at a NUL or an
 * unpaired surrogate, replace it so that two ids become equal, or cannot index a long value. Such a failure would look
 * like an outage of the store and open its breaker for all requests.
 */
export function isStorable(text: unknown, longest = 512): text is string {
  return typeof text === 'string' && text.length <= longest && text.isWellFormed() && !text.includes('\0')
}
