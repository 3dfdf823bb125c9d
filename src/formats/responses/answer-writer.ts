import type { Fields } from '../../conversation/conversation.ts'
import type { Answer } from '../../conversation/parts.ts'
import { partsOf } from '../../conversation/unfold.ts'
import type { Asked, OutEvent } from '../format.ts'
import { ResponseEventWriter } from './event-writer.ts'

/** A whole response is the one in the last event of a stream. */
export function writeAnswer(answer: Answer, asked: Asked): Fields {
  const writer = new ResponseEventWriter(asked, true)
  const events: OutEvent[] = []
  for (const part of partsOf(answer)) writer.write(part, events)
  writer.end(events)
  return events.at(-1)?.['response'] as Fields
}
