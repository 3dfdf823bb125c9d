/** Keys of vendors as the options have them: fixed, several, or from a function. */
import { KeyPool } from './pool.ts'
import type { AuthHeaders, Credentials, KeyHolder } from './contract.ts'
import { dividedHeaders, HeaderFunctions, type VendorHeaders } from './header-functions.ts'
import { TokenCache, type KeySource } from './token.ts'

/** A key, a function that returns it, or several of them. Each of several pauses for itself when the vendor refuses it. */
export type ApiKey = string | KeySource | readonly (string | KeySource)[]

/**
 * How a client authenticates: by headers that never change for a fixed key, else by credentials. `keyHeaders`: how a key is sent;
 * `more`: the other headers, which take precedence over those of a fixed key.
 */
export function authOf(
  { apiKey, credentials }: { readonly apiKey?: ApiKey | undefined; readonly credentials?: Credentials | undefined },
  keyHeaders: (key: string) => AuthHeaders,
  more: VendorHeaders,
): { readonly headers: AuthHeaders; readonly credentials: Credentials | undefined } {
  const { fixed, functions } = dividedHeaders(more)
  const withFunctions = (own: Credentials | undefined) =>
    functions.length === 0 ? own : new HeaderFunctions(functions, own)
  if (typeof apiKey === 'string')
    return { headers: { ...keyHeaders(apiKey), ...fixed }, credentials: withFunctions(credentials) }
  const own = apiKey === undefined || credentials !== undefined ? credentials : keyCredentials(apiKey, keyHeaders)
  return { headers: fixed, credentials: withFunctions(own) }
}

/** Credentials of one key or several. `keyHeaders`: how a key is sent. Default: `Authorization: Bearer`. */
export function keyCredentials(apiKey: ApiKey, keyHeaders: (key: string) => AuthHeaders = bearer): Credentials {
  const keys = typeof apiKey === 'string' || typeof apiKey === 'function' ? [apiKey] : apiKey
  const pool = keys.map((key) => ({ name: typeof key === 'string' ? key : '', holder: holderOf(key, keyHeaders) }))
  return new KeyPool(pool)
}

export function bearer(token: string): AuthHeaders {
  return { authorization: `Bearer ${token}` }
}

function holderOf(key: string | KeySource, headersOf: (key: string) => AuthHeaders): KeyHolder {
  if (typeof key === 'function') return new TokenCache(key, headersOf)
  const headers = headersOf(key)
  return { headers: () => headers }
}

/** What replaces all credentials of the host by a customer's key. Other headers may be credentials, too. */
export interface KeyReplacement {
  readonly name: string
  readonly apiKey: string | KeySource
  readonly credentials: undefined
  readonly headers: VendorHeaders
}

export function withOwnKey<Options extends { readonly headers?: VendorHeaders }>(
  options: Options,
  name: string,
  apiKey: string | KeySource,
): Omit<Options, keyof KeyReplacement> & KeyReplacement {
  const kept = Object.entries(options.headers ?? {}).filter(([each]) => /^anthropic-(?:version|beta)$/i.test(each))
  return { ...options, name: `${name}/own-key`, apiKey, credentials: undefined, headers: Object.fromEntries(kept) }
}

/** Whether the key depends on the conversation of a request: there are several. */
export function usesConversation(apiKey: ApiKey | undefined): boolean {
  return Array.isArray(apiKey) && apiKey.length > 1
}
