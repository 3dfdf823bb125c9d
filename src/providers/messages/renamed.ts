/**
 * JSON text with another value of its field `model`, and every other byte unchanged. Undefined if it is not certain which
 * bytes these are: a tool of the client may have a field of that name too.
 */
export function renamed(text: string, model: unknown, name: string): string | undefined {
  if (typeof model !== 'string') return undefined
  const value = JSON.stringify(model)
  const found = [...text.matchAll(/"model"\s*:\s*/g)]
  const [first] = found
  if (first === undefined || found.length > 1) return undefined
  const start = first.index + first[0].length
  return text.startsWith(value, start)
    ? text.slice(0, start) + JSON.stringify(name) + text.slice(start + value.length)
    : undefined
}
