/** `modelhatch/oidc`: a sign-in for the console by an OpenID provider, for hosts without one of their own. */
import { GatewayError } from '../../../src/errors.ts'
import { identify, type Identity } from '../../../src/admin/api/identity.ts'
import { jsonReply } from '../../../src/http/answers.ts'
import { pathOf, queryOf } from '../../../src/http/target.ts'
import type { Exchange, Reply } from '../../../src/index.ts'
import { Sealing } from '../../../src/records/sealing.ts'
import { redirectReply } from '../notice.ts'
import type { SignIn } from '../sign-in.ts'
import { expiredReply, failureReply, isExpected, signedOutReply, strangerReply } from './failures.ts'
import { Issuer, type Flow } from './issuer.ts'
import { checkOidcOptions, type OidcOptions } from './options.ts'
import { isKept, SealedCookie } from './sealed-cookie.ts'

export type { SignIn } from '../sign-in.ts'
export type { Claims } from './issuer.ts'
export type { OidcOptions } from './options.ts'

/** Milliseconds in which a sign-in at the issuer must end. */
const flowMs = 600_000
/** Several pages of a browser can be at the issuer at the same time. */
const mostFlows = 4

interface Session {
  readonly identity: Identity
  /** For the end of the session at the issuer; absent if the cookie is too small for it. */
  readonly idToken?: string
}

/**
 * A sign-in for the console by an OpenID provider, such as Entra ID, Google, Okta or Keycloak. Needs the package `openid-client`,
 * which is loaded with the first sign-in. Throws a `TypeError` for invalid options.
 *
 * @example
 * ```ts
 * const signIn = signInByOidc({
 *   url: 'https://api.example.com/console/',
 *   issuer: 'https://login.example.com',
 *   clientId: 'console',
 *   clientSecret,
 *   secrets: [sessionSecret],
 *   identify: ({ email, groups }) => (isOperator(groups) ? { role: 'admin', name: email } : undefined),
 * })
 * app.use('/console', mount(createConsole(gateway, { authorize: signIn.authorize, signIn, hosts: ['api.example.com'] })))
 * ```
 */
export function signInByOidc(options: OidcOptions): SignIn {
  checkOidcOptions(options)
  const visits = new OidcVisits(options)
  return {
    page: 'sign-in',
    authorize: (exchange) => visits.session.read(exchange)?.identity,
    visit: (exchange) => visits.visit(exchange),
    signOut: (exchange) => visits.signOut(exchange),
  }
}

class OidcVisits {
  readonly session: SealedCookie<Session>
  readonly #flows: SealedCookie<readonly Flow[]>
  readonly #issuer: Issuer
  readonly #options: OidcOptions
  /** Of the console, with a slash at its end. */
  readonly #url: URL

  constructor(options: OidcOptions) {
    const { url, issuer, clientId, clientSecret, secrets } = options
    this.#options = options
    this.#url = new URL(url.endsWith('/') ? url : `${url}/`)
    const place = new URL('sign-in', this.#url)
    const sealing = new Sealing(secrets, { use: 'console sessions', option: 'secrets' })
    this.session = new SealedCookie('modelhatch_session', sealing, this.#url, [issuer, clientId])
    this.#flows = new SealedCookie('modelhatch_sign_in', sealing, place, [issuer, clientId])
    const { scope = 'openid profile email', parameters = {} } = options
    this.#issuer = new Issuer({ issuer, clientId, clientSecret, scope, parameters, redirectUrl: place.href })
  }

  async visit(exchange: Exchange): Promise<Reply> {
    const query = queryOf(exchange.target)
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw new GatewayError('method_not_allowed')
    if (pathOf(exchange.target) !== '/sign-in') {
      // Signed in, and still nobody: the host's `authorize` has its own opinion, and another round would end here again.
      return this.session.read(exchange) ? strangerReply() : redirectReply(new URL('sign-in', this.#url).href)
    }
    try {
      return query.has('state') ? await this.#finish(exchange, query) : await this.#begin(exchange, query.has('again'))
    } catch (error) {
      if (!isExpected(error)) this.#options.onError?.(error)
      return failureReply(error, new URL(this.#options.issuer).host)
    }
  }

  async signOut(exchange: Exchange): Promise<Reply> {
    const session = this.session.read(exchange)
    if (exchange.method !== 'POST') return session ? redirectReply('./') : signedOutReply()
    const after = new URL('sign-out', this.#url).href
    // Whoever cannot reach the issuer still signs out here.
    const ending = await this.#issuer.endSession(after, session?.idToken).catch((error: unknown) => {
      this.#options.onError?.(error)
    })
    const { status, headers, body } = jsonReply({ url: ending ?? after })
    return { status, headers: { ...headers, 'cache-control': 'no-store', 'set-cookie': this.session.clear() }, body }
  }

  async #begin(exchange: Exchange, again: boolean): Promise<Reply> {
    const { flow, url } = await this.#issuer.begin(again)
    const flows = [...(this.#flows.read(exchange) ?? []), flow].slice(-mostFlows)
    return redirectReply(url, { 'set-cookie': this.#flows.set(flows, flowMs) })
  }

  async #finish(exchange: Exchange, query: URLSearchParams): Promise<Reply> {
    const flow = this.#flows.read(exchange)?.find(({ state }) => state === query.get('state'))
    if (flow === undefined) return expiredReply()
    const { claims, idToken } = await this.#issuer.finish(query, flow)
    const identity = await identify(() => this.#options.identify(claims), exchange, 'identify()')
    if (identity === undefined) return strangerReply()
    const { sessionMs = 8 * 3_600_000 } = this.#options
    const set = [{ identity, idToken }, { identity }]
      .map((session) => this.session.set(session, sessionMs))
      .find(isKept)
    if (set === undefined) throw new Error('signInByOidc: what "identify" returns is too long for a cookie')
    return redirectReply(this.#url.href, { 'set-cookie': set })
  }
}
