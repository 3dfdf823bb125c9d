/** Whole messages. */
import type { Block, Fields } from '../../conversation/conversation.ts'
import { ownOf } from '../../conversation/own.ts'
import type { Answer, Choice } from '../../conversation/parts.ts'
import { GatewayError } from '../../errors.ts'
import { maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { unreadable } from '../../providers/failure.ts'
import { fieldsOf, isRecord, stringOf } from '../../wire/json.ts'
import { usageOfMessage } from '../../wire/message-usage.ts'
import type { Asked, Source } from '../format.ts'
import { mediaText } from '../media.ts'
import { newCallId } from '../tools.ts'
import { readBlocks } from './block-reader.ts'
import { writeBlock, type Reader } from './block-writer.ts'
import { explanationIn, messageFields, readEnd, writeEnd, writeUsage } from './ends.ts'
import { forClient } from './states.ts'
import { toolId } from './tool-id.ts'

/** Reads a message of a vendor. */
export function readAnswer(body: Fields, { maker, failure }: Source): Answer {
  const { id, model, content, usage, error } = body
  if (error || body['type'] === 'error') throw failure(error ?? body)
  if (!Array.isArray(content)) throw unreadable("the vendor's response has no content")
  const end = readEnd(body)
  if (end === undefined) throw unreadable("the vendor's message ended without a stop reason")
  const blocks = blocksIn(content as unknown[], maker)
  const explanation = explanationIn(body)
  if (explanation !== undefined) blocks.push({ kind: 'refusal', text: explanation })
  return {
    id: stringOf(id),
    model: stringOf(model),
    choices: [{ blocks, end }],
    usage: usageOfMessage(fieldsOf(usage)),
    counters: isRecord(usage) ? usage : undefined,
    own: ownOf('messages', body, messageFields),
  }
}

function blocksIn(content: readonly unknown[], maker: string): Block[] {
  try {
    const blocks = readBlocks(content, { place: 'content', maker, isAnswer: true })
    if (blocks.filter((block) => block.kind === 'call').length > maxToolCalls) throw tooMany('tool calls', maxToolCalls)
    return blocks.map((block) => (block.kind === 'call' && block.id === '' ? { ...block, id: newCallId() } : block))
  } catch (error) {
    // What is wrong with a message is not the client's fault.
    throw GatewayError.is(error) && error.status === 400 ? unreadable(error.message) : error
  }
}

/** Writes the message for a client. */
export function writeAnswer(answer: Answer, asked: Asked): Fields {
  const { blocks, end }: Choice = answer.choices[0] ?? { blocks: [] }
  const isRefused = blocks.some(({ kind }) => kind === 'refusal')
  const content: Fields[] = []
  for (const block of blocks) addBlock(content, block, end?.own?.messages?.['stop_details'] !== undefined, asked)
  const ending = isRefused && end?.reason === 'stop' ? { ...end, reason: 'refused' as const } : end
  const { delta, ...own } = answer.own?.messages ?? {}
  return {
    id: asked.id,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content,
    ...writeEnd(
      ending,
      blocks.some(({ kind }) => kind === 'call'),
    ),
    container: null,
    usage: writeUsage(answer),
    ...own,
    // Of a stream: its last event has them apart.
    ...(delta as Fields | undefined),
  }
}

const client: Reader = { model: '', states: forClient, callId: toolId, resultId: toolId, omit: () => {} }

/** `isExplained`: whether the vendor has said beside the content why the model refused. */
function addBlock(content: Fields[], block: Block, isExplained: boolean, { reasoning }: Asked): void {
  const { state } = block
  switch (block.kind) {
    case 'reasoning':
      if (reasoning === 'none') return
      return writeBlock(content, reasoning === 'hidden' ? { ...block, text: '' } : block, client)
    case 'refusal':
      if (isExplained) return
      break
    case 'result':
      return
  }
  const made: Fields[] = []
  if (block.kind === 'media') made.push({ type: 'text', text: mediaText(block) })
  else writeBlock(made, block, client)
  if (made.length === 0) return
  // As a separate thinking block, before the block that needs it.
  if (state !== undefined && block.kind !== 'own' && reasoning !== 'none')
    content.push({ type: 'thinking', thinking: '', signature: forClient(state) ?? '' })
  for (const each of made) content.push(withRequired(each))
}

/** What clients expect in each block of an answer. */
export function withRequired(block: Fields): Fields {
  if (block['type'] === 'text' && block['citations'] === undefined) return { ...block, citations: null }
  if (block['type'] === 'tool_use' && block['caller'] === undefined) return { ...block, caller: { type: 'direct' } }
  return block
}
