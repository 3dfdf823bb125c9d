import { numbersIn, saidBy, saidWithin, type NumberField } from '../field-names.ts'
import type { FieldNames } from '../format.ts'

export const fieldNames: FieldNames = {
  turns: ['contents', 'systemInstruction'],
  tools: ['tools'],
  toolChoice: ['toolConfig'],
  output: [
    'generationConfig.responseJsonSchema',
    'generationConfig.responseSchema',
    'generationConfig.responseMimeType',
  ],
  reasoning: ['generationConfig.thinkingConfig'],
  tier: ['serviceTier'],
  max: ['generationConfig.maxOutputTokens'],
  temperature: ['generationConfig.temperature'],
  topP: ['generationConfig.topP'],
  topK: ['generationConfig.topK'],
  stops: ['generationConfig.stopSequences'],
  seed: ['generationConfig.seed'],
  choices: ['generationConfig.candidateCount'],
  frequencyPenalty: ['generationConfig.frequencyPenalty'],
  presencePenalty: ['generationConfig.presencePenalty'],
  modalities: ['generationConfig.responseModalities'],
  logprobs: ['generationConfig.responseLogprobs', 'generationConfig.logprobs'],
}

export const numbers: readonly NumberField[] = numbersIn(fieldNames)

/** The fields that other wires can say too: of the request, and of its `generationConfig`. */
export const saidFields: ReadonlySet<string> = saidBy(fieldNames)
export const saidOfConfig: ReadonlySet<string> = saidWithin('generationConfig', fieldNames)
