import type { Conversation } from '../../conversation/conversation.ts'
import type { Format } from '../format.ts'
import { writeAnswer } from './answer-writer.ts'
import { GeminiEventReader, readAnswer } from './event-reader.ts'
import { GeminiEventWriter } from './event-writer.ts'
import { fieldNames } from './field-names.ts'
import { prepare, stopsIn } from './prepare.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'

/** Google's generateContent. */
export const gemini: Format<ContentTraits> = {
  name: 'gemini',
  fieldNames,
  chatFields: new Set(['safety_settings']),
  readRequest,
  shownReasoning,
  prepare,
  writeRequest,
  stopsIn,
  readAnswer,
  writeAnswer,
  eventReader: (from) => new GeminiEventReader(from),
  eventWriter: (asked) => new GeminiEventWriter(asked),
}

/** Clients get thoughts if they ask for them, and what the model wants back in any case. */
function shownReasoning({ settings }: Conversation): 'shown' | 'hidden' {
  return settings.reasoning?.show === 'full' ? 'shown' : 'hidden'
}
