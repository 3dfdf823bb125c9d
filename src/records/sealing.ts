import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Of the initialization vector, which GCM wants to be of this length. */
const vectorBytes = 12
const tagBytes = 16
const cipher = 'aes-256-gcm'

/** Encrypts bytes with AES-256-GCM and a random vector. They open with the same key and `boundTo` only. */
export function encrypted(key: Uint8Array, bytes: Uint8Array, boundTo: readonly string[]): Buffer {
  const vector = randomBytes(vectorBytes)
  const encrypting = createCipheriv(cipher, key, vector, { authTagLength: tagBytes }).setAAD(dataOf(boundTo))
  return Buffer.concat([vector, encrypting.update(bytes), encrypting.final(), encrypting.getAuthTag()])
}

/** What was encrypted. Throws for another key, another `boundTo`, and bytes that were changed. */
export function decrypted(key: Uint8Array, sealed: Uint8Array, boundTo: readonly string[]): Buffer {
  const opening = createDecipheriv(cipher, key, sealed.subarray(0, vectorBytes), { authTagLength: tagBytes })
  opening.setAAD(dataOf(boundTo)).setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([opening.update(sealed.subarray(vectorBytes, -tagBytes)), opening.final()])
}

interface Secret {
  readonly key: Buffer
  /** Tells sealed texts which secret opens them; reveals nothing about it. */
  readonly id: string
}

/**
 * Encrypts what is kept where others can read it, such as keys of accounts in a store: AES-256-GCM with a key derived from the host's
 * secret, a random vector, and what the text is bound to as additional data. A text that is moved elsewhere, or changed, does not open.
 */
export class Sealing {
  readonly #current: Secret
  readonly #secrets: ReadonlyMap<string, Secret>
  readonly #option: string

  /** The first secret seals, all open. `use`: one secret has another key for each. `option`: where the host gives the secrets. */
  constructor(secrets: readonly string[], { use, option }: { readonly use: string; readonly option: string }) {
    const derived = secrets.map((secret) => derive(secret, use))
    this.#option = option
    this.#current = derived[0] as Secret
    this.#secrets = new Map(derived.map((secret) => [secret.id, secret]))
  }

  seal(text: string, boundTo: readonly string[]): string {
    const { key, id } = this.#current
    return `1.${id}.${encrypted(key, Buffer.from(text), boundTo).toString('base64url')}`
  }

  /** Throws an error without the text if it was sealed with another secret, bound to something else, or changed. */
  open(sealed: string, boundTo: readonly string[]): string {
    const [version, id = '', encoded = ''] = sealed.split('.')
    const secret = this.#secrets.get(id)
    if (version !== '1' || secret === undefined) {
      throw new Error(`it was sealed with a secret that is not in "${this.#option}": add the older secret behind it`)
    }
    try {
      return decrypted(secret.key, Buffer.from(encoded, 'base64url'), boundTo).toString('utf8')
    } catch (cause) {
      throw new Error('what was sealed was changed, or moved from elsewhere', { cause })
    }
  }

  /** Sealed anew with the first secret; undefined if it is so already. Throws like `open`. */
  renewed(sealed: string, boundTo: readonly string[]): string | undefined {
    const text = this.open(sealed, boundTo)
    return sealed.split('.')[1] === this.#current.id ? undefined : this.seal(text, boundTo)
  }
}

function derive(secret: string, use: string): Secret {
  const derived = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `modelhatch ${use}: ${purpose}`, length))
  return { key: derived('sealing', 32), id: derived('name', 9).toString('base64url') }
}

function dataOf(boundTo: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(boundTo))
}
