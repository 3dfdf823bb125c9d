/** The admin API: the steps of a request. */
import { GatewayError } from '../../errors.ts'
import type { Exchange, Mountable, Reply } from '../../http/exchange.ts'
import { requestId } from '../../http/request-id.ts'
import { queryOf } from '../../http/target.ts'
import { Exports, finished, refused, replyOf } from './replies.ts'
import { groupsOf } from './groups.ts'
import { identify, type Identity } from './identity.ts'
import { readBody, readQuery, requireShort } from './inputs.ts'
import { Paths } from './paths.ts'
import { adminRules, checkAdminOptions, type AdminApiOptions } from './options.ts'
import { requireHost, requireOwnOrigin } from './origin.ts'
import { type AdministeredGateway, type AdminCall, type Route, requireOpen } from './route.ts'
import { routes } from './routes.ts'
import type { Actor } from '../audit/change.ts'
import { isFor, nothing, reach } from './scope.ts'

/**
 * `gateway.admin` over HTTP, as JSON, to be mounted in a server: below its mount path all requests are its own. Throws a
 * `TypeError` for invalid arguments.
 *
 * @example
 * ```ts
 * app.use('/admin', mount(adminApi(gateway, { authorize: ({ host }) => identityOf(host.session) })))
 * ```
 */
export function adminApi(gateway: AdministeredGateway, options: AdminApiOptions): Mountable {
  if (typeof (gateway as Partial<AdministeredGateway> | null | undefined)?.admin !== 'object') {
    throw new TypeError(
      'adminApi: expected adminApi(gateway, { authorize }), where gateway is what createGateway() returned',
    )
  }
  checkAdminOptions('adminApi', options, adminRules)
  return new AdminApi(gateway, options)
}

const paths = new Paths(routes)

class AdminApi implements Mountable {
  readonly #gateway: AdministeredGateway
  readonly #options: AdminApiOptions
  readonly #exports = new Exports()

  constructor(gateway: AdministeredGateway, options: AdminApiOptions) {
    this.#gateway = gateway
    this.#options = options
  }

  serves(): boolean {
    return true
  }

  async handle(exchange: Exchange): Promise<Reply> {
    const id = requestId()
    let identity: Identity | undefined
    try {
      requireOpen(this.#gateway)
      identity = await identify(this.#options.authorize, exchange)
      if (identity === undefined) throw nothing()
      return finished(id, await this.#answer(exchange, identity))
    } catch (thrown) {
      const isHidden = identity?.role === 'account' && GatewayError.is(thrown) && thrown.code === 'not_found'
      return refused(id, exchange, isHidden ? nothing() : thrown, this.#options.onError)
    }
  }

  async #answer(exchange: Exchange, identity: Identity): Promise<Reply> {
    const { hosts } = this.#options
    requireHost(exchange, hosts)
    requireShort(exchange.target)
    const match = paths.match(exchange.target)
    const params = queryOf(exchange.target)
    const named = match?.account === undefined ? params.getAll('account') : [match.account]
    const scope = reach(identity, named)
    const found = (match?.routes ?? []).filter((each) => isFor(identity, each))
    if (found.length === 0) throw nothing()
    const route = routeFor(exchange.method, found)
    const readOnly = this.#options.readOnly === true || identity.readOnly === true
    if (route.method !== 'GET') {
      requireOwnOrigin(exchange, hosts)
      if (readOnly) throw new GatewayError('forbidden', { message: 'Changes are turned off here ("readOnly").' })
    }
    const { account = '', id = '' } = match ?? {}
    const query = readQuery(route.query, params)
    const { admin } = this.#gateway
    const call: AdminCall = {
      admin: route.method === 'GET' && route.isNoted !== true ? admin : admin.by(actorOf(identity, exchange)),
      gateway: this.#gateway,
      scope,
      account,
      id,
      query,
      body: (await readBody(route.body, exchange)) as Record<string, unknown>,
      identity,
      exchange,
      readOnly,
      groups: () => groupsOf(this.#gateway, identity),
    }
    return replyOf(route, call, this.#exports)
  }
}

function routeFor(method: string, found: readonly Route[]): Route {
  const name = method === 'HEAD' ? 'GET' : method
  const route = found.find((each) => each.method === name)
  if (route !== undefined) return route
  const allowed = found.flatMap((each) => (each.method === 'GET' ? ['GET', 'HEAD'] : [each.method]))
  throw new GatewayError('method_not_allowed', { headers: { allow: allowed.join(', ') } })
}

/** Whom the audit log names. */
function actorOf(identity: Identity, { ip }: Exchange): Actor {
  const name = identity.name ?? (identity.role === 'account' ? identity.account : undefined)
  return { ...(name !== undefined && { name }), ...(ip !== undefined && { address: ip }) }
}
