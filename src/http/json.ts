/** Parsing of JSON text that was not validated with the request body. */
import { scanObject } from './json-scan.ts'
import { defaultSizes } from './sizes.ts'

/** Whether a text is one complete JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Texts up to this many characters need no check of their depth and size. */
const shortText = 1_000

/**
 * The JSON object in a text; undefined for anything else, and for an object that exceeds the default limits of a
 * request body, because recursive code may process it.
 */
export function objectIn(text: string): Record<string, unknown> | undefined {
  // Failing to parse takes long: the error has a stack.
  if (!/^\s*\{/.test(text)) return undefined
  try {
    if (text.length > shortText) scanObject(Buffer.from(text), defaultSizes)
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
