/** The endpoints, and which of them a request is for. */
import { GatewayError } from '../errors.ts'
import { header, type Exchange } from '../http/exchange.ts'
import { isBelowV1, pathOf } from '../http/target.ts'
import { chat } from './chat/chat.ts'
import { completions } from './completions/completions.ts'
import { cost } from './cost.ts'
import { embeddings } from './embeddings/embeddings.ts'
import { decisions } from './decisions/decisions.ts'
import type { Endpoint, QueryEndpoint } from './endpoint.ts'
import { generateContent, streamGenerateContent } from './gemini/content.ts'
import { countContentTokens } from './gemini/count.ts'
import { batchEmbedContents, embedContent } from './gemini/embed.ts'
import { imageEdits, imageGenerations, imageVariations } from './images/images.ts'
import { countMessageTokens } from './messages/count.ts'
import { messages } from './messages/messages.ts'
import { listContentModels, listModels, retrieveContentModel, retrieveModel } from './models/models.ts'
import { moderations } from './moderations.ts'
import { compactResponse } from './responses/compact.ts'
import {
  createConversation,
  createConversationItems,
  deleteConversation,
  deleteConversationItem,
  listConversationItems,
  retrieveConversation,
  retrieveConversationItem,
  updateConversation,
} from './responses/conversations.ts'
import { countInputTokens } from './responses/input-tokens.ts'
import { responses } from './responses/responses.ts'
import { cancelResponse, deleteResponse, listInputItems, retrieveResponse } from './responses/stored.ts'
import { videoContent } from './videos/content.ts'
import { listVideoModels } from './videos/models.ts'
import { createVideo, deleteVideo, listVideos, retrieveVideo, retrieveVideoTask, submitVideo } from './videos/videos.ts'
import { rerank } from './rerank/rerank.ts'
import { speech } from './speech/speech.ts'
import { transcriptions, translations } from './transcriptions/transcriptions.ts'

/** The gateway's own endpoints. */
export const ownEndpoints: readonly Endpoint[] = [
  listContentModels,
  retrieveContentModel,
  generateContent,
  streamGenerateContent,
  countContentTokens,
  embedContent,
  batchEmbedContents,
  listModels,
  retrieveModel,
  cost,
  chat,
  completions,
  messages,
  countMessageTokens,
  embeddings,
  moderations,
  responses,
  compactResponse,
  countInputTokens,
  listInputItems,
  cancelResponse,
  retrieveResponse,
  deleteResponse,
  createConversation,
  retrieveConversation,
  updateConversation,
  deleteConversation,
  createConversationItems,
  listConversationItems,
  retrieveConversationItem,
  deleteConversationItem,
  imageGenerations,
  imageEdits,
  imageVariations,
  rerank,
  decisions,
  speech,
  transcriptions,
  translations,
  submitVideo,
  retrieveVideoTask,
  listVideoModels,
  listVideos,
  createVideo,
  videoContent,
  retrieveVideo,
  deleteVideo,
]

/** The endpoints of a path. */
export interface Route {
  /** By HTTP method. */
  readonly methods: Readonly<Record<string, Endpoint>>
  /** The part of the path that matched `*`; not decoded. */
  readonly rest: string
}

type Methods = Record<string, Endpoint>

interface OpenPath {
  readonly before: string
  /** Between two segments. */
  readonly within: string | undefined
  readonly after: string
  readonly methods: Methods
  readonly isOneSegment: boolean
}

/** The most characters of a path that an error message repeats. */
const longestShown = 200

/** The route table: path → method → endpoint. A `*` matches one segment, or several for names of models. */
export class Routes {
  readonly #fixed = new Map<string, Methods>()
  readonly #open: readonly OpenPath[]
  /** The paths that `isBelowV1` does not claim. */
  readonly #elsewhere: ReadonlySet<string>

  /** `more`: endpoints of the host. Throws a `TypeError` for one whose place is taken. */
  constructor(more: readonly Endpoint[] = []) {
    const table = new Map<string, Methods>()
    for (const endpoint of [...ownEndpoints, ...more]) {
      for (const path of [endpoint.path].flat()) {
        const methods = table.get(path) ?? {}
        if (Object.hasOwn(methods, endpoint.method)) {
          throw new TypeError(`endpoints: there is already a ${endpoint.method} ${path}`)
        }
        methods[endpoint.method] = endpoint
        table.set(path, methods)
      }
    }
    const open: OpenPath[] = []
    for (const [path, methods] of table) {
      const [before = '', ...rest] = path.split('*')
      const after = rest.pop()
      if (after === undefined) this.#fixed.set(path, methods)
      else open.push({ before, within: rest[0], after, methods, isOneSegment: !path.endsWith('/models/*') })
    }
    this.#elsewhere = new Set([...this.#fixed.keys()].filter((path) => !isBelowV1(path)))
    // The longer path first: `/v1/responses/*/cancel` before `/v1/responses/*`.
    this.#open = open.sort((left, right) => lengthOf(right) - lengthOf(left))
  }

  /** Whether a target is that of an endpoint outside of `/v1`, such as `/v2/rerank`. */
  isElsewhere(target: string): boolean {
    return this.#elsewhere.has(pathOf(target))
  }

  /** The route for a target. Throws 404, which suggests the correct path for a misspelt one. */
  of({ method, target }: Pick<Exchange, 'method' | 'target'>): Route {
    const path = pathOf(target)
    const route = this.#find(path)
    if (route !== undefined) return route
    const shown = `${method} ${path.slice(0, longestShown)}`
    const tidy = path.replace(/\/{2,}/g, '/').replace(/^\/v1/i, '/v1')
    const meant = tidy !== path && this.#find(tidy) !== undefined
    const advice = meant
      ? `Did you mean "${tidy.slice(0, longestShown)}"?`
      : 'Check the path and the method against the documentation.'
    throw new GatewayError('unknown_url', { message: `Unknown request URL: ${shown}. ${advice}` })
  }

  /** The endpoint that calls a model at a target; undefined if there is none. */
  callAt(target: string): Exclude<Endpoint, QueryEndpoint> | undefined {
    const endpoint = endpointIn(this.#find(pathOf(target))?.methods ?? {}, 'POST')
    return endpoint !== undefined && isCall(endpoint) ? endpoint : undefined
  }

  /** The name of the endpoint that a request addresses; undefined if there is none. */
  nameAt({ method, target }: Pick<Exchange, 'method' | 'target'>): string | undefined {
    const methods = this.#find(pathOf(target))?.methods
    return methods === undefined ? undefined : endpointIn(methods, method)?.name
  }

  #find(path: string): Route | undefined {
    const methods = this.#fixed.get(path)
    if (methods !== undefined) return { methods, rest: '' }
    for (const { before, within, after, methods: found, isOneSegment } of this.#open) {
      if (path.length > before.length + after.length && path.startsWith(before) && path.endsWith(after)) {
        const rest = path.slice(before.length, path.length - after.length)
        if (!isOneSegment || areSegments(rest, within)) return { methods: found, rest }
      }
    }
    return undefined
  }
}

/** Whether a part of a path is one segment, or two around `within`. */
function areSegments(rest: string, within: string | undefined): boolean {
  if (within === undefined) return !rest.includes('/')
  const segments = rest.split(within)
  return segments.length === 2 && segments.every((each) => each !== '' && !each.includes('/'))
}

function lengthOf({ before, after }: OpenPath): number {
  return before.length + after.length
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
