import type { ContentTraits } from '../../providers/content-traits.ts'
import { itemsOf, fieldsOf } from '../../wire/json.ts'
import type { Asking, Prepared, Target } from '../format.ts'
import { InteractionReader, readAnswer } from './event-reader.ts'
import { fieldNames } from './field-names.ts'
import { writeRequest } from './request-writer.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import { unsupportedValue } from '../../providers/unsupported.ts'
import { clientName } from '../field-names.ts'
import { refuseSettings, type Unsaid } from '../chat-only.ts'
import { prepare as prepareContent } from '../gemini/prepare.ts'

/** Google's Interactions API, as vendors are asked: no client speaks it to the gateway. */
export const interactions: Asking<ContentTraits> = {
  name: 'interactions',
  fieldNames,
  prepare,
  writeRequest,
  stopsIn: (request) => itemsOf(fieldsOf(request['generation_config'])['stop_sequences']) as readonly string[],
  readAnswer,
  eventReader: (from) => new InteractionReader(from),
}

const unsaid: readonly Unsaid[] = [
  ['choices', 'n', 1],
  ['logprobs', 'logprobs', undefined],
  ['frequencyPenalty', 'frequency_penalty', 0],
  ['presencePenalty', 'presence_penalty', 0],
]

/** Throws 400 for what changes the answer and cannot be said. */
function prepare(asked: Conversation, to: Target<ContentTraits>): Prepared {
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
