/** The route table: path → method → endpoint. A `*` matches one segment, or several for names of models. */
import { GatewayError } from '../errors.ts'
import { header, type Exchange } from '../http/exchange.ts'
import { pathOf } from '../http/target.ts'
import { chat } from './chat/chat.ts'
import { completions } from './completions/completions.ts'
import { embeddings } from './embeddings/embeddings.ts'
import type { CallEndpoint, QueryEndpoint } from './endpoint.ts'
import { imageEdits, imageGenerations } from './images/images.ts'
import { countMessageTokens } from './messages/count.ts'
import { messages } from './messages/messages.ts'
import { listModels, retrieveModel } from './models/models.ts'
import { moderations } from './moderations.ts'
import { compactResponse } from './responses/compact.ts'
import { countInputTokens } from './responses/input-tokens.ts'
import { responses } from './responses/responses.ts'
import { cancelResponse, deleteResponse, listInputItems, retrieveResponse } from './responses/stored.ts'
import { videoContent } from './videos/content.ts'
import { createVideo, deleteVideo, listVideos, retrieveVideo, retrieveVideoTask, submitVideo } from './videos/videos.ts'
import { transcriptions } from './transcriptions/transcriptions.ts'

/** Any endpoint. */
// oxlint-disable-next-line typescript/no-explicit-any -- each endpoint has its own types of request and response
export type Endpoint = QueryEndpoint | CallEndpoint<any, any, any>

const table: Readonly<Record<string, Readonly<Record<string, Endpoint>>>> = {
  '/v1/models': { GET: listModels },
  '/v1/models/*': { GET: retrieveModel },
  '/v1/chat/completions': { POST: chat },
  '/v1/completions': { POST: completions },
  '/v1/messages': { POST: messages },
  '/v1/messages/count_tokens': { POST: countMessageTokens },
  '/v1/embeddings': { POST: embeddings },
  '/v1/moderations': { POST: moderations },
  '/v1/responses': { POST: responses },
  '/v1/responses/compact': { POST: compactResponse },
  '/v1/responses/input_tokens': { POST: countInputTokens },
  '/v1/responses/*/input_items': { GET: listInputItems },
  '/v1/responses/*/cancel': { POST: cancelResponse },
  '/v1/responses/*': { GET: retrieveResponse, DELETE: deleteResponse },
  '/v1/images/generations': { POST: imageGenerations },
  '/v1/images/edits': { POST: imageEdits },
  '/v1/audio/transcriptions': { POST: transcriptions },
  '/v1/videos/generations': { POST: submitVideo },
  '/v1/videos/generations/*': { GET: retrieveVideoTask },
  // Aliases that clients of similar services use.
  '/v1/video/generations': { POST: submitVideo },
  '/v1/video/generations/*': { GET: retrieveVideoTask },
  '/v1/videos': { GET: listVideos, POST: createVideo },
  '/v1/videos/*/content': { GET: videoContent },
  '/v1/videos/*': { GET: retrieveVideo, DELETE: deleteVideo },
}

/** The endpoints of a path. */
export interface Route {
  /** By HTTP method. */
  readonly methods: Readonly<Record<string, Endpoint>>
  /** The part of the path that matched `*`; not decoded. */
  readonly rest: string
}

const fixed = new Map(Object.entries(table).filter(([pattern]) => !pattern.includes('*')))
const open = Object.entries(table)
  .filter(([pattern]) => pattern.includes('*'))
  .map(([pattern, methods]) => {
    const [before = '', after = ''] = pattern.split('*')
    return { before, after, methods, isOneSegment: pattern !== '/v1/models/*' }
  })

/** The route for a target. Throws 404, which suggests the correct path for a misspelt one. */
export function routeOf({ method, target }: Pick<Exchange, 'method' | 'target'>): Route {
  const path = pathOf(target)
  const route = findRoute(path)
  if (route !== undefined) return route
  const shown = `${method} ${path.slice(0, longestShown)}`
  const tidy = path.replace(/\/{2,}/g, '/').replace(/^\/v1/i, '/v1')
  const meant = tidy !== path && findRoute(tidy) !== undefined ? `Did you mean "${tidy.slice(0, longestShown)}"?` : ''
  const advice = meant || 'Check the path and the method against the documentation.'
  throw new GatewayError('unknown_url', { message: `Unknown request URL: ${shown}. ${advice}` })
}

/** The most characters of a path that an error message repeats. */
const longestShown = 200

/** The name of the endpoint that a request addresses; undefined if there is none. */
export function nameAt({ method, target }: Pick<Exchange, 'method' | 'target'>): string | undefined {
  const methods = findRoute(pathOf(target))?.methods
  return methods === undefined ? undefined : endpointIn(methods, method)?.name
}

function findRoute(path: string): Route | undefined {
  const methods = fixed.get(path)
  if (methods !== undefined) return { methods, rest: '' }
  for (const { before, after, methods: found, isOneSegment } of open) {
    if (path.length > before.length + after.length && path.startsWith(before) && path.endsWith(after)) {
      const rest = path.slice(before.length, path.length - after.length)
      if (!isOneSegment || !rest.includes('/')) return { methods: found, rest }
    }
  }
  return undefined
}

/** Whether an endpoint calls a model. */
export function isCall(endpoint: Endpoint): endpoint is Exclude<Endpoint, QueryEndpoint> {
  return 'ask' in endpoint
}

/** The endpoint for a request's method. Throws 405 with an `allow` header, or 426 for a WebSocket upgrade. */
export function methodOf(methods: Readonly<Record<string, Endpoint>>, exchange: Exchange): Endpoint {
  const endpoint = endpointIn(methods, exchange.method)
  if (endpoint !== undefined) return endpoint
  if (/\bwebsocket\b/i.test(header(exchange, 'upgrade') ?? '')) throw new GatewayError('upgrade_required')
  throw new GatewayError('method_not_allowed', { headers: { allow: Object.keys(methods).join(', ') } })
}

/** HEAD is handled as GET; the host omits the body. */
function endpointIn(methods: Readonly<Record<string, Endpoint>>, method: string): Endpoint | undefined {
  const name = method === 'HEAD' ? 'GET' : method
  return Object.hasOwn(methods, name) ? methods[name] : undefined
}
