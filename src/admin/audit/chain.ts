/** The links of the audit log: each entry has a hash of itself and of the hash before, so that no change of one stays hidden. */
import { createHash } from 'node:crypto'
import type { AuditEntry } from './contract.ts'

/** The entry that follows another one, or the first. */
export function linked(before: AuditEntry | undefined, written: Omit<AuditEntry, 'digest' | 'hash'>): AuditEntry {
  const digest = sha256(written.content)
  return { ...written, digest, hash: hashOf(before?.hash ?? '', { ...written, digest }) }
}

/** What is wrong with an entry behind another one; undefined if nothing is. `before`: undefined for the first. */
export function faultOf(before: AuditEntry | undefined, entry: AuditEntry): string | undefined {
  if (before !== undefined && entry.number !== before.number + 1) return `entry ${before.number + 1} is missing`
  if (before === undefined && entry.number !== 1) return `the entries before ${entry.number} are missing`
  if (entry.hash !== hashOf(before?.hash ?? '', entry)) return `entry ${entry.number} or the one before was changed`
  if (entry.content === '') return undefined
  const isSame = sha256(entry.content) === entry.digest && hasNamesOf(entry.content, entry)
  return isSame ? undefined : `the content of entry ${entry.number} was changed`
}

/** Whether an entry has the names that its content has. The content must agree with its digest, so that it is JSON. */
function hasNamesOf(content: string, { account, actor }: AuditEntry): boolean {
  const written = JSON.parse(content) as Partial<AuditEntry>
  return written.account === account && written.actor === actor
}

/** Over what stays when a person is erased: names are in the content, of which only the digest stays. */
function hashOf(
  before: string,
  { number, at, action, digest }: Pick<AuditEntry, 'number' | 'at' | 'action' | 'digest'>,
): string {
  return sha256(JSON.stringify([before, number, at, action, digest]))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
