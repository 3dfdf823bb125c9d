import { randomBytes } from 'node:crypto'

/** An id for a call to which the vendor has given none. */
export function newCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`
}
