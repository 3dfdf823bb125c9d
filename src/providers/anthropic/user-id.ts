/** `user` and `safety_identifier` → `metadata.user_id`, which must identify nobody by itself. */
import { createHash } from 'node:crypto'

/**
 * The vendor refuses requests whose user id is longer than 256 characters, an e-mail address or a telephone number.
 * Anything but an opaque word is replaced by its hash: the id is a hint, and must not fail the call.
 */
export function metadataFor({ safety_identifier: safety, user }: Readonly<Record<string, unknown>>): {
  readonly metadata?: { readonly user_id: string }
} {
  const id = [safety, user].find((each) => typeof each === 'string' && each !== '') as string | undefined
  if (id === undefined) return {}
  const opaque = /^[\w.:|/=-]{1,256}$/.test(id) && !isTelephoneNumber(id)
  return { metadata: { user_id: opaque ? id : createHash('sha256').update(id).digest('hex') } }
}

function isTelephoneNumber(text: string): boolean {
  return /^[\d.-]+$/.test(text) && /^\d{7,15}$/.test(text.replaceAll(/\D/g, ''))
}
