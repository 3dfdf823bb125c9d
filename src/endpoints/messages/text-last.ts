import type { Message } from '../../wire/messages.ts'

/** The message with state that arrived after its last text before it: many clients take the last block for the answer. */
export function withTextLast(message: Message): Message {
  const { content } = message
  const at = content.length - 2
  const [text, state] = content.slice(-2)
  if (text?.type !== 'text' || state?.type !== 'thinking') return message
  return { ...message, content: [...content.slice(0, at), state, text] }
}
