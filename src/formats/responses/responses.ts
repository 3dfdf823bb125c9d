import type { FieldNames, Format } from '../format.ts'
import { readAnswer, writeAnswer } from './answer.ts'
import { clientCalls } from './client-calls.ts'
import { ResponseEventReader } from './event-reader.ts'
import { ResponseEventWriter } from './event-writer.ts'
import { prepare } from './prepare.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import type { ResponsesTraits } from './traits.ts'

const fieldNames: FieldNames = {
  turns: ['input', 'instructions'],
  tools: ['tools'],
  toolChoice: ['tool_choice'],
  parallel: ['parallel_tool_calls'],
  output: ['text.format'],
  reasoning: ['reasoning.effort'],
  user: ['safety_identifier', 'user'],
  tier: ['service_tier'],
  max: ['max_output_tokens'],
  temperature: ['temperature'],
  topP: ['top_p'],
  frequencyPenalty: ['frequency_penalty'],
  presencePenalty: ['presence_penalty'],
  logprobs: ['top_logprobs', 'include'],
  verbosity: ['text.verbosity'],
}

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
