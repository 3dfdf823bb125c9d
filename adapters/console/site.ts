import { identify } from '../../src/admin/api/identity.ts'
import { adminApi, type AdminApiOptions } from '../../src/admin/api/index.ts'
import { requireHost, requireOwnOrigin } from '../../src/admin/api/origin.ts'
import { refused } from '../../src/admin/api/replies.ts'
import { GatewayError } from '../../src/errors.ts'
import { redirected } from '../../src/http/exchange.ts'
import { requestId } from '../../src/http/request-id.ts'
import { pathOf } from '../../src/http/target.ts'
import type { Exchange, Gateway, Mountable, Reply } from '../../src/index.ts'
import { assetReply, type Assets } from './assets.ts'
import { documentReply, type DocumentOptions } from './document.ts'
import { noticeReply, redirectReply } from './notice.ts'
import { setupReply } from './setup.ts'

/**
 * The paths of the console: the document at `/`, its files below `/assets`, what developers paste at `/setup`, the admin API
 * below `/api`, and below `/gateway` the gateway itself for the playground, wherever else the host has mounted it.
 */
export class Site implements Mountable {
  readonly #gateway: Gateway
  readonly #api: Mountable
  readonly #options: AdminApiOptions
  readonly #document: DocumentOptions
  readonly #load: () => Promise<Assets>
  #assets: Promise<Assets> | undefined

  constructor(gateway: Gateway, options: AdminApiOptions, document: DocumentOptions, load: () => Promise<Assets>) {
    this.#gateway = gateway
    this.#api = adminApi(gateway, options)
    this.#options = options
    this.#document = document
    this.#load = load
  }

  serves(): boolean {
    return true
  }

  async handle(exchange: Exchange): Promise<Reply> {
    const path = pathOf(exchange.target)
    if (path.startsWith('/api/')) return this.#api.handle(below(exchange, '/api'))
    try {
      const { authorize, hosts } = this.#options
      if (path === '/sign-out') return await this.#signOut(exchange)
      if ((await identify(authorize, exchange)) === undefined) return await this.#signIn(exchange, path)
      requireHost(exchange, hosts)
      if (path.startsWith('/gateway/v1/')) {
        // A page of another site must not make calls with the session of a visitor.
        requireOwnOrigin(exchange, hosts)
        return await this.#gateway.handle(below(exchange, '/gateway'))
      }
      if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw new GatewayError('method_not_allowed')
      if (path === '/sign-in') return redirectReply('./')
      if (path === '/setup') return setupReply(exchange)
      return await this.#file(exchange, path)
    } catch (thrown) {
      return refused(requestId(), exchange, thrown, this.#options.onError)
    }
  }

  /** The reply to a visitor without a session. */
  #signIn(exchange: Exchange, path: string): Promise<Reply> | Reply {
    const { signIn } = this.#document
    const isRoot = path === '/' || path === '' || path.startsWith('?')
    if (typeof signIn === 'object' && (isRoot || path === '/sign-in')) return signIn.visit(exchange)
    if (!isRoot) throw new GatewayError('unknown_url')
    return typeof signIn === 'string' ? redirectReply(signIn) : noticeReply(404, 'You are not signed in', hostHint)
  }

  #loaded(): Promise<Assets> {
    return (this.#assets ??= this.#load().catch((error: unknown) => {
      this.#assets = undefined
      throw error
    }))
  }

  async #signOut(exchange: Exchange): Promise<Reply> {
    const { signIn } = this.#document
    if (typeof signIn !== 'object' || signIn.signOut === undefined) throw new GatewayError('unknown_url')
    // A page of another site must not sign anybody out.
    if (exchange.method === 'POST') requireOwnOrigin(exchange, this.#options.hosts)
    return signIn.signOut(exchange)
  }

  async #file(exchange: Exchange, path: string): Promise<Reply> {
    if (path === '' || path.startsWith('?')) return withSlash(exchange)
    if (path === '/') return documentReply(await this.#loaded(), this.#document)
    const [, version = '', file = ''] = /^\/assets\/([^/]+)\/(.+)$/.exec(path) ?? []
    const reply = await assetReply(await this.#loaded(), version, file, exchange)
    if (reply === undefined) throw new GatewayError('unknown_url')
    return reply
  }
}

const hostHint = 'Sign in to the application that this page belongs to, then open it again.'

/** The same exchange with the target below one of the console's paths. */
function below(exchange: Exchange, path: string): Exchange {
  const origin = /^https?:\/\/[^/?#]*/i.exec(exchange.target)?.[0].length ?? 0
  return redirected(exchange, exchange.target.slice(origin + path.length), { fixed: {}, defaults: {} })
}

/**
 * `/console` → `/console/`, as the URLs of the document are relative to the slash. The redirect is relative itself, because
 * only a proxy knows the whole path.
 */
function withSlash({ base = '', target }: Exchange): Reply {
  const last = base.slice(base.lastIndexOf('/') + 1)
  if (last === '') throw new GatewayError('unknown_url')
  return redirectReply(`./${last}/${target}`)
}
