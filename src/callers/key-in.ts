import { objectIn, unreadable } from '../records/unreadable.ts'
import type { KeyRecord } from './contract.ts'

/**
 * The key of a JSON text. `known`: its columns outside of that text. A list shows one that cannot be read as revoked. `isAlone`:
 * it is not read for a list; then this throws for such a key.
 */
export function keyIn(
  text: unknown,
  known: Pick<KeyRecord, 'id' | 'hash' | 'account' | 'createdAt' | 'version'>,
  isAlone: boolean,
): KeyRecord {
  const { id, hash, createdAt } = known
  const record = objectIn(text) as KeyRecord | undefined
  if (typeof record?.id === 'string') return { ...record, hash }
  if (isAlone) throw unreadable(`key ${id}`)
  return { name: '(cannot be read)', prefix: '', group: '', revokedAt: createdAt, ...known }
}
