/** What this wire cannot say as it is: all that generateContent cannot, and more. */
import type { Conversation } from '../../conversation/conversation.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'
import { unsupportedValue } from '../../providers/unsupported.ts'
import { clientName } from '../field-names.ts'
import { refuseSettings, type Unsaid } from '../chat-only.ts'
import type { Prepared, Target } from '../format.ts'
import { prepare as prepareContent } from '../gemini/prepare.ts'

const unsaid: readonly Unsaid[] = [
  ['choices', 'n', 1],
  ['logprobs', 'logprobs', undefined],
  ['frequencyPenalty', 'frequency_penalty', 0],
  ['presencePenalty', 'presence_penalty', 0],
]

/** Throws 400 for what changes the answer and cannot be said. */
export function prepare(asked: Conversation, to: Target<ContentTraits>): Prepared {
  const { settings } = asked
  const { dropParams = [] } = to.traits
  refuseSettings(asked, to, unsaid)
  if (settings.modalities?.includes('audio') === true && !dropParams.includes('modalities'))
    throw unsupportedValue(
      { publicModel: to.model },
      clientName(to, 'modalities'),
      'it may contain only "text" and "image".',
    )
  return prepareContent(asked, to)
}
