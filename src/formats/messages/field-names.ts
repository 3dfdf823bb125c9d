import { numbersIn, saidBy, type NumberField } from '../field-names.ts'
import type { FieldNames } from '../format.ts'

export const fieldNames: FieldNames = {
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

export const numbers: readonly NumberField[] = numbersIn(fieldNames)

/** The fields that other wires can say too. */
export const saidFields: ReadonlySet<string> = saidBy(fieldNames)
