import type { MessageTraits } from '../../providers/message-traits.ts'
import type { FieldNames, Format } from '../format.ts'
import { readAnswer, writeAnswer } from './answer.ts'
import { MessageEventReader } from './event-reader.ts'
import { MessageEventWriter } from './event-writer.ts'
import { prepare } from './prepare.ts'
import { readRequest, shownReasoning } from './request-reader.ts'
import { chatFields, writeRequest } from './request-writer.ts'

const fieldNames: FieldNames = {
  turns: ['messages', 'system'],
  tools: ['tools'],
  parallel: ['tool_choice.disable_parallel_tool_use'],
  toolChoice: ['tool_choice'],
  output: ['output_config.format', 'output_format'],
  reasoning: ['output_config.effort', 'thinking'],
  user: ['metadata.user_id'],
  tier: ['service_tier'],
  max: ['max_tokens'],
  temperature: ['temperature'],
  topP: ['top_p'],
  topK: ['top_k'],
  stops: ['stop_sequences'],
}

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
