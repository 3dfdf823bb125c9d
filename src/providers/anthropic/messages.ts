/** Translates a conversation to `system` and `messages` of the Messages API. */
import type { Call } from '../contract.ts'
import { CallIds } from '../reading/call-ids.ts'
import type { AssistantTurn, Turn, UserTurn } from '../reading/messages.ts'
import type { MediaPart, Part, TextPart } from '../reading/parts.ts'
import { unsupported, unsupportedValue } from '../unsupported.ts'
import { formatOf, isThinking, restoreBlocks, type Block } from './block-order.ts'
import { isRecord } from '../../wire/json.ts'

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

type Named = Pick<Call<unknown>, 'publicModel' | 'model'>

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export interface AnthropicConversation {
  readonly system?: string | readonly Block[]
  readonly messages: readonly Message[]
}

/**
 * Moves all instructions to `system`. Adjacent messages of one role become one, with tool results first, because they must
 * directly follow their calls. Blank text, and thinking at the end of a message, are dropped, because the API rejects them.
 * Without `keepsThinking`, all thinking is dropped.
 */
export function conversationOf(
  turns: readonly Turn[],
  call: Named,
  keepsThinking: boolean = true,
): AnthropicConversation {
  const format = keepsThinking ? formatOf(call.model) : undefined
  const system = turns
    .flatMap((turn) => (turn.role === 'system' ? turn.parts : []))
    .filter((part) => !isBlank(part.text))
  const others = turns.filter((turn) => turn.role !== 'system')
  const ids = new CallIds()
  const messages: { role: Message['role']; content: Block[] }[] = []
  others.forEach((turn, index) => {
    const role = turn.role === 'assistant' ? 'assistant' : 'user'
    const blocks = blocksOf(turn, ids, call, format, index === others.length - 1).filter(
      (block) => !isBlank(block['text']),
    )
    if (blocks.length === 0) return
    if (role === 'user') withoutLastThinking(messages)
    const before = messages.at(-1)
    if (before?.role === role) before.content.push(...blocks)
    else messages.push({ role, content: blocks })
  })
  withoutLastThinking(messages)
  // A request with only instructions is valid, but `messages` must not be empty.
  if (messages.length === 0 && system.length > 0)
    return { messages: [{ role: 'user', content: system.map(textBlock) }] }
  return { ...(system.length > 0 && { system: systemOf(system) }), messages: messages.map(resultsFirst) }
}

function systemOf(parts: readonly TextPart[]): string | Block[] {
  const blocks = parts.map(textBlock)
  if (blocks.some((block) => block['cache_control'] !== undefined)) return blocks
  return parts.map(({ text }) => text).join('\n\n')
}

/** Removes thinking at the end of the last message, if it is the assistant's, and the message if nothing else remains. */
function withoutLastThinking(messages: { role: Message['role']; content: Block[] }[]): void {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return
  last.content.length = last.content.findLastIndex((block) => !isThinking(block)) + 1
  if (last.content.length === 0) messages.pop()
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}

function resultsFirst(message: Message): Message {
  if (message.role === 'assistant') return message
  const results = message.content.filter(({ type }) => type === 'tool_result')
  return { role: 'user', content: [...results, ...message.content.filter(({ type }) => type !== 'tool_result')] }
}

function blocksOf(turn: Turn, ids: CallIds, call: Named, format: string | undefined, last: boolean): Block[] {
  switch (turn.role) {
    case 'assistant':
      return assistantBlocks(turn, ids, last, format)
    case 'tool': {
      const parts = turn.parts.filter((part) => part.kind !== 'text' || !isBlank(part.text))
      const content = parts.map((part) => blockOf(part, call))
      const [only] = parts
      const plain = parts.length === 1 && only?.kind === 'text' && only.raw['cache_control'] === undefined
      return [{ type: 'tool_result', tool_use_id: ids.find(turn.callId), content: plain ? only.text : content }]
    }
    default:
      return (turn as UserTurn).parts.map((part) => blockOf(part, call))
  }
}

/** An assistant message at the end is to be continued by the model. The API rejects white space at its end. */
function assistantBlocks(
  { parts, calls, raw }: AssistantTurn,
  ids: CallIds,
  last: boolean,
  format: string | undefined,
): Block[] {
  const uses = calls.map(({ id, name, input }) => ({ type: 'tool_use', id: ids.add(id), name, input }))
  const blocks = restoreBlocks(parts.map(textBlock), uses, raw['reasoning_details'], format)
  const end = blocks.at(-1)
  if (!last || end?.type !== 'text') return blocks
  return [...blocks.slice(0, -1), { ...end, text: String(end['text']).trimEnd() }]
}

function blockOf(part: Part, call: Named): Block {
  if (part.kind === 'text') return textBlock(part)
  if (part.kind === 'audio') throw unsupported(call, part.param)
  return { ...(part.kind === 'image' ? imageBlock(part, call) : documentBlock(part, call)), ...cacheControlOf(part) }
}

function textBlock(part: TextPart): Block {
  return { type: 'text', text: part.text, ...cacheControlOf(part) }
}

/** The cache marker of a part: Anthropic's, or OpenAI's translated. */
function cacheControlOf({ raw }: Part): { cache_control?: unknown } {
  if (isRecord(raw['cache_control'])) return { cache_control: raw['cache_control'] }
  return isRecord(raw['prompt_cache_breakpoint']) ? { cache_control: { type: 'ephemeral' } } : {}
}

function imageBlock({ source, param }: MediaPart, call: Named): Block {
  if ('fileId' in source) throw unsupported(call, param)
  if ('url' in source) return { type: 'image', source: { type: 'url', url: source.url } }
  const { mediaType, base64 } = source
  if (!imageTypes.has(mediaType)) throw unsupportedValue(call, param, 'images must be jpeg, png, gif or webp.')
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } }
}

function documentBlock({ source, param, filename }: MediaPart, call: Named): Block {
  const title = filename === undefined ? {} : { title: filename }
  if ('fileId' in source) throw unsupported(call, param)
  if ('url' in source) return { type: 'document', source: { type: 'url', url: source.url }, ...title }
  const { mediaType, base64 } = source
  if (mediaType === 'application/pdf') {
    return { type: 'document', source: { type: 'base64', media_type: mediaType, data: base64 }, ...title }
  }
  if (!mediaType.startsWith('text/')) throw unsupportedValue(call, param, 'files must be PDF or text.')
  const data = Buffer.from(base64, 'base64').toString('utf8')
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title }
}
