import type { AuthHeaders, KeyHolder } from './contract.ts'
import { Renewed, type Lasting } from './renewed.ts'

/** A token with its end. */
export interface ExpiringToken {
  /** Sent as a key of the vendor is. */
  readonly token: string
  /** Milliseconds since the epoch. The token is renewed in the background before. */
  readonly expiresAt: number
}

/** Headers that authenticate, with their end. */
export interface ExpiringHeaders {
  /** By lower-case name, such as `authorization`. */
  readonly headers: AuthHeaders
  /** Milliseconds since the epoch. The headers are renewed in the background before. */
  readonly expiresAt: number
}

/**
 * Returns the key for a request. A string is asked for with each request, so the function caches it if that takes time; a token
 * or headers with their end are kept until shortly before, and renewed once for all concurrent requests.
 *
 * @example
 * openai({ baseURL, apiKey: async () => (await credential.getToken(scope)).token })
 */
export type KeySource = () => Key | Promise<Key>

type Key = string | ExpiringToken | ExpiringHeaders

/** The key of a function, as headers. */
export class TokenCache implements KeyHolder {
  readonly #headers: Renewed<AuthHeaders>

  constructor(source: KeySource, headersOf: (key: string) => AuthHeaders) {
    this.#headers = new Renewed(async () => readKey(await source(), headersOf))
  }

  headers(): AuthHeaders | Promise<AuthHeaders> {
    return this.#headers.value()
  }

  discard(headers: AuthHeaders): boolean {
    this.#headers.discard(headers)
    return true
  }
}

function readKey(given: Key, headersOf: (key: string) => AuthHeaders): Lasting<AuthHeaders> {
  if (typeof given === 'string') return { value: headersOf(checked(given)), expiresAt: undefined }
  const { token, headers, expiresAt } = Object(given) as Partial<ExpiringToken & ExpiringHeaders>
  if (typeof expiresAt !== 'number') {
    throw new TypeError('the function for the key must return a string, or "expiresAt" with "token" or "headers"')
  }
  if (headers === undefined) return { value: headersOf(checked(token)), expiresAt }
  return { value: Object.fromEntries(Object.entries(headers).map(lowerCased)), expiresAt }
}

function lowerCased([name, value]: [string, unknown]): [string, string] {
  return [name.toLowerCase(), checked(value)]
}

/** The error does not repeat the value. */
function checked(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(token)) return token
  throw new TypeError('the function for the key returned no text of visible ASCII characters')
}
