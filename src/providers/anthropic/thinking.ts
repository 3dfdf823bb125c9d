/** How hard the model thinks, and how what it thought comes back to it on the next turn. */
import { isRecord } from '../reading/parts.ts'
import type { Effort } from '../reading/settings.ts'
import type { ClaudeTraits } from './models.ts'

/** Parts of a request: `effort` belongs into `output_config`. */
export interface ThinkingOrder {
  readonly thinking?: Readonly<Record<string, unknown>>
  readonly effort?: string
}

/** Tokens of a budget, as a part of the limit. */
const parts = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9, max: 0.95 }
const leastBudget = 1_024

/** `reasoning_effort` in the words of the model; undefined where it cannot think at all. */
export function thinkingFor(effort: Effort, traits: ClaudeTraits, maxTokens: number): ThinkingOrder | undefined {
  if (effort === 'none') {
    if (traits.leastThinking === 'low') return { effort: 'low' }
    return traits.thinking === 'none' ? {} : { thinking: { type: traits.leastThinking } }
  }
  if (traits.thinking === 'none') return undefined
  if (traits.thinking === 'adapts') {
    return { thinking: { type: 'adaptive', display: 'summarized' }, effort: effortOf(effort, traits) }
  }
  // The budget is a part of the limit and has a least size; below it there is no room to think.
  if (maxTokens <= leastBudget) return {}
  const budget = Math.max(leastBudget, Math.round(maxTokens * parts[effort]))
  return { thinking: { type: 'enabled', budget_tokens: Math.min(budget, maxTokens - 1) } }
}

function effortOf(effort: Exclude<Effort, 'none'>, { efforts }: ClaudeTraits): string {
  if (effort === 'minimal') return 'low'
  if (effort === 'xhigh') return efforts.includes('xhigh') ? 'xhigh' : (efforts[0] ?? 'high')
  if (effort === 'max') return efforts.includes('max') ? 'max' : 'high'
  return effort
}

/**
 * A thinking block on its way through the client, in the field `reasoning_details` of the assistant message. The shape
 * is OpenRouter's, which clients know to send back untouched. `after` counts the blocks of the answer in front of it.
 */
export interface ReasoningDetail {
  readonly type: 'reasoning.text' | 'reasoning.encrypted'
  readonly text?: string
  readonly signature?: string
  readonly data?: string
  readonly format: typeof format
  readonly index: number
  readonly after?: number
}

const format = 'anthropic-claude-v1'

export function detailOf(block: Readonly<Record<string, unknown>>, index: number, after: number): ReasoningDetail {
  const place = { format, index, ...(after > 0 && { after }) } as const
  if (block['type'] === 'redacted_thinking') {
    return { type: 'reasoning.encrypted', data: String(block['data']), ...place }
  }
  return { type: 'reasoning.text', text: String(block['thinking']), signature: String(block['signature']), ...place }
}

/** A content block of the Messages API. */
export interface Block {
  readonly type: string
  readonly [field: string]: unknown
}

/** Blocks with the thinking put back between them. What another vendor's model thought is not ours to show. */
export function withThinking(blocks: readonly Block[], details: unknown): Block[] {
  if (!Array.isArray(details)) return [...blocks]
  const thought = Map.groupBy(details.filter(isOurs), ({ after }) =>
    typeof after === 'number' ? Math.min(after, blocks.length) : 0,
  )
  const before = (at: number) => (thought.get(at) ?? []).flatMap(thinkingBlock)
  return [...blocks.flatMap((block, at) => [...before(at), block]), ...before(blocks.length)]
}

function isOurs(detail: unknown): detail is Record<string, unknown> {
  return isRecord(detail) && detail['format'] === format
}

function thinkingBlock({ type, text, signature, data }: Record<string, unknown>): Block[] {
  if (type === 'reasoning.encrypted' && typeof data === 'string') return [{ type: 'redacted_thinking', data }]
  if (type !== 'reasoning.text' || typeof signature !== 'string' || signature === '') return []
  return [{ type: 'thinking', thinking: typeof text === 'string' ? text : '', signature }]
}
