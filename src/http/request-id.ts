import { randomFillSync } from 'node:crypto'

/** Random bytes are drawn for this many ids at once. */
const ids = 128
/** The time takes 6 of the 16 bytes of an id. */
const randomBytes = 10

let pool: Buffer | undefined
let at = 0

/**
 * A new id of a request: `req_` and 32 hexadecimal digits, 12 of the time in milliseconds and 20 of 80 random bits. The time
 * comes first, so that databases insert neighbouring ids next to each other: in a large index of random ids, each insertion
 * reads and writes a page of its own.
 */
export function requestId(): string {
  if (pool === undefined || at === pool.length) {
    pool = randomFillSync(pool ?? Buffer.alloc(ids * randomBytes))
    at = 0
  }
  return `req_${Date.now().toString(16).padStart(12, '0')}${pool.toString('hex', at, (at += randomBytes))}`
}
