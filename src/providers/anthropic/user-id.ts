/** Translates `user` and `safety_identifier` to `metadata.user_id`, which must not contain personal data. */
import { createHash } from 'node:crypto'

/**
 * The vendor rejects user ids that are longer than 256 characters, or that are e-mail addresses or telephone numbers. The
 * id is only a hint and must not fail the request, so anything that is not an opaque token is replaced by its hash.
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
