/** What this wire cannot say as it is: all that generateContent cannot, and more. */
import type { Conversation, Settings } from '../../conversation/conversation.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'
import { unsupported, unsupportedValue } from '../../providers/unsupported.ts'
import { clientName } from '../field-names.ts'
import type { ConversationField, Prepared, Target } from '../format.ts'
import { prepare as prepareContent } from '../gemini/prepare.ts'

/** Settings that change the answer and have no counterpart, with the chat's name of each and the value that says nothing. */
const unsaid: readonly (readonly [ConversationField & keyof Settings, string, unknown])[] = [
  ['choices', 'n', 1],
  ['logprobs', 'logprobs', undefined],
  ['frequencyPenalty', 'frequency_penalty', 0],
  ['presencePenalty', 'presence_penalty', 0],
]

/** Throws 400 for what changes the answer and cannot be said. */
export function prepare(asked: Conversation, to: Target<ContentTraits>): Prepared {
  const { settings } = asked
  const { dropParams = [] } = to.traits
  const call = { publicModel: to.model }
  for (const [field, name, otherwise] of unsaid) {
    const value = settings[field]
    if (value === undefined || value === otherwise || dropParams.includes(name)) continue
    throw unsupported(call, clientName(to, field))
  }
  if (settings.modalities?.includes('audio') === true && !dropParams.includes('modalities'))
    throw unsupportedValue(call, clientName(to, 'modalities'), 'it may contain only "text" and "image".')
  return prepareContent(asked, to)
}
