/** Requests without thinking. */
import type { Call } from '../contract.ts'
import { messageOf } from '../vendor-error.ts'
import { fieldsOf, textOf } from '../../wire/json.ts'
import type { MessageBlock, MessageParam, MessageRequest } from '../../wire/messages.ts'

/** The changes that switch thinking off, and leave out what needs it. */
export function withoutThinking({ field }: Pick<Call<MessageRequest>, 'field'>): Partial<MessageRequest> {
  const management = fieldsOf(field('context_management'))
  const off = { thinking: { type: 'disabled' } }
  if (!Array.isArray(management['edits'])) return off
  const edits = management['edits'].filter((edit) => !textOf(fieldsOf(edit)['type']).startsWith('clear_thinking'))
  return { ...off, context_management: edits.length === 0 ? undefined : { ...management, edits } }
}

/**
 * Whether a vendor rejects a request because the calls that the model is to continue do not begin with thinking, as those
 * of another vendor's model: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
 * or at DeepSeek: "The `content[].thinking` in the thinking mode must be passed back to the API".
 */
export function expectsThinking(error: unknown): boolean {
  return /Expected .?thinking.? or .?redacted_thinking|content\[\]\.thinking.*passed back/i.test(messageOf(error))
}

/** The changes that take the thinking out of earlier answers, and switch off what would require it. */
export function withoutPastThinking({ field }: Pick<Call<MessageRequest>, 'field'>): Partial<MessageRequest> {
  const messages = (field('messages') as readonly MessageParam[])
    .map((message) =>
      typeof message.content === 'string' ? message : { ...message, content: message.content.filter(isNoThinking) },
    )
    .filter(({ content }) => content.length > 0)
  const isEnabled = fieldsOf(field('thinking'))['type'] === 'enabled'
  const first = fieldsOf(messages.at(-1)?.content.at(0))
  return isEnabled && first['type'] === 'tool_result' ? { ...withoutThinking({ field }), messages } : { messages }
}

function isNoThinking({ type }: MessageBlock): boolean {
  return type !== 'thinking' && type !== 'redacted_thinking'
}

/** Whether an error is about a thinking block, as in "messages.1.content.0: Invalid `signature` in `thinking` block". */
export function rejectsThinking(error: unknown): boolean {
  const message = messageOf(error)
  return /\bmessages\.\d/.test(message) && /thinking|signature/i.test(message)
}
