/** Validates the escapes in the strings of JSON text. */
import { invalid } from '../errors.ts'

const backslash = 0x5c

/** 1 for the characters that may follow a backslash, except the `u` of a code point. */
const isEscape = new Uint8Array(256)
for (const escape of '"\\/bfnrt') isEscape[escape.charCodeAt(0)] = 1

const isHex = new Uint8Array(256)
for (const digit of '0123456789abcdefABCDEF') isHex[digit.charCodeAt(0)] = 1

/** The offset after consecutive escapes. */
export function endOfEscapes(bytes: Buffer, from: number): number {
  const last = bytes.length - 1
  let at = from
  while (at < last && bytes[at] === backslash) {
    if (isEscape[bytes[at + 1] as number] === 1) at += 2
    else at = skipCodePoint(bytes, at)
  }
  if (at === from) throw broken()
  return at
}

/** The offset after the `\uXXXX` escape that starts at `at`. */
function skipCodePoint(bytes: Buffer, at: number): number {
  const end = at + 6
  if (bytes[at + 1] !== 0x75 /* u */ || end > bytes.length) throw broken()
  for (let digit = at + 2; digit < end; digit++) if (isHex[bytes[digit] as number] !== 1) throw broken()
  return end
}

/** The error for text that is not JSON. */
export function broken(): Error {
  return invalid('We could not parse the JSON body of your request. It must be one valid JSON object in UTF-8.')
}
