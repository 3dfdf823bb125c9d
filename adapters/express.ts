/** `app.use('/ai', mount(gateway))` for Express 4 and 5. */
import type { Gateway, RequestBody } from '../src/index.ts'
import { answer, type NodeRequest, type NodeResponse } from './node.ts'

type Next = (error?: unknown) => void
type Handler = (request: NodeRequest, response: NodeResponse, next: Next) => void
type ErrorHandler = (error: unknown, request: NodeRequest, response: NodeResponse, next: Next) => void

/**
 * Two handlers: one that answers the gateway's requests, and one that turns the failure of a body parser in front of it
 * into an answer the gateway's clients understand. Everything else goes on to the host untouched.
 */
export function mount(gateway: Gateway): [Handler, ErrorHandler] {
  return [
    (request, response, next) => {
      // Express has taken the mount path off `url`.
      const target = request.url ?? '/'
      if (!gateway.serves(target)) return next()
      void answer(gateway, request, response, target)
    },
    (error, request, response, next) => {
      const target = request.url ?? '/'
      const body = failedBody(error)
      if (body === undefined || response.headersSent || !gateway.serves(target)) return next(error)
      void answer(gateway, request, response, target, body)
    },
  ]
}

/** What an error of `body-parser` says of the body, told by its documented types; other errors are the host's. */
function failedBody(error: unknown): RequestBody | undefined {
  const { status, type } = Object(error) as { status?: unknown; type?: unknown }
  if (typeof status !== 'number' || typeof type !== 'string') return undefined
  // Something else had read the stream before the parser came to it.
  if (type.startsWith('stream.')) return { state: 'lost' }
  // The host's own `verify` function has the last word on what it refuses.
  if (type === 'entity.verify.failed') return undefined
  return /^(?:entity|encoding|charset|request|parameters)\./.test(type) ? { state: 'failed', status } : undefined
}
