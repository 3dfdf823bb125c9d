import { numbersIn, type NumberField } from '../field-names.ts'
import type { FieldNames } from '../format.ts'

export const fieldNames: FieldNames = {
  turns: ['input', 'system_instruction'],
  tools: ['tools'],
  toolChoice: ['generation_config.tool_choice'],
  output: ['response_format'],
  reasoning: ['generation_config.thinking_level', 'generation_config.thinking_summaries'],
  tier: ['service_tier'],
  max: ['generation_config.max_output_tokens'],
  temperature: ['generation_config.temperature'],
  topP: ['generation_config.top_p'],
  stops: ['generation_config.stop_sequences'],
  seed: ['generation_config.seed'],
}

export const numbers: readonly NumberField[] = numbersIn(fieldNames)
