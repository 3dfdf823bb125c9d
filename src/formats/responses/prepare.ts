/** What Responses cannot say as it is. */
import type { Conversation } from '../../conversation/conversation.ts'
import { unsupported } from '../../providers/unsupported.ts'
import { clientName } from '../field-names.ts'
import { preparedWith, type Prepared, type Target } from '../format.ts'
import { longNames } from '../tools.ts'
import type { ResponsesTraits } from './traits.ts'

/** Throws 400 for settings that change the answer and that Responses do not have. */
export function prepare(conversation: Conversation, to: Target<ResponsesTraits>): Prepared {
  const { choices = 1, seed, modalities = [] } = conversation.settings
  const isOther = modalities.some((each) => each !== 'text')
  const field = choices !== 1 ? 'choices' : seed !== undefined ? 'seed' : isOther ? 'modalities' : undefined
  if (field !== undefined) throw unsupported({ publicModel: to.model }, clientName(to, field))
  const names = longNames(conversation)
  return preparedWith(conversation, [names && (() => names)])
}
