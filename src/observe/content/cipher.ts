/** The encryption of content: with a key of its owner, which is sealed with a secret of the host. */
import { createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { dayOf } from '../../records/calendar.ts'
import { decrypted, encrypted, Sealing } from '../../records/sealing.ts'
import type { ContentKey, ContentOwner, ContentRecord } from './contract.ts'
import type { LoggedContent } from './content.ts'

// Both work in threads of their own.
const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

export function ownerOf({ account, user = '', at }: Pick<LoggedContent, 'account' | 'user' | 'at'>): ContentOwner {
  return { account, user, day: dayOf(at) }
}

export function packed(content: LoggedContent): Promise<Buffer> {
  return deflate(JSON.stringify(content))
}

async function unpacked(bytes: Buffer): Promise<LoggedContent> {
  return JSON.parse((await inflate(bytes)).toString('utf8')) as LoggedContent
}

/** A compressed content of a request, before it is encrypted. */
export interface PackedContent {
  readonly id: string
  readonly at: number
  readonly session?: string | undefined
  readonly owner: ContentOwner
  readonly bytes: Uint8Array
}

/** Encrypts content and decrypts it. */
export class ContentCipher {
  readonly #sealing: Sealing

  /** The first secret seals, all open. */
  constructor(secrets: readonly string[]) {
    this.#sealing = new Sealing(secrets, { use: 'content', option: 'content.encryptionKey' })
  }

  /** The id of the key of an owner. */
  idOf({ account, user, day }: ContentOwner): string {
    return createHash('sha256')
      .update(JSON.stringify([account, user, day]))
      .digest('hex')
  }

  /** A new key, for an owner that has none. */
  keyFor(owner: ContentOwner): ContentKey {
    const id = this.idOf(owner)
    return { id, ...owner, sealed: this.#sealing.seal(randomBytes(32).toString('base64'), [id]) }
  }

  record({ id, at, session, owner, bytes }: PackedContent, key: ContentKey): ContentRecord {
    const sealed = encrypted(this.#open(key), bytes, [id])
    return { id, key: key.id, ...owner, ...(session !== undefined && { session }), at, body: sealed }
  }

  /** Undefined if the key is gone, or was made anew after it was destroyed. Throws if no secret opens the key, or it was damaged. */
  async content({ id, body }: ContentRecord, key: ContentKey | undefined): Promise<LoggedContent | undefined> {
    if (body.length === 0) throw new Error('it was damaged')
    if (key === undefined) return undefined
    const opened = this.#open(key)
    let plain: Buffer
    try {
      plain = decrypted(opened, body, [id])
    } catch {
      return undefined
    }
    return unpacked(plain)
  }

  /** The sealed text of a key, made anew with the first secret; undefined if it is so already. Throws if no secret opens it. */
  renewed({ id, sealed }: ContentKey): string | undefined {
    return this.#sealing.renewed(sealed, [id])
  }

  #open({ id, sealed }: ContentKey): Buffer {
    return Buffer.from(this.#sealing.open(sealed, [id]), 'base64')
  }
}
