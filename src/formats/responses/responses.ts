import { type Format, type Asked, type OutEvent, preparedWith, type Prepared, type Target } from '../format.ts'
import { clientCalls } from './names.ts'
import { readAnswer, ResponseEventReader } from './event-reader.ts'
import { ResponseEventWriter } from './event-writer.ts'
import { fieldNames } from './field-names.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import type { ResponsesTraits } from './traits.ts'
import type { Fields, Conversation } from '../../conversation/conversation.ts'
import type { Answer } from '../../conversation/parts.ts'
import { partsOf } from '../../conversation/unfold.ts'
import { unsupported } from '../../providers/unsupported.ts'
import { clientName } from '../field-names.ts'
import { longNames } from '../tools.ts'

export const responses: Format<ResponsesTraits> = {
  name: 'responses',
  fieldNames,
  readRequest,
  clientCalls,
  prepare,
  writeRequest,
  // Responses have no stop sequences.
  stopsIn: () => [],
  readAnswer,
  writeAnswer,
  eventReader: (from) => new ResponseEventReader(from),
  eventWriter: (asked) => new ResponseEventWriter(asked),
}

/** A whole response is the one in the last event of a stream. */
function writeAnswer(answer: Answer, asked: Asked): Fields {
  const writer = new ResponseEventWriter(asked, true)
  const events: OutEvent[] = []
  for (const part of partsOf(answer)) writer.write(part, events)
  writer.end(events)
  return events.at(-1)?.['response'] as Fields
}

/** Throws 400 for settings that change the answer and that Responses do not have. */
function prepare(conversation: Conversation, to: Target<ResponsesTraits>): Prepared {
  const { choices = 1, seed, modalities = [] } = conversation.settings
  const isOther = modalities.some((each) => each !== 'text')
  const field = choices !== 1 ? 'choices' : seed !== undefined ? 'seed' : isOther ? 'modalities' : undefined
  if (field !== undefined) throw unsupported({ publicModel: to.model }, clientName(to, field))
  const names = longNames(conversation)
  return preparedWith(conversation, [names && (() => names)])
}
