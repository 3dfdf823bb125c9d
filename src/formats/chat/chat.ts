import type { FieldNames, Format } from '../format.ts'
import { readAnswer } from './answer-reader.ts'
import { writeAnswer } from './answer-writer.ts'
import { ChatEventReader } from './event-reader.ts'
import { ChatEventWriter } from './event-writer.ts'
import { prepare } from './prepare.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import type { ChatTraits } from './traits.ts'

const fieldNames: FieldNames = {
  turns: ['messages'],
  tools: ['tools', 'functions'],
  toolChoice: ['tool_choice', 'function_call'],
  parallel: ['parallel_tool_calls'],
  output: ['response_format'],
  reasoning: ['reasoning_effort', 'reasoning'],
  user: ['user', 'safety_identifier'],
  tier: ['service_tier'],
  max: ['max_completion_tokens', 'max_tokens'],
  temperature: ['temperature'],
  topP: ['top_p'],
  topK: ['top_k'],
  stops: ['stop'],
  seed: ['seed'],
  choices: ['n'],
  frequencyPenalty: ['frequency_penalty'],
  presencePenalty: ['presence_penalty'],
  logprobs: ['logprobs', 'top_logprobs'],
  verbosity: ['verbosity'],
  modalities: ['modalities'],
}

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
