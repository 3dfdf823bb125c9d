import type { MessageTraits } from '../../providers/message-traits.ts'
import type { Format } from '../format.ts'
import { readAnswer, writeAnswer } from './answer.ts'
import { MessageEventReader } from './event-reader.ts'
import { MessageEventWriter } from './event-writer.ts'
import { fieldNames } from './field-names.ts'
import { prepare } from './prepare.ts'
import { readRequest, shownReasoning } from './request-reader.ts'
import { chatFields, writeRequest } from './request-writer.ts'

/** Anthropic's Messages API. */
export const messages: Format<MessageTraits> = {
  name: 'messages',
  fieldNames,
  chatFields,
  readRequest,
  shownReasoning,
  prepare,
  writeRequest,
  stopsIn: ({ stop_sequences: stops }) => (Array.isArray(stops) ? (stops as string[]) : []),
  readAnswer,
  writeAnswer,
  eventReader: (from) => new MessageEventReader(from),
  eventWriter: (asked) => new MessageEventWriter(asked),
}
