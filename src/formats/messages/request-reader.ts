import type { Block, Conversation, Fields, Tool, Turn } from '../../conversation/conversation.ts'
import { asOwn, ownOf } from '../../conversation/own.ts'
import { type GatewayError, invalid, refusedField } from '../../errors.ts'
import { isRecord, itemsOf } from '../../wire/json.ts'
import type { Asked } from '../format.ts'
import { callable } from '../tools.ts'
import { readBlocks } from './block-reader.ts'
import { ownFields, readOutput, readSettings } from './setting-reader.ts'
import { addedTools, readChoice, readTool, withoutRepeated } from './tool-reader.ts'

/** Work that only Anthropic does. Without it the answer would be another one, so these are not left out. */
const onlyAnthropic = ['mcp_servers', 'container', 'fallbacks', 'thread'] as const

/** Reads the body of `POST /v1/messages`, for another wire. Throws 400 with the place. */
export function readRequest(body: Fields): Conversation {
  for (const name of onlyAnthropic) if (isGiven(body[name])) throw unsupported(name)
  const { messages, system } = body
  if (!Array.isArray(messages)) throw invalid('"messages" must be a list.', 'messages')
  const turns: Turn[] = []
  const instructions = readBlocks(system, { place: 'system' }).filter(isForModel)
  if (instructions.length > 0) turns.push({ role: 'system', blocks: instructions, place: 'system' })
  const tools: Tool[] = itemsOf(body['tools']).map((raw, index) => readTool(raw, `tools[${index}]`))
  for (const [index, raw] of (messages as unknown[]).entries()) addTurns(turns, tools, raw, `messages[${index}]`)
  if (turns.every(({ blocks }) => blocks.every(isBlank))) throw invalid('"messages" must have content.', 'messages')
  const settings = readSettings(body)
  return {
    turns,
    tools: withoutRepeated(tools),
    ...readChoice(body['tool_choice'], tools),
    output: readOutput(body),
    settings,
    own: asOwn('messages', ownFields(body, settings)),
  }
}

function addTurns(turns: Turn[], tools: Tool[], raw: unknown, place: string): void {
  if (!isRecord(raw)) throw invalid(`"${place}" must be an object.`, place)
  const { role, content } = raw
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw invalid(`"${place}.role" must be "user", "assistant" or "system".`, `${place}.role`)
  }
  const where = `${place}.content`
  if (role === 'system' && Array.isArray(content)) tools.push(...addedTools(content, where))
  const blocks = readBlocks(content, { place: where, isAnswer: role === 'assistant' })
  const own = ownOf('messages', raw, turnFields)
  requireOwnIds(blocks)
  if (role !== 'assistant') return void turns.push({ role, blocks, place, own })
  // A summary replaces the turns before it, so it is a turn of the user; what follows it in the message answers that turn.
  for (let at = 0; at < blocks.length;) {
    const isSaid = isSummary(blocks[at] as Block)
    let end = at + 1
    while (end < blocks.length && isSummary(blocks[end] as Block) === isSaid) end++
    turns.push({ role: isSaid ? 'user' : role, blocks: blocks.slice(at, end), place, own })
    at = end
  }
}

const turnFields = new Set(['role', 'content'])

/** Whether a block says nothing to any vendor but its own. */
function isBlank(block: Block): boolean {
  if (block.kind === 'text') return block.text.trim() === ''
  return block.kind === 'reasoning' || (block.kind === 'own' && (block.instead ?? []).every(isBlank))
}

/** Results refer to calls by id. */
function requireOwnIds(blocks: readonly Block[]): void {
  const calls = blocks.filter((block) => block.kind === 'call')
  if (calls.length < 2) return
  const taken = new Set<string>()
  for (const { id, place: where } of calls) {
    if (taken.has(id)) {
      const place = `${where}.id`
      throw invalid(`"${place}" must differ from the ids of the other calls of its turn.`, place)
    }
    taken.add(id)
  }
}

function isSummary(block: Block): boolean {
  return block.kind === 'own' && block.value['type'] === 'compaction'
}

function isForModel(block: Block): boolean {
  return block.kind !== 'text' || !isBillingNote(block.text)
}

/** Claude Code's note for Anthropic's billing changes with every prompt, so other vendors could not use their caches. */
export function isBillingNote(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith('x-anthropic-billing-header:')
}

/**
 * What the client gets of the model's thinking: all that it asks for. One that uses tools gets blocks without text, which
 * carry what the vendor wants back; any other expects text alone.
 */
export function shownReasoning({ settings: { reasoning }, tools }: Conversation): NonNullable<Asked['reasoning']> {
  const isAsked = reasoning?.mode !== undefined && reasoning.mode !== 'off'
  if (isAsked) return reasoning.show === 'hidden' ? 'hidden' : 'shown'
  return tools.some((tool) => callable(tool) !== undefined) ? 'hidden' : 'none'
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

function unsupported(param: string): GatewayError {
  const message = `This model does not support "${param}". Leave it out, or use a model of Anthropic.`
  return refusedField(message, param)
}
