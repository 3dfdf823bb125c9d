/** `modelhatch/health`: what load balancers and orchestrators ask of a process. */
import { pathOf } from '../../src/http/target.ts'
import type { Exchange, Gateway, GatewayHealth, Mountable, Reply } from '../../src/index.ts'
import { checkKnown, flag } from '../../src/records/known-options.ts'

/** Options of `health`. */
export interface HealthOptions {
  /**
   * Whether the response of the readiness check has all of `gateway.health()`: the names of stores, providers and models,
   * error codes and counts. Set it only where strangers cannot ask. Default false.
   */
  readonly details?: boolean
}

type Question = 'ready' | 'alive'

/** What each target asks: the mount path itself, and the usual names below it or at the root. */
const questions: ReadonlyMap<string, Question> = new Map([
  ['', 'ready'],
  ['/healthz', 'ready'],
  ['/readyz', 'ready'],
  ['/livez', 'alive'],
])

/**
 * Answers health checks, for `mount` of any host: at the mount path and at `/readyz` and `/healthz` below it, whether new
 * requests should be sent to this process: 200, or 503 while a required store is unreachable and from the start of
 * `gateway.close()` on. At `/livez` always 200: a process that answers need not be restarted. Needs no key, and asks the stores
 * at most once in five seconds.
 *
 * @example
 * ```ts
 * app.use('/healthz', mount(health(gateway))) // Koa: app.use(mount('/healthz', health(gateway)))
 * ```
 */
export function health(gateway: Pick<Gateway, 'health'>, options: HealthOptions = {}): Mountable {
  if (typeof (gateway as Partial<Gateway> | undefined)?.health !== 'function') {
    throw new TypeError('health: expected health(gateway), where gateway is what createGateway() returned')
  }
  checkKnown('health', options, { details: flag })
  const { details = false } = options
  return {
    serves: (target) => questions.has(pathTo(target)),
    async handle({ method, target }: Pick<Exchange, 'method' | 'target'>) {
      const question = questions.get(pathTo(target))
      if (question === undefined) return reply(404, { status: 'not found' })
      if (method !== 'GET' && method !== 'HEAD')
        return reply(405, { status: 'method not allowed' }, { allow: 'GET, HEAD' })
      if (question === 'alive') return reply(200, { status: 'alive' })
      const state = await gateway.health()
      return reply(state.ready ? 200 : 503, { status: statusOf(state), ...(details && state) })
    },
  }
}

function statusOf({ ready, draining }: GatewayHealth): 'ready' | 'draining' | 'not ready' {
  if (draining) return 'draining'
  return ready ? 'ready' : 'not ready'
}

function reply(status: number, body: object, more?: Readonly<Record<string, string>>): Reply {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...more }
  return { status, headers, body: JSON.stringify(body) }
}

/** The path of a target, which is empty for the mount path itself. */
function pathTo(target: string): string {
  return target === '' || target.startsWith('?') ? '' : pathOf(target)
}
