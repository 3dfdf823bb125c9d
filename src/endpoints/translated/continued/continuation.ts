/** What the next vendor is asked if one breaks off. */
import type { Conversation, Turn } from '../../../conversation/conversation.ts'
import type { ChatTraits } from '../../../providers/chat-traits.ts'
import type { Fields } from '../../../wire/json.ts'

type Prefill = NonNullable<ChatTraits['prefill']>

/** The conversation with the text so far. `tokens`: what the answer has so far, which its limit no longer allows. */
export function continuing(
  conversation: Conversation,
  text: string,
  tokens: number,
  prefill: Prefill | undefined,
): Conversation {
  const { max } = conversation.settings
  const settings =
    max === undefined ? conversation.settings : { ...conversation.settings, max: Math.max(1, max - tokens) }
  if (text === '') return { ...conversation, settings }
  const said: Turn = { role: 'assistant', blocks: [{ kind: 'text', text }] }
  const asked: readonly Turn[] =
    prefill === undefined ? [{ role: 'user', blocks: [{ kind: 'text', text: instruction(text) }] }] : []
  return { ...conversation, settings, turns: [...conversation.turns, said, ...asked] }
}

/** The chat request whose last message begins the answer. */
export function prefilled(request: Fields, prefill: Prefill): Fields {
  const messages = request['messages'] as readonly Fields[]
  return { ...request, messages: [...messages.slice(0, -1), { ...messages.at(-1), [prefill]: true }] }
}

/** The last words are repeated, so that it is certain where the text goes on, and with which spaces. */
function instruction(text: string): string {
  const end = text.slice(-60)
  const words = end.length < text.length ? end.replace(/^\S*\s(?=.{12})/s, '') : end
  return `Your answer was cut off by a failure of the connection. Write the rest of it. Begin with exactly these last words of it, and go on from there as if nothing had happened, without any remark: ${words}`
}
