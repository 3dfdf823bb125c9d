/** Requests without thinking. */
import type { Call } from '../contract.ts'
import type { MessageBlock, MessageParam, MessageRequest } from '../../wire/messages.ts'

/** The changes that switch thinking off, and leave out what needs it. */
export function withoutThinking({ field }: Pick<Call<MessageRequest>, 'field'>): Partial<MessageRequest> {
  const management = field('context_management') as { readonly edits?: unknown } | null | undefined
  const off = { thinking: { type: 'disabled' } }
  if (!Array.isArray(management?.edits)) return off
  const edits = (management.edits as readonly { readonly type?: unknown }[]).filter(
    (edit) => !String(Object(edit).type).startsWith('clear_thinking'),
  )
  return { ...off, context_management: edits.length === 0 ? undefined : { ...management, edits } }
}

/**
 * Whether a vendor rejects a request because the calls that the model is to continue do not begin with thinking, as those
 * of another vendor's model: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
 * or at DeepSeek: "The `content[].thinking` in the thinking mode must be passed back to the API".
 */
export function expectsThinking(error: unknown): boolean {
  const { message } = Object(error) as { message?: unknown }
  return (
    typeof message === 'string' &&
    /Expected .?thinking.? or .?redacted_thinking|content\[\]\.thinking.*passed back/i.test(message)
  )
}

/** The changes that take the thinking out of earlier answers, and switch off what would require it. */
export function withoutPastThinking({ field }: Pick<Call<MessageRequest>, 'field'>): Partial<MessageRequest> {
  const messages = (field('messages') as readonly MessageParam[])
    .map((message) =>
      typeof message.content === 'string' ? message : { ...message, content: message.content.filter(isNoThinking) },
    )
    .filter(({ content }) => content.length > 0)
  const { type } = Object(field('thinking')) as { type?: unknown }
  const first = messages.at(-1)?.content.at(0)
  return type === 'enabled' && isResult(first) ? { ...withoutThinking({ field }), messages } : { messages }
}

function isNoThinking({ type }: MessageBlock): boolean {
  return type !== 'thinking' && type !== 'redacted_thinking'
}

function isResult(block: unknown): boolean {
  return (Object(block) as { type?: unknown }).type === 'tool_result'
}

/** Whether an error is about a thinking block, as in "messages.1.content.0: Invalid `signature` in `thinking` block". */
export function rejectsThinking(error: unknown): boolean {
  const { message } = Object(error) as { message?: unknown }
  return typeof message === 'string' && /\bmessages\.\d/.test(message) && /thinking|signature/i.test(message)
}
