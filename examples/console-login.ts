/** Who may use the console of the quick starts: whoever opens the link that they print, which works once. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Authorize } from 'modelhatch/admin'

const cookie = 'modelhatch_console'

export class ConsoleLogin {
  #token: string | undefined = randomBytes(24).toString('base64url')
  readonly #session = randomBytes(24).toString('base64url')

  /** The path to open in a browser. */
  get link(): string {
    return `/console/sign-in?token=${this.#token ?? ''}`
  }

  /** The value of `set-cookie` for the right token, and of this one only once. */
  exchange(token: unknown): string | undefined {
    if (this.#token === undefined || !isSame(String(token), this.#token)) return undefined
    this.#token = undefined
    return `${cookie}=${this.#session}; Path=/console; HttpOnly; SameSite=Lax`
  }

  readonly authorize: Authorize = ({ headers }) => {
    const pairs = String(headers['cookie'] ?? '').split(/;\s*/)
    const sent = pairs.find((pair) => pair.startsWith(`${cookie}=`))?.slice(cookie.length + 1)
    return sent !== undefined && isSame(sent, this.#session) ? { role: 'admin' } : undefined
  }
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)]
  return left.length === right.length && timingSafeEqual(left, right)
}
