import { numbersIn, saidBy, type NumberField } from '../field-names.ts'
import type { FieldNames } from '../format.ts'

export const fieldNames: FieldNames = {
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

export const numbers: readonly NumberField[] = numbersIn(fieldNames)

/** Fields of which a conversation has only the successors, or nothing. */
const unread = ['functions', 'function_call', 'reasoning', 'safety_identifier']

/** The fields that other wires can say too. */
export const saidFields: ReadonlySet<string> = saidBy(fieldNames, unread)
