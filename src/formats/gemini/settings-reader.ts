/** Reads `generationConfig`. */
import type { Fields, Output, Reasoning, Settings } from '../../conversation/conversation.ts'
import { others } from '../../conversation/own.ts'
import { readTexts } from '../../providers/reading/parts.ts'
import { isRecord, itemsOf, numberOf, textOf } from '../../wire/json.ts'
import { readNumbers } from '../field-names.ts'
import { effortIn } from '../reasoning.ts'
import { numbers, saidOfConfig } from './field-names.ts'
import { recordAt } from './fields.ts'
import { jsonSchemaOf } from './open-api-schema.ts'

export function readSettings(config: Fields, tier: unknown): { readonly settings: Settings; readonly rest: Fields } {
  const settings = readNumbers(config, numbers)
  const { stopSequences, responseLogprobs, logprobs, responseModalities, thinkingConfig } = config
  const stops = readTexts(stopSequences, 'generationConfig.stopSequences')
  if (stops.length > 0) settings.stops = stops
  if (responseLogprobs === true) settings.logprobs = numberOf(logprobs) ?? 0
  const modalities = itemsOf(responseModalities).map((each) => String(each).toLowerCase())
  if (modalities.length > 0) settings.modalities = modalities as unknown as Settings['modalities']
  const rest: Record<string, unknown> = { ...others(config, saidOfConfig) }
  if (isRecord(thinkingConfig)) {
    const thinking = recordAt(thinkingConfig, 'generationConfig.thinkingConfig')
    settings.reasoning = readThinking(thinking)
    const more = others(thinking, thinkingFields)
    if (more !== undefined) rest['thinkingConfig'] = more
  }
  if (typeof tier === 'string') settings.tier = tier.toLowerCase() === 'standard' ? 'default' : tier.toLowerCase()
  return { settings, rest }
}

const thinkingFields = new Set(['thinkingBudget', 'thinkingLevel', 'includeThoughts'])

function readThinking({ thinkingBudget: budget, thinkingLevel: level, includeThoughts: shown }: Fields): Reasoning {
  const show = typeof shown !== 'boolean' ? undefined : shown ? 'full' : 'hidden'
  return { ...modeOf(budget), effort: effortIn(textOf(level).toLowerCase()), show }
}

function modeOf(budget: unknown): Pick<Reasoning, 'mode' | 'budget'> {
  if (typeof budget !== 'number') return {}
  if (budget === 0) return { mode: 'off' }
  return budget < 0 ? { mode: 'adaptive' } : { mode: 'on', budget }
}

/** `rest`: a format that only this wire has, such as `text/x.enum`. */
export function readOutput(config: Fields): { readonly output?: Output; readonly rest: Fields } {
  const { responseMimeType: type, responseJsonSchema, responseSchema } = config
  if (type !== undefined && type !== 'text/plain' && type !== 'application/json') {
    return { rest: { responseMimeType: type, ...(responseSchema !== undefined && { responseSchema }) } }
  }
  if (isRecord(responseJsonSchema)) return { output: { kind: 'schema', schema: responseJsonSchema }, rest: {} }
  if (isRecord(responseSchema)) return { output: { kind: 'schema', schema: jsonSchemaOf(responseSchema) }, rest: {} }
  return type === 'application/json' ? { output: { kind: 'json' }, rest: {} } : { rest: {} }
}
