/** True upper bounds of what a request uses, for callers whose money or tokens are capped. */
import type { BillingOptions, CostBounds } from '../money/options.ts'
import type { Price } from '../money/prices/price.ts'
import { countedNames } from '../wire/units.ts'
import { refusedValue } from '../errors.ts'
import type { CallerCap } from './caps.ts'
import { pricesOf, unstatedLength } from './highest-cost.ts'
import type { Estimate, EstimatedRequest } from './estimate.ts'
import type { Field } from './output-length.ts'
import { isObject, mediaIn, type Media, type MediaKind } from './media.ts'
import { imageTokens } from './vendor-tokens.ts'
import { runsVendorTools, statedToolCalls } from './vendor-tools.ts'

/** A request whose use is bounded. */
export interface BoundedRequest {
  readonly estimate: Estimate & { readonly outputTokens: number }
  /** Upper bound of all tokens. */
  readonly tokens: number
  /** The token limit per choice that must be sent to the vendor; undefined if the request states one. */
  readonly cap: number | undefined
  /** The options by which the cost is computed. */
  readonly options: Partial<BillingOptions>
}

/** Whether caps need a bound of money or tokens. */
export function needsBound(caps: readonly CallerCap[]): boolean {
  return caps.some(({ rule: { measures } }) => measures.includes('money') || measures.includes('tokens'))
}

/** Throws a 400 that names the part of the request whose cost cannot be bounded. */
export function boundedBy(
  caps: readonly CallerCap[],
  request: EstimatedRequest,
  options: Partial<BillingOptions>,
): BoundedRequest {
  const { estimate, makes, model } = request
  const { bounds = {} } = options
  const prices = pricesOf(model, options).flatMap(({ price }) => price ?? [])
  const counts = caps.some(({ rule: { measures } }) => measures.includes('tokens'))
  const charges = (more: Parameters<Price['bound']>[0]) => prices.some((price) => price.bound(more) > price.bound(free))

  const calls = toolCallsOf(request, options)
  const promptMatters = counts || charges({ ...free, promptTokens: many })
  const mostPromptTokens = promptMatters ? promptOf(request, bounds, calls) : estimate.mostPromptTokens
  const outputMatters = counts || charges({ ...free, outputTokens: many })
  const { cap, outputTokens } = outputMatters ? outputOf(request, options) : { cap: undefined, outputTokens: 0 }
  const seconds =
    makes === 'transcripts' && charges({ ...free, units: { seconds: many } })
      ? (estimate.units.seconds ?? bounds.seconds ?? refuse('file', 'a recording', 'seconds'))
      : undefined
  const counted = countedNames.flatMap((name) =>
    charges({ ...free, units: { [name]: many } })
      ? [[name, estimate.units[name] ?? bounds[name] ?? refuse('model', name, name)]]
      : [],
  )
  const units = { ...estimate.units, ...(seconds !== undefined && { seconds }), ...Object.fromEntries(counted) }
  return {
    estimate: {
      ...estimate,
      mostPromptTokens,
      outputTokens,
      units,
    },
    tokens: mostPromptTokens + outputTokens,
    cap,
    options: calls === 0 ? options : { ...options, defaults: { ...options.defaults, toolCalls: calls } },
  }
}

const many = 1_000_000_000
const free = { promptTokens: 0, outputTokens: 0 }

const optionOf = { image: 'imageTokens', audio: 'audioTokens', file: 'fileTokens' } as const satisfies Record<
  MediaKind,
  keyof CostBounds
>

