import type { Message, MessageBlock, MessageEvent } from '../../wire/messages.ts'
import { vendorFault } from '../read-vendor.ts'

/** Splits a message into events, for clients that stream from providers that do not. */
export async function* eventsOfMessage(message: Message): AsyncGenerator<MessageEvent, void, void> {
  try {
    yield* eventsOf(message)
  } catch (error) {
    throw vendorFault(error)
  }
}

function* eventsOf(message: Message): Generator<MessageEvent> {
  const { content, stop_reason, stop_sequence, usage } = message
  yield {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 0 } },
  }
  for (const [index, block] of content.entries()) yield* blockEvents(index, block)
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage }
  yield { type: 'message_stop' }
}

function* blockEvents(index: number, block: MessageBlock): Generator<MessageEvent> {
  const { text, thinking, signature, input } = block
  const type = 'content_block_delta'
  switch (block.type) {
    case 'text':
      yield { type: 'content_block_start', index, content_block: { ...block, text: '' } }
      if (text) yield { type, index, delta: { type: 'text_delta', text } }
      break
    case 'thinking':
      yield { type: 'content_block_start', index, content_block: { ...block, thinking: '', signature: '' } }
      if (thinking) yield { type, index, delta: { type: 'thinking_delta', thinking } }
      if (signature) yield { type, index, delta: { type: 'signature_delta', signature } }
      break
    case 'tool_use':
      yield { type: 'content_block_start', index, content_block: { ...block, input: {} } }
      yield { type, index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input ?? {}) } }
      break
    default:
      yield { type: 'content_block_start', index, content_block: block }
  }
  yield { type: 'content_block_stop', index }
}
