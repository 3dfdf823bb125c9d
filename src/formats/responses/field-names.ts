import { numbersIn, saidBy, type NumberField } from '../field-names.ts'
import type { FieldNames } from '../format.ts'

export const fieldNames: FieldNames = {
  turns: ['input', 'instructions'],
  tools: ['tools'],
  toolChoice: ['tool_choice'],
  parallel: ['parallel_tool_calls'],
  output: ['text.format'],
  reasoning: ['reasoning.effort', 'reasoning'],
  user: ['safety_identifier', 'user'],
  tier: ['service_tier'],
  max: ['max_output_tokens'],
  temperature: ['temperature'],
  topP: ['top_p'],
  presencePenalty: ['presence_penalty'],
  frequencyPenalty: ['frequency_penalty'],
  logprobs: ['top_logprobs', 'include'],
  verbosity: ['text.verbosity'],
}

export const numbers: readonly NumberField[] = numbersIn(fieldNames)

/** The fields that other wires can say too. */
export const saidFields: ReadonlySet<string> = saidBy(fieldNames)

/** In `include`: the probabilities of tokens. */
export const logprobsField = 'message.output_text.logprobs'
