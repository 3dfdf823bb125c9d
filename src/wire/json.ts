/** Any value that survives `JSON.parse(JSON.stringify(value))` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/**
 * A copy that shares nothing but texts, which may be megabytes. As in JSON text what is undefined is left out, in lists it
 * becomes null. Recursive: for values whose depth is known to be bounded.
 */
export function copyJson(value: unknown): Json {
  if (Array.isArray(value)) return value.map(copyJson)
  if (typeof value !== 'object' || value === null) return (value ?? null) as Json
  const copy: [name: string, value: Json][] = []
  for (const [name, inner] of Object.entries(value)) if (inner !== undefined) copy.push([name, copyJson(inner)])
  return Object.fromEntries(copy)
}

/** Whether a value has at most `length` characters, each value in it counted as one more. Stops where it has more. */
export function isShort(value: unknown, length: number): boolean {
  const open = [value]
  let left = length
  while (open.length > 0 && left >= 0) {
    const each = open.pop()
    left -= typeof each === 'string' ? each.length + 1 : 1
    if (typeof each !== 'object' || each === null) continue
    for (const name in each) {
      if (--left < 0) break
      left -= Array.isArray(each) ? 0 : name.length
      open.push((each as Record<string, unknown>)[name])
    }
  }
  return left >= 0
}
