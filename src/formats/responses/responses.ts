import type { Format } from '../format.ts'
import { readAnswer } from './answer.ts'
import { writeAnswer } from './answer-writer.ts'
import { clientCalls } from './names.ts'
import { ResponseEventReader } from './event-reader.ts'
import { ResponseEventWriter } from './event-writer.ts'
import { fieldNames } from './field-names.ts'
import { prepare } from './prepare.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import type { ResponsesTraits } from './traits.ts'

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
