/** Headers whose values come from functions, beside the credentials of a vendor. */
import type { AuthHeaders, Credentials, Refusal, UnsignedRequest } from './contract.ts'
import { TokenCache, type KeySource } from './token.ts'

/** Headers of every request by name: a text, or a function that returns it as one for a key does, also with its end. */
export type VendorHeaders = Readonly<Record<string, string | KeySource>>

/** The fixed headers, and those of functions. */
export function dividedHeaders(headers: VendorHeaders): {
  readonly fixed: AuthHeaders
  readonly functions: readonly (readonly [name: string, source: KeySource])[]
} {
  const entries = Object.entries(headers)
  const fixed = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const functions = entries.filter((entry): entry is [string, KeySource] => typeof entry[1] === 'function')
  return { fixed: Object.fromEntries(fixed), functions }
}

/** The headers of functions and those of other credentials, if there are any. */
export class HeaderFunctions implements Credentials {
  readonly #credentials: Credentials | undefined
  readonly #tokens: readonly TokenCache[]
  readonly #partsOf = new WeakMap<AuthHeaders, readonly AuthHeaders[]>()

  constructor(
    functions: readonly (readonly [name: string, source: KeySource])[],
    credentials: Credentials | undefined,
  ) {
    this.#credentials = credentials
    this.#tokens = functions.map(
      ([name, source]) => new TokenCache(source, (value) => ({ [name.toLowerCase()]: value })),
    )
  }

  async headers(request: UnsignedRequest): Promise<AuthHeaders> {
    const parts = await Promise.all([
      this.#credentials?.headers(request) ?? {},
      ...this.#tokens.map(async (token) => token.headers(request)),
    ])
    const headers: AuthHeaders = Object.assign({}, ...parts)
    this.#partsOf.set(headers, parts)
    return headers
  }

  accepted(headers: AuthHeaders): void {
    this.#credentials?.accepted?.(this.#own(headers))
  }

  refused(headers: AuthHeaders, refusal: Refusal): boolean {
    const parts = this.#partsOf.get(headers) ?? []
    const isRenewed =
      refusal.status === 401 && this.#tokens.map((token, at) => token.discard(parts[at + 1] ?? {})).some(Boolean)
    const earlier = refusal.earlier.map((each) => this.#own(each))
    if (this.#credentials?.refused?.(this.#own(headers), { ...refusal, earlier }) === true) return true
    return isRenewed && earlier.length === 0
  }

  /** Those of the other credentials. */
  #own(headers: AuthHeaders): AuthHeaders {
    return this.#partsOf.get(headers)?.[0] ?? headers
  }
}
