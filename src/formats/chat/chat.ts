import { type Format, preparedWith, type Prepared, type Target } from '../format.ts'
import { readAnswer } from './answer-reader.ts'
import { writeAnswer } from './answer-writer.ts'
import { ChatEventReader } from './event-reader.ts'
import { ChatEventWriter } from './event-writer.ts'
import { fieldNames } from './field-names.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import type { ChatTraits } from './traits.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import { unknownId } from '../media.ts'
import { withFunctionsForCustomTools } from '../stages/custom-tools.ts'
import { hideReasoning } from '../stages/hide.ts'
import { longNames } from '../tools.ts'
import { withText } from './states.ts'

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

/** Throws 400 for a file by its id, which is that of the vendor whose wire the client speaks. */
function prepare(asked: Conversation, to: Target<ChatTraits>): Prepared {
  for (const { blocks } of asked.turns)
    for (const block of blocks)
      if (block.kind === 'media' && 'id' in block.source) throw unknownId(block.place ?? 'messages')
  const { conversation, stage } = withFunctionsForCustomTools(asked)
  const names = longNames(conversation)
  const hidden = to.shown === 'hidden' ? () => hideReasoning(withText) : undefined
  return preparedWith(conversation, [names && (() => names), stage, hidden])
}
