import { pathOf } from '../../src/http/target.ts'
import type { Mountable } from '../../src/index.ts'
import { failedBody } from './failed-body.ts'
import { isMountPath } from './mount-path.ts'
import { answer, requireGateway, type NodeRequest, type NodeResponse } from './exchange.ts'

/** The part of an Express request that `mount` uses. */
export interface ExpressRequest extends NodeRequest {
  /** The request target before Express removed the mount path. */
  readonly originalUrl?: string
}

type Next = (error?: unknown) => void
type Handler = (request: ExpressRequest, response: NodeResponse, next: Next) => void
type ErrorHandler = (error: unknown, request: ExpressRequest, response: NodeResponse, next: Next) => void

/**
 * Mounts a gateway in an Express 4 or 5 app, below any path. Returns two handlers: one serves the gateway's requests, the
 * other turns errors of a body parser before it into the gateway's error format. All other requests and errors are passed
 * on unchanged. Throws a `TypeError` if it is not given a gateway.
 *
 * @example
 * ```ts
 * app.use('/ai', mount(gateway)) // serves /ai/v1/chat/completions and the others
 * ```
 */
export function mount(gateway: Mountable): [Handler, ErrorHandler] {
  requireGateway(gateway, "app.use('/ai', mount(gateway))")
  return [
    (request, response, next) => {
      const target = targetOf(request)
      if (!gateway.serves(target)) return isProbe(request) ? void response.end() : next()
      void answer(gateway, request, response, target)
    },
    (error, request, response, next) => {
      // Some servers, such as middie, call error handlers like ordinary ones: (request, response, next).
      if (typeof next !== 'function') return (response as unknown as Next)()
      const target = targetOf(request)
      const body = failedBody(error)
      if (body === undefined || response.headersSent || !gateway.serves(target)) return next(error)
      void answer(gateway, request, response, target, body)
    },
  ]
}

/** As in `mount-path.ts`; Express has removed the mount path, so that `/` is left of it. */
function isProbe({ method, url = '/', originalUrl = url }: ExpressRequest): boolean {
  return method === 'HEAD' && pathOf(url) === '/' && pathOf(originalUrl) !== '/'
}

/**
 * The request target below the mount path. Express has removed the path from `url`; Express 4 also removes the first of
 * two slashes after it. If the mount path ends in `/v1`, the target gets its `/v1` back.
 */
function targetOf({ url = '/', originalUrl = url }: ExpressRequest): string {
  if (isMountPath(url, originalUrl)) return url.slice(1)
  const mounted = originalUrl.length - url.length
  if (mounted === 0 || !originalUrl.endsWith(url)) return url
  if (originalUrl.charCodeAt(mounted - 1) === 0x2f /* / */) return `/${url}`
  return originalUrl.endsWith('/v1', mounted) ? `/v1${url}` : url
}
