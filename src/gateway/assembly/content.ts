/** The content log of a gateway. */
import { contentReading } from '../../endpoints/logged-content.ts'
import { ContentCipher } from '../../observe/content/cipher.ts'
import { ContentLog } from '../../observe/content/content-log.ts'
import { ContentReader } from '../../observe/content/read.ts'
import type { Observer } from '../../observe/observe.ts'
import type { Guard } from '../../records/guard.ts'
import type { GatewayOptions } from '../options/options.ts'
import type { Stores } from './stores.ts'

/** What writes content, and what reads it. */
export interface ContentParts {
  readonly log: ContentLog
  readonly reader: ContentReader
}

/** Undefined without the option. */
export function contentParts(
  { content: options, clock: now = Date.now, random = Math.random }: GatewayOptions,
  { content: store, contentKeys: keyStore }: Stores,
  guarding: (name: string) => Guard,
  observer: Observer,
): ContentParts | undefined {
  if (options === undefined || store === undefined || keyStore === undefined) return undefined
  const { encryptionKey } = options
  const cipher = new ContentCipher(typeof encryptionKey === 'string' ? [encryptionKey] : encryptionKey)
  const { failed } = observer
  const shared = () => ({
    failed,
    store,
    keyStore,
    cipher,
    guard: guarding('the store of content'),
    keyGuard: guarding('the store of the keys of content'),
  })
  return {
    log: new ContentLog({ ...shared(), reading: contentReading, options, random, now }),
    // With guards of its own: a page that takes long must not stop the writing.
    reader: new ContentReader(shared()),
  }
}
