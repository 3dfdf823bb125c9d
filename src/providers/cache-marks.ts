/** Marks that tell a vendor which beginnings of a prompt to cache, for requests whose client sent none. */
import { estimateTokens } from '../wire/counts.ts'
import { isRecord } from '../wire/json.ts'
import type { Call } from './call.ts'

/** Whether a provider marks what to cache: `auto`, if the client marked nothing. */
export type PromptCache = 'auto' | 'none'

/** What to mark, and how the wire format says it. */
export interface Marking {
  readonly promptCache: PromptCache | undefined
  /** The vendor's name for the model. */
  readonly model: string
  /** Where instructions are: in a field of their own, or in the first messages. */
  readonly instructions: 'system' | 'messages'
  /** Whether the vendor marks the last turn itself, for a `cache_control` of the whole request: the turns need no parsing. */
  readonly automatic: boolean
  /** Default: those of the request. */
  readonly messages?: unknown
}

type Fields = Record<string, unknown>

/** Five minutes, the cheaper of the two lives. */
const mark = { type: 'ephemeral' }

/** Tokens below which a model caches nothing. Sources: Anthropic's, Alibaba's and MiniMax' pages on prompt caching. */
const minima: readonly (readonly [RegExp, number])[] = [
  [/(?:opus-4-[56]|haiku-4-5)/, 4_096],
  [/(?:opus-4-7|3-haiku|3-5-haiku)/, 2_048],
  [/(?:opus|fable|mythos)-5|minimax/, 512],
]
const usualMinimum = 1_024

/**
 * The fields to change so that the instructions (or the tools) and the last turn are cached. None if the client marked anything
 * itself, or if the prompt is too short to be cached. Without a choice of the host, only a price with rates for cached and
 * written tokens makes it worth it.
 */
export function cacheMarks(call: Call<unknown>, marking: Marking): Fields {
  const { promptCache = call.pricesCache === true ? 'auto' : 'none', model, instructions, automatic } = marking
  if (promptCache === 'none') return {}
  const body = call.json({})
  const least = minimumOf(model)
  if (estimateTokens(body.length) < least) return {}
  if (Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('"cache_control"')) return {}
  const start = instructions === 'system' ? markedStart(call, least) : {}
  if (automatic) return { ...start, cache_control: mark }
  const messages = marking.messages ?? call.field('messages')
  return Array.isArray(messages) ? { ...start, messages: markedTurns(messages, instructions, least) } : start
}

function minimumOf(model: string): number {
  const name = model.toLowerCase().replaceAll('.', '-')
  return minima.find(([pattern]) => pattern.test(name))?.[1] ?? usualMinimum
}

/** Tools stand before the instructions, so a mark on the instructions has both. */
function markedStart({ field }: Call<unknown>, least: number): Fields {
  const [tools, system] = [field('tools'), field('system')]
  if (estimateTokens(JSON.stringify([tools, system]).length) < least) return {}
  const content = withMark(system)
  if (content !== undefined) return { system: content }
  const last: unknown = Array.isArray(tools) ? tools.at(-1) : undefined
  if (!Array.isArray(tools) || !isRecord(last)) return {}
  return { tools: [...(tools as unknown[]).slice(0, -1), { ...last, cache_control: mark }] }
}

function markedTurns(messages: readonly unknown[], instructions: Marking['instructions'], least: number): unknown[] {
  const marked = [...messages]
  const turns = messages.findIndex((each) => !isInstruction(each))
  const start = turns < 0 ? messages.length : turns
  if (instructions === 'messages' && estimateTokens(JSON.stringify(messages.slice(0, start)).length) >= least) {
    markAt(marked, start - 1)
  }
  const last = messages.findLastIndex((each) => isRecord(each) && (each['role'] === 'user' || each['role'] === 'tool'))
  if (last >= start) markAt(marked, last)
  return marked
}

function isInstruction(message: unknown): boolean {
  return isRecord(message) && (message['role'] === 'system' || message['role'] === 'developer')
}

function markAt(messages: unknown[], index: number): void {
  const message = messages[index]
  const content = isRecord(message) ? withMark(message['content']) : undefined
  if (content !== undefined) messages[index] = { ...(message as Fields), content }
}

/** Content with a mark on its last block; undefined if that block cannot have one. */
function withMark(content: unknown): unknown[] | undefined {
  if (typeof content === 'string')
    return content === '' ? undefined : [{ type: 'text', text: content, cache_control: mark }]
  if (!Array.isArray(content)) return undefined
  const last: unknown = content.at(-1)
  if (!isRecord(last) || last['text'] === '' || String(last['type']).includes('thinking')) return undefined
  return [...(content as unknown[]).slice(0, -1), { ...last, cache_control: mark }]
}
