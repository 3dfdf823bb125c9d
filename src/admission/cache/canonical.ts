/** Which requests have the same answer, and which of them may be answered from a cache. */
import { createHash } from 'node:crypto'
import type { Model } from '../../models/contract.ts'

/** A request, as far as its answer depends on it. */
export interface CachedRequest {
  readonly stream: boolean
  readonly field: (name: string) => unknown
  readonly names: () => Iterable<string>
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined
  readonly form?: unknown
  readonly hasLongNumber?: boolean
  readonly json: (changes: Record<string, unknown>) => Uint8Array
  readonly repeatsWithin?: (name: string) => boolean
}

/** What says who asks, or what is to be kept, and not what is asked. */
const aside: ReadonlySet<string> = new Set([
  'user',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'session_id',
  'store',
])

/** SHA-256 of what the answer depends on. `scope`: who shares the answer, and in which form the client gets it. */
export function canonicalDigest(request: CachedRequest, { id, deployments }: Model, scope: readonly unknown[]): string {
  const names = Array.from(request.names()).filter((name) => !aside.has(name))
  // Parsing may change the digits of a long number.
  const asked =
    request.hasLongNumber === true
      ? Buffer.from(request.json({})).toString('latin1')
      : names.toSorted().map((name) => [name, sorted(request.field(name))])
  const served = deployments.map(({ provider, model }) => [provider.name, model])
  const text = JSON.stringify([scope, id, served, request.stream, request.clientHeaders, asked])
  return createHash('sha256').update(text).digest('hex')
}

/** The same value with its fields in order. Numbers and texts stay as they are. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value).map(([name, each]) => [name, sorted(each)] as const)
  // An object never looks like a list.
  return { of: entries.sort(([left], [right]) => (left < right ? -1 : 1)) }
}

/** Endpoints whose answers can be kept, and whether a request has always the same answer. */
const endpoints: Readonly<Record<string, (request: CachedRequest) => boolean>> = {
  'chat.completions': isFixed,
  completions: isFixed,
  messages: isFixed,
  responses: isFixed,
  'content.generate': ({ field }) => isFixedIn(field('generationConfig') ?? field('generation_config')),
  'content.stream': ({ field }) => isFixedIn(field('generationConfig') ?? field('generation_config')),
  embeddings: () => true,
  moderations: () => true,
  rerank: () => true,
}

/** Whether the answer to a request can be kept. */
export function canKeep(endpoint: string, { field, form, names, repeatsWithin }: CachedRequest): boolean {
  if (form !== undefined || !Object.hasOwn(endpoints, endpoint)) return false
  // Its vendor may read another one of two fields with the same name.
  if (Array.from(names()).some((name) => repeatsWithin?.(name) === true)) return false
  // A response that is stored, or continues one, belongs to its conversation.
  return (
    endpoint !== 'responses' || (field('store') === false && !field('conversation') && !field('previous_response_id'))
  )
}

/** Whether a request has always the same answer, as far as its vendor can promise it. */
export function isDeterministic(endpoint: string, request: CachedRequest): boolean {
  return endpoints[endpoint]?.(request) === true
}

function isFixed({ field }: CachedRequest): boolean {
  return field('temperature') === 0 && runsNothing(field('tools')) && !field('web_search_options')
}

function isFixedIn(config: unknown): boolean {
  return (Object(config) as { temperature?: unknown }).temperature === 0
}

/** What tools of the vendor find changes from time to time. */
function runsNothing(tools: unknown): boolean {
  if (!Array.isArray(tools)) return true
  return tools.every((each) => [undefined, 'function', 'custom'].includes((Object(each) as { type?: string }).type))
}
