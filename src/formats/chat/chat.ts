import type { Format } from '../format.ts'
import { readAnswer } from './answer-reader.ts'
import { writeAnswer } from './answer-writer.ts'
import { ChatEventReader } from './event-reader.ts'
import { ChatEventWriter } from './event-writer.ts'
import { fieldNames } from './field-names.ts'
import { prepare } from './prepare.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import type { ChatTraits } from './traits.ts'

export const chat: Format<ChatTraits> = {
  name: 'chat',
  fieldNames,
  readRequest,
  prepare,
  writeRequest,
  stopsIn: ({ stop }) => (Array.isArray(stop) ? (stop as string[]) : []),
  readAnswer,
  writeAnswer,
  eventReader: (from) => new ChatEventReader(from),
  eventWriter: (asked) => new ChatEventWriter(asked),
}
