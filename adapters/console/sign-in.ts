import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Authorize } from '../../src/admin/api/index.ts'
import { queryOf } from '../../src/http/target.ts'
import type { Exchange, Reply } from '../../src/index.ts'
import { noticeReply, redirectReply } from './notice.ts'

const cookie = 'modelhatch_console'

/** A sign-in of one operator by a link that works once, from `signInByLink`. */
export interface SignInLink {
  /** What the link adds to the URL of the console: `sign-in?token=…`. It works for one visit. */
  readonly link: string
  /** Recognises the browser that has opened the link, as the operator. */
  readonly authorize: Authorize
  /** Answers a visit of the link. */
  readonly visit: (exchange: Exchange) => Reply
}

/**
 * A sign-in for programs without a login of their own, such as on a developer's machine. The first browser to open the link has the
 * rights of an operator until the process ends, so print the link where only the operator reads it.
 *
 * @example
 * ```ts
 * const signIn = signInByLink()
 * app.use('/console', mount(createConsole(gateway, { authorize: signIn.authorize, signIn })))
 * console.log(`http://localhost:3000/console/${signIn.link}`)
 * ```
 */
export function signInByLink(): SignInLink {
  const token = randomBytes(24).toString('base64url')
  const session = randomBytes(24).toString('base64url')
  let isUsed = false
  return {
    link: `sign-in?token=${token}`,
    authorize({ headers }) {
      const pairs = String(headers['cookie'] ?? '').split(/;\s*/)
      const sent = pairs.find((pair) => pair.startsWith(`${cookie}=`))?.slice(cookie.length + 1)
      return sent !== undefined && isSame(sent, session) ? { role: 'admin' } : undefined
    },
    visit(exchange) {
      if (isUsed || !isSame(queryOf(exchange.target).get('token') ?? '', token)) {
        return noticeReply(404, 'This link does not work', linkHint)
      }
      isUsed = true
      // Without a path the cookie is for the folder of this URL: the console, wherever it is mounted.
      return redirectReply('./', { 'set-cookie': `${cookie}=${session}; HttpOnly; SameSite=Lax` })
    },
  }
}

/** What to do without a session. */
export const linkHint: string =
  'The server prints a link to this console when it starts. It works once, and for one browser: restart the server for a new one.'

function isSame(given: string, expected: string): boolean {
  const [left, right] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(left as Buffer, right as Buffer)
}
