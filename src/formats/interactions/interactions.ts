import type { ContentTraits } from '../../providers/content-traits.ts'
import { itemsOf, fieldsOf } from '../../wire/json.ts'
import type { Asking } from '../format.ts'
import { InteractionReader, readAnswer } from './event-reader.ts'
import { fieldNames } from './field-names.ts'
import { prepare } from './prepare.ts'
import { writeRequest } from './request-writer.ts'

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
