import { boundedCache } from '../../bounded-cache.ts'
import type { AuthHeaders, KeyHolder, RequestFacts } from './contract.ts'
import { limitMs, Renewed, type Lasting } from './renewed.ts'

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

/** What a function for a key learns of the request: never anything that it contains. */
export interface KeyContext {
  /** The vendor's name of the model. Undefined for requests that are not about one, such as for a list of models. */
  readonly model: string | undefined
  /** The account that the request is for. Undefined for requests of the gateway itself, and for videos. */
  readonly account: string | undefined
  /** Aborted after ten seconds, when nobody waits for the key any more. */
  readonly signal: AbortSignal
}

/**
 * Returns the key for a request. A string is asked for with each request, so the function caches it if that takes time; a token
 * or headers with their end are kept until shortly before, and renewed once for all concurrent requests.
 *
 * A function that declares no parameter gets none, and its token serves all requests. One that declares its parameter
 * (`function.length` is 1: no default value, no rest parameter) gets the context, and its token serves only requests with the same
 * account and model: of the 1,000 that were used last, tokens are kept.
 *
 * @example
 * openai({ baseURL, apiKey: async () => (await credential.getToken(scope)).token })
 * openai({ baseURL, apiKey: ({ account, signal }) => vault.tokenFor(account, signal) })
 */
export type KeySource = (context: KeyContext) => Key | Promise<Key>

type Key = string | ExpiringToken | ExpiringHeaders

/** Accounts and models whose tokens are kept. Names of models can come from clients. */
const mostContexts = 1_000

/** The key of a function, as headers. */
export class TokenCache implements KeyHolder {
  readonly #source: KeySource
  readonly #headersOf: (key: string) => AuthHeaders
  /** Undefined if the key depends on the context. */
  readonly #shared: Renewed<AuthHeaders> | undefined
  readonly #own = boundedCache<string, Renewed<AuthHeaders>>(mostContexts)
  readonly #of = new WeakMap<AuthHeaders, Renewed<AuthHeaders>>()

  constructor(source: KeySource, headersOf: (key: string) => AuthHeaders) {
    this.#source = source
    this.#headersOf = headersOf
    // What gets no context cannot depend on it.
    if (source.length === 0) this.#shared = this.#renewed(source as () => Key | Promise<Key>)
  }

  headers(about: RequestFacts): AuthHeaders | Promise<AuthHeaders> {
    return (this.#shared ?? this.#ownOf(about)).value()
  }

  discard(headers: AuthHeaders): boolean {
    return (this.#shared ?? this.#of.get(headers))?.discard(headers) ?? true
  }

  #ownOf({ account, model }: RequestFacts): Renewed<AuthHeaders> {
    const name = JSON.stringify([account, model])
    let own = this.#own.get(name)
    if (own === undefined) {
      own = this.#renewed(() => this.#source({ account, model, signal: AbortSignal.timeout(limitMs) }))
      this.#own.set(name, own)
    }
    return own
  }

  #renewed(source: () => Key | Promise<Key>): Renewed<AuthHeaders> {
    const renewed = new Renewed(async () => {
      const read = readKey(await source(), this.#headersOf)
      this.#of.set(read.value, renewed)
      return read
    })
    return renewed
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
