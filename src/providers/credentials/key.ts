/** Keys of vendors as the options have them: fixed, several, or from a function. */
import { KeyPool } from './pool.ts'
import type { AuthHeaders, Credentials, KeyHolder } from './contract.ts'
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
  more: AuthHeaders,
): { readonly headers: AuthHeaders; readonly credentials: Credentials | undefined } {
  if (typeof apiKey === 'string') return { headers: { ...keyHeaders(apiKey), ...more }, credentials }
  if (apiKey === undefined || credentials !== undefined) return { headers: more, credentials }
  return { headers: more, credentials: keyCredentials(apiKey, keyHeaders) }
}

/** Credentials of one key or several. `keyHeaders`: how a key is sent. Default: `Authorization: Bearer`. */
export function keyCredentials(apiKey: ApiKey, keyHeaders: (key: string) => AuthHeaders = bearer): Credentials {
  const keys = typeof apiKey === 'string' || typeof apiKey === 'function' ? [apiKey] : apiKey
  const pool = keys.map((key) => ({ name: typeof key === 'string' ? key : '', holder: holderOf(key, keyHeaders) }))
  return new KeyPool(pool)
}

/** The headers for a token. */
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
  readonly headers: Readonly<Record<string, string>>
}

export function withOwnKey<Options extends { readonly headers?: Readonly<Record<string, string>> }>(
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
