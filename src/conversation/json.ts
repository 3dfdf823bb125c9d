/** JSON whose large integers keep their digits: they become `JSON.rawJSON` values, which `JSON.stringify` prints as read. */
import { isRecord } from '../wire/json.ts'

declare global {
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
  }
}

/** A number of 16 digits or more, or one with an exponent. It may also be in a string: then the slow way is only slow. */
const longNumber = /[\d.]{16}|\d[eE]/

/** Whether a text may have a number that parsing changes. */
export function hasLongNumber(text: string): boolean {
  return longNumber.test(text)
}

export function parseJson(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, keepDigits) : (JSON.parse(text) as unknown)
}

function keepDigits(_: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value)) return value
  return /^-?\d+$/.test(source) || !Number.isFinite(value) ? JSON.rawJSON(source) : value
}

/** Texts up to this many characters need no check of their depth and size. */
const shortText = 1_000

/** The defaults for the body of a request. */
const maxDepth = 64
const maxNodes = 200_000
const maxEntries = 10_000

/** Whether JSON text is within the limits of depth and of members, items and containers. */
function isBounded(text: string): boolean {
  let depth = 0
  let nodes = 0
  /** Of the open container at each depth. */
  const entries: number[] = []
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === backslash) at++
      else if (code === quote) inString = false
    } else if (code === quote) inString = true
    else if (code === openBrace || code === openBracket) {
      if (++depth > maxDepth || ++nodes > maxNodes) return false
      entries[depth] = 1
    } else if (code === comma) {
      const count = (entries[depth] ?? 0) + 1
      if (count > maxEntries || ++nodes > maxNodes) return false
      entries[depth] = count
    } else if (code === closeBrace || code === closeBracket) depth--
  }
  return true
}

const comma = 0x2c
const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

/**
 * The object in a JSON text; undefined for anything else, and for one beyond the default limits of a request body, because
 * recursive code may process it.
 */
export function objectOf(text: string): Record<string, unknown> | undefined {
  // Failing to parse takes long: the error has a stack.
  if (!/^\s*\{/.test(text)) return undefined
  try {
    if (text.length > shortText && !isBounded(text)) return undefined
    const value = parseJson(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The input of a call. Broken input is passed on as text: the model wrote it, and the conversation must go on. */
export function inputObject(input: string): Record<string, unknown> {
  return input.trim() === '' ? {} : (objectOf(input) ?? { invalid_arguments: input })
}
