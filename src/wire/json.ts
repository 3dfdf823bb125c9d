/** Any value that survives `JSON.parse(JSON.stringify(value))` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** The fields of a JSON object of which nothing else is known. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of a JSON object; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : noFields
}

const noFields: Fields = Object.freeze({})

/** A string; an empty one for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A string; undefined for anything else. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A number; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** A whole number from 0, or its digits, as Google writes numbers of 64 bits; undefined for anything else. */
export function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined
}

/** A count that vendors leave out if it is 0; `NaN` for what is no count, so that a sum with it is none either. */
export function countOrNone(value: unknown): number {
  return value === undefined || value === null ? 0 : (countOf(value) ?? NaN)
}

/** True or false; undefined for anything else. */
export function booleanOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

/** The items of a list; none for anything else. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

const plain = { enumerable: true, writable: true, configurable: true }

/**
 * A deep copy that shares only strings, which may be megabytes long. As with JSON text, undefined fields are omitted,
 * and undefined array entries become null. Recursive, so only for values of bounded depth.
 */
export function copyJson(value: unknown): Json {
  if (Array.isArray(value)) return value.map(copyJson)
  if (typeof value !== 'object' || value === null) return (value ?? null) as Json
  const copy: Record<string, Json> = {}
  for (const name of Object.keys(value)) {
    const inner: unknown = (value as Record<string, unknown>)[name]
    if (inner === undefined) continue
    // Assigning `__proto__` would set the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: copyJson(inner), ...plain })
    else copy[name] = copyJson(inner)
  }
  return copy
}

/** Whether a value is at most about `length` characters of JSON. Stops counting beyond that. */
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

/** The object with these values; the same object if it has them all. */
export function withValues<T extends object>(object: T, values: { readonly [Name in keyof T]?: unknown } & object): T {
  for (const name in values) {
    if (values[name] !== (object as Record<string, unknown>)[name]) return { ...object, ...values }
  }
  return object
}

/** The entry of a table whose keys come from outside: `constructor` and the like are no entries. */
export function entryIn<T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined {
  return typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined
}
