/** JSON inside of texts: nothing is known of it but the length of the text. */
import { scanObject } from './json-scan.ts'
import { defaultSizes } from './sizes.ts'

/** Whether a text is one whole JSON document. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Texts up to this many characters hold neither much nor anything deep. */
const shortText = 1_000

/**
 * The object that a text holds. Undefined for anything else, and for an object that is deeper or wider than a request may
 * be by default: what is done with it next may be recursive, and takes its time for each part.
 */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    if (text.length > shortText) scanObject(Buffer.from(text), defaultSizes)
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
