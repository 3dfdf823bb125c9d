import { bearer } from '../credentials/key.ts'
import type { ExpiringHeaders } from '../credentials/token.ts'

/** A client of `google-auth-library`, such as `new GoogleAuth({ scopes })`, or anything with one of its methods. */
export interface GoogleCredentials {
  /** Preferred: names the project that is billed, too. */
  getRequestHeaders?(url?: string): Promise<GoogleHeaders> | GoogleHeaders
  /** Used without `getRequestHeaders`. */
  getAccessToken?(): Promise<GoogleToken> | GoogleToken
}

type GoogleHeaders = Iterable<[string, string]> | Readonly<Record<string, string>>
type GoogleToken = string | null | undefined | { readonly token?: string | null }

/** The library renews a token in its last five minutes, so that this one lasts longer. */
const keptMs = 240_000

/** Asks for the headers of a request to Google. */
export function googleKey(credentials: GoogleCredentials): () => Promise<ExpiringHeaders> {
  if (typeof credentials?.getRequestHeaders !== 'function' && typeof credentials?.getAccessToken !== 'function') {
    throw new TypeError(
      'vertex: "credentials" must have "getRequestHeaders" or "getAccessToken", as google-auth-library has',
    )
  }
  return async () => ({ headers: await headersOf(credentials), expiresAt: Date.now() + keptMs })
}

async function headersOf(credentials: GoogleCredentials): Promise<Readonly<Record<string, string>>> {
  const headers = await credentials.getRequestHeaders?.()
  if (headers !== undefined) return Symbol.iterator in headers ? Object.fromEntries(headers) : { ...headers }
  const given = await credentials.getAccessToken?.()
  const token = typeof given === 'string' ? given : given?.token
  if (!token) throw new Error('the credentials of Google returned no token')
  return bearer(token)
}
