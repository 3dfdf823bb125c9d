import type { Exchange } from '../../../src/http/exchange.ts'
import type { Sealing } from '../../../src/records/sealing.ts'
import { cookieOf } from '../cookies.ts'

/** Whether browsers keep a cookie: they drop longer ones, silently. */
export const isKept = (header: string): boolean => header.length <= 4_000

/** A value that the browser keeps and can neither read nor change. */
export class SealedCookie<T> {
  readonly #name: string
  readonly #sealing: Sealing
  readonly #boundTo: readonly string[]
  readonly #rules: string

  /** `url`: the cookie is sent to it and what is below it. `boundTo`: a value for anything else does not open. */
  constructor(name: string, sealing: Sealing, url: URL, boundTo: readonly string[]) {
    this.#name = name
    this.#sealing = sealing
    this.#boundTo = [name, ...boundTo]
    this.#rules = `Path=${url.pathname}; HttpOnly; SameSite=Lax${url.protocol === 'https:' ? '; Secure' : ''}`
  }

  /** Undefined without a valid one, and from the end of its time on. */
  read(exchange: Exchange): T | undefined {
    const sealed = cookieOf(exchange, this.#name)
    if (!sealed) return undefined
    try {
      const { value, until } = JSON.parse(this.#sealing.open(sealed, this.#boundTo)) as { value: T; until: number }
      return Date.now() < until ? value : undefined
    } catch {
      // Of another secret, or from somebody else: as good as none.
      return undefined
    }
  }

  /** The header that sets it. */
  set(value: T, ms: number): string {
    const sealed = this.#sealing.seal(JSON.stringify({ value, until: Date.now() + ms }), this.#boundTo)
    return `${this.#name}=${sealed}; Max-Age=${Math.ceil(ms / 1_000)}; ${this.#rules}`
  }

  /** The header that deletes it. */
  clear(): string {
    return `${this.#name}=; Max-Age=0; ${this.#rules}`
  }
}
