/** What a conversation carries of other vendors, on its way to a vendor with Anthropic's Messages API. */
import type { Call } from '../../providers/contract.ts'
import { withoutThinking } from '../../providers/messages/thinking.ts'
import type { MessageBlock, MessageParam, MessageRequest, ThinkingChoice } from '../../wire/messages.ts'
import { bareMaker, isSealed, unseal } from '../../formats/envelope.ts'
import { fieldWithDigits } from '../digits.ts'
import { isBillingNote } from '../../formats/messages/request-reader.ts'

/** The begin of an envelope as JSON. */
const envelope = Buffer.from('"mh1.')

/**
 * The changes that take thinking of other makers out of the conversation, because a vendor rejects what it has not signed.
 * Empty if there is none, which the bytes of the request tell. `maker`: see `thinkingMakerOf`.
 */
export function readableHistory(call: Call<MessageRequest>, maker: string): Partial<MessageRequest> {
  const body = call.json({})
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (maker === bareMaker && !bytes.includes(envelope)) return {}
  const messages = call.field('messages')
  if (!Array.isArray(messages)) return {}
  if (messages.every((message: MessageParam) => readableMessage(message, maker) === message)) return {}
  const given = fieldWithDigits(call, 'messages') as readonly MessageParam[]
  const read = given.map((message) => readableMessage(message, maker))
  const kept = read.filter((message) => message.content.length > 0)
  const changes = { messages: kept }
  const { type } = Object(call.field('thinking')) as Partial<ThinkingChoice>
  return type === 'enabled' && isAmongCalls(given, read) ? { ...changes, ...withoutThinking(call) } : changes
}

/** The changes that take what is for Anthropic alone out of the instructions, because it changes with every prompt. */
export function readableSystem({ field }: Pick<Call<MessageRequest>, 'field'>, maker: string): Partial<MessageRequest> {
  const system = maker === bareMaker ? undefined : field('system')
  if (!Array.isArray(system)) return {}
  const blocks = (system as readonly MessageBlock[]).filter(({ text }) => !isBillingNote(text))
  return blocks.length === system.length ? {} : { system: blocks }
}

function readableMessage(message: MessageParam, maker: string): MessageParam {
  const { role, content } = message
  if (role !== 'assistant' || !Array.isArray(content)) return message
  const blocks = content as readonly MessageBlock[]
  const read = blocks.map((block) => readableBlock(block, maker))
  if (read.every((block, index) => block === blocks[index])) return message
  const kept = read.filter((block) => block !== undefined)
  // A message must not end with thinking.
  return { ...message, content: kept.slice(0, kept.findLastIndex((block) => !isThinking(block)) + 1) }
}

function isThinking({ type }: MessageBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** False for what an envelope of Claude may contain instead: the state of a chat, which is JSON in base64. */
function isSignature(text: string): boolean {
  return text !== '' && !text.startsWith('eyJ')
}

/** Undefined for thinking that the vendor cannot read. */
function readableBlock(block: MessageBlock, maker: string): MessageBlock | undefined {
  const name = block.type === 'redacted_thinking' ? 'data' : 'signature'
  const state = block[name]
  if (!isThinking(block)) return block
  if (!isSealed(state)) return maker === bareMaker || !state ? block : undefined
  const own = unseal(state, maker)
  return own === undefined || (maker === bareMaker && !isSignature(own)) ? undefined : { ...block, [name]: own }
}

/** Whether thinking was taken from the calls of tools that the model is to continue, which must begin with thinking. */
function isAmongCalls(given: readonly MessageParam[], read: readonly MessageParam[]): boolean {
  const asked = given.findLastIndex(
    ({ role, content }) =>
      role === 'user' && (typeof content === 'string' || content.some(({ type }) => type !== 'tool_result')),
  )
  return given.some((message, index) => index > asked && message !== read[index])
}
