/** `app.use('/ai', mount(gateway))` for Express 4 and 5. */
import type { Gateway } from '../../src/index.ts'
import { failedBody } from './failed-body.ts'
import { answer, requireGateway, type NodeRequest, type NodeResponse } from './node.ts'

/** The part of an Express request that is used. */
export interface ExpressRequest extends NodeRequest {
  /** The target before any mount path was taken off. */
  readonly originalUrl?: string
}

type Next = (error?: unknown) => void
type Handler = (request: ExpressRequest, response: NodeResponse, next: Next) => void
type ErrorHandler = (error: unknown, request: ExpressRequest, response: NodeResponse, next: Next) => void

/**
 * Two handlers: one that answers the gateway's requests, and one that turns the failure of a body parser in front of it
 * into an answer the gateway's clients understand. Everything else goes on to the host untouched.
 */
export function mount(gateway: Gateway): [Handler, ErrorHandler] {
  requireGateway(gateway, "app.use('/ai', mount(gateway))")
  return [
    (request, response, next) => {
      const target = targetOf(request)
      if (!gateway.serves(target)) return next()
      void answer(gateway, request, response, target)
    },
    (error, request, response, next) => {
      // Servers such as middie call every handler as if it were an ordinary one: (request, response, next).
      if (typeof next !== 'function') return (response as unknown as Next)()
      const target = targetOf(request)
      const body = failedBody(error)
      if (body === undefined || response.headersSent || !gateway.serves(target)) return next(error)
      void answer(gateway, request, response, target, body)
    },
  ]
}

/**
 * Express has taken the mount path off `url`, Express 4 also the first of two slashes behind it. A path that was meant
 * with its `/v1` is taken as such.
 */
function targetOf({ url = '/', originalUrl = url }: ExpressRequest): string {
  const mounted = originalUrl.length - url.length
  if (mounted === 0 || !originalUrl.endsWith(url)) return url
  if (originalUrl.charCodeAt(mounted - 1) === 0x2f /* / */) return `/${url}`
  return originalUrl.endsWith('/v1', mounted) ? `/v1${url}` : url
}