/** Upper bound of the prompt tokens of all rounds in which the vendor's own tools are called. */
function promptOf(request: EstimatedRequest, bounds: CostBounds, calls: number): number {
  const { estimate, model, order } = request
  const { contextWindow = Infinity } = model
  const { field } = order
  let tokens = estimate.bytes + estimate.added
  for (const media of [...mediaIn(field, order.content?.()), ...uploadedIn(request), ...storedIn(field)]) {
    const most = bounds[optionOf[media.kind]] ?? (media.kind === 'image' ? imageTokens(model) : undefined)
    if (most === undefined && contextWindow === Infinity) refuse(media.param, described(media), optionOf[media.kind])
    tokens += (most ?? contextWindow) - media.bytes
  }
  if (searchesTools(field)) tokens *= (bounds.toolCalls ?? mostToolSearches) + 1
  if (calls > 0 && contextWindow === Infinity) refuse('tools', "the vendor's own tools", 'contextWindow')
  return calls > 0 ? contextWindow * (calls + 1) : Math.max(0, Math.min(tokens, contextWindow))
}

/** Rounds that Anthropic's API makes by itself in one request. */
const mostToolSearches = 10

/** Whether Claude may search among the tools of the request: it reads the prompt again after each search. */
function searchesTools(field: Field): boolean {
  const tools = field('tools')
  return (
    Array.isArray(tools) &&
    tools.some((tool) => String((Object(tool) as { type?: unknown }).type).startsWith('tool_search_tool_'))
  )
}

/** Images that vendors accept in one request. */
const mostImages = 16

/** The files of a form, whose number is known only once it has arrived. */
function uploadedIn({ order: { form }, makes }: EstimatedRequest): readonly Media[] {
  if (form === undefined) return []
  if (makes === 'transcripts') return [{ kind: 'audio', param: 'file', bytes: 0 }]
  return Array.from({ length: mostImages }, () => ({ kind: 'image', param: 'image', bytes: 0 }))
}

/** Fields that add to the prompt what the vendor has stored, if they are objects or names. */
const stored = ['cached_content', 'extra_body', 'prompt'] as const

function storedIn(field: Field): readonly Media[] {
  const isGiven = (name: (typeof stored)[number]) =>
    name === 'cached_content' ? typeof field(name) === 'string' : isObject(field(name)) && !Array.isArray(field(name))
  return stored.filter(isGiven).map((param) => ({ kind: 'file', param, bytes: 0 }))
}

function described({ kind }: Media): string {
  return kind === 'image' ? 'an image' : kind === 'audio' ? 'audio' : 'a file'
}

/** Upper bound of the tokens of all choices. */
function outputOf({ estimate, model, makes }: EstimatedRequest, options: Partial<BillingOptions>) {
  const { writes, outputTokens, choices } = estimate
  if (writes && outputTokens !== undefined) return { cap: undefined, outputTokens }
  if (writes) {
    const cap = Math.max(1, unstatedLength(model, options.defaults))
    return { cap, outputTokens: cap * choices }
  }
  if (makes === 'vectors' || makes === undefined) return { cap: undefined, outputTokens: 0 }
  const most = model.maxOutputTokens ?? refuse('model', 'the answer of this model', 'maxOutputTokens')
  return { cap: undefined, outputTokens: most * choices }
}

/** Upper bound of the calls of the vendor's own tools. */
function toolCallsOf(request: EstimatedRequest, options: Partial<BillingOptions>): number {
  const { model, order } = request
  const running = pricesOf(model, options).filter(({ set }) => runsVendorTools(request, set))
  if (running.length === 0) return 0
  const most = running.map(({ set }) => statedToolCalls(order.field, set))
  const stated = most.every((each) => each !== undefined) ? Math.max(...most) : undefined
  return stated ?? options.bounds?.toolCalls ?? refuse('tools', "the vendor's own tools", 'toolCalls')
}

/** `option`: the option with which the host bounds it. */
function refuse(param: string, what: string, option: keyof CostBounds | 'contextWindow' | 'maxOutputTokens'): never {
  const place = option === 'contextWindow' || option === 'maxOutputTokens' ? 'the model' : 'billing.bounds'
  throw refusedValue(
    `The use of this caller is capped, and the cost of ${what} ("${param}") cannot be bounded in advance. Remove it, or use another model.`,
    param,
    new TypeError(`Set "${option}" of ${place} to allow it.`),
  )
}
