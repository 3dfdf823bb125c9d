import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonBody } from '../http/json-body.ts'

/** Bytes to hash in one turn of the event loop. */
const atOnce = 4_194_304

/** SHA-256 of a body as it was sent, in hex: tells a request with the same idempotency key from another. */
export async function bodyDigest({ bytes }: Pick<JsonBody, 'bytes'>): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += atOnce) {
    if (at > 0) await nextTurn()
    hash.update(bytes.subarray(at, at + atOnce))
  }
  return hash.digest('hex')
}
