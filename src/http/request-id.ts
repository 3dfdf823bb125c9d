import { randomFillSync } from 'node:crypto'

/** Random digits are drawn for this many ids at once. */
const ids = 128
/** The time takes 12 of the 32 digits of an id. */
const randomDigits = 20

const bytes = Buffer.alloc((ids * randomDigits) / 2)
let digits = ''
let at = 0
let time = 0
/** The part of an id that says the time. */
let head = ''

/**
 * A new id of a request: `req_` and 32 hexadecimal digits, 12 of the time in milliseconds and 20 of 80 random bits. The time
 * comes first, so that databases insert neighbouring ids next to each other: in a large index of random ids, each insertion
 * reads and writes a page of its own.
 */
export function requestId(): string {
  if (at === digits.length) {
    digits = randomFillSync(bytes).toString('hex')
    at = 0
  }
  const now = Date.now()
  if (now !== time) {
    time = now
    head = `req_${now.toString(16).padStart(12, '0')}`
  }
  return head + digits.slice(at, (at += randomDigits))
}
