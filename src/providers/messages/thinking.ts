/** Requests without thinking. */
import type { Call } from '../contract.ts'
import type { MessageRequest } from '../../wire/messages.ts'

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
