import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Authorize } from '../../src/admin/api/index.ts'
import { pathOf, queryOf } from '../../src/http/target.ts'
import type { Exchange, Reply } from '../../src/index.ts'
import { cookieOf } from './cookies.ts'
import { noticeReply, redirectReply } from './notice.ts'

const cookie = 'modelhatch_console'

/** A sign-in that the console serves itself: `signInByLink()`, or `signInByOidc()` of `modelhatch/oidc`. */
export interface SignIn {
  /** Recognises a browser that has signed in: for the option `authorize` of `createConsole`. */
  readonly authorize: Authorize
  /** Where a page leads whose session has ended, relative to the document. Absent: nowhere. */
  readonly page?: string
  /** Answers a visitor for whom `authorize` returns nothing: of the console itself, and of `sign-in` below it. */
  readonly visit: (exchange: Exchange) => Promise<Reply> | Reply
  /** Answers requests of `sign-out` below the console: a `POST` ends the session. Absent: nobody signs out. */
  readonly signOut?: (exchange: Exchange) => Promise<Reply> | Reply
}

/** A sign-in of one operator by a link that works once, from `signInByLink`. */
export interface SignInLink extends SignIn {
  /** What the link adds to the URL of the console: `sign-in?token=…`. It works for one visit. */
  readonly link: string
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
    authorize(exchange) {
      const sent = cookieOf(exchange, cookie)
      return sent !== undefined && isSame(sent, session) ? { role: 'admin' } : undefined
    },
    visit(exchange) {
      if (pathOf(exchange.target) !== '/sign-in') return noticeReply(404, 'You are not signed in', linkHint)
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
const linkHint =
  'The server prints a link to this console when it starts. It works once, and for one browser: restart the server for a new one.'

function isSame(given: string, expected: string): boolean {
  const [left, right] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(left as Buffer, right as Buffer)
}
