import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { VendorKeyName } from './contract.ts'

/** Of the initialization vector, which GCM wants to be of this length. */
const vectorBytes = 12
const tagBytes = 16
const cipher = 'aes-256-gcm'

interface Secret {
  readonly key: Buffer
  /** Tells sealed texts which secret opens them; reveals nothing about it. */
  readonly id: string
}

/**
 * Encrypts the keys of accounts for the store: AES-256-GCM with a key derived from the host's secret, a random vector, and account
 * and provider as additional data. A text that is moved to another account or provider, or changed, does not open.
 */
export class Sealing {
  readonly #current: Secret
  readonly #secrets: ReadonlyMap<string, Secret>

  /** The first secret seals, all open. */
  constructor(secrets: readonly string[]) {
    const derived = secrets.map(derive)
    this.#current = derived[0] as Secret
    this.#secrets = new Map(derived.map((secret) => [secret.id, secret]))
  }

  seal(text: string, name: VendorKeyName): string {
    const { key, id } = this.#current
    const vector = randomBytes(vectorBytes)
    const encrypting = createCipheriv(cipher, key, vector, { authTagLength: tagBytes }).setAAD(boundTo(name))
    const sealed = Buffer.concat([vector, encrypting.update(text, 'utf8'), encrypting.final(), encrypting.getAuthTag()])
    return `1.${id}.${sealed.toString('base64url')}`
  }

  /** Throws an error without the text if it was sealed with another secret, for another account or provider, or changed. */
  open(sealed: string, name: VendorKeyName): string {
    const [version, id = '', encoded = ''] = sealed.split('.')
    const secret = this.#secrets.get(id)
    if (version !== '1' || secret === undefined) {
      throw new Error('a key was sealed with a secret that is not in "ownKeys.secrets": add the older secret behind it')
    }
    const bytes = Buffer.from(encoded, 'base64url')
    try {
      const opening = createDecipheriv(cipher, secret.key, bytes.subarray(0, vectorBytes), { authTagLength: tagBytes })
      opening.setAAD(boundTo(name)).setAuthTag(bytes.subarray(-tagBytes))
      return opening.update(bytes.subarray(vectorBytes, -tagBytes), undefined, 'utf8') + opening.final('utf8')
    } catch (cause) {
      throw new Error('a sealed key was changed, or moved from another account or provider', { cause })
    }
  }

  /** Whether an older secret sealed the text. */
  isOld(sealed: string): boolean {
    return sealed.split('.')[1] !== this.#current.id
  }
}

function derive(secret: string): Secret {
  const derived = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `modelhatch vendor keys: ${purpose}`, length))
  return { key: derived('sealing', 32), id: derived('name', 9).toString('base64url') }
}

function boundTo({ account, provider }: VendorKeyName): Buffer {
  return Buffer.from(JSON.stringify([account, provider]))
}
