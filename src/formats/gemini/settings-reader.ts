/** Reads `generationConfig`. */
import type { Effort, Fields, Output, Reasoning, Settings } from '../../conversation/conversation.ts'
import { others } from '../../conversation/json.ts'
import { readTexts } from '../../providers/reading/parts.ts'
import { isRecord } from '../../wire/json.ts'
import { recordAt } from './fields.ts'
import { jsonSchemaOf } from './open-api-schema.ts'

/** By the names inside and on the wire. */
export const numbers = {
  max: 'maxOutputTokens',
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  seed: 'seed',
  choices: 'candidateCount',
  frequencyPenalty: 'frequencyPenalty',
  presencePenalty: 'presencePenalty',
} as const

const known = new Set<string>([
  ...Object.values(numbers),
  'stopSequences',
  'responseLogprobs',
  'logprobs',
  'responseModalities',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'thinkingConfig',
])

export function readSettings(config: Fields, tier: unknown): { readonly settings: Settings; readonly rest: Fields } {
  const settings: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(numbers)) {
    const value = config[field]
    if (typeof value === 'number') settings[name] = value
  }
  const { stopSequences, responseLogprobs, logprobs, responseModalities: modalities, thinkingConfig } = config
  const stops = readTexts(stopSequences, 'generationConfig.stopSequences')
  if (stops.length > 0) settings['stops'] = stops
  if (responseLogprobs === true) settings['logprobs'] = typeof logprobs === 'number' ? logprobs : 0
  if (Array.isArray(modalities) && modalities.length > 0)
    settings['modalities'] = modalities.map((each) => String(each).toLowerCase())
  const rest: Record<string, unknown> = { ...others(config, known) }
  if (isRecord(thinkingConfig)) {
    const { reasoning, rest: more } = readThinking(recordAt(thinkingConfig, 'generationConfig.thinkingConfig'))
    settings['reasoning'] = reasoning
    if (more !== undefined) rest['thinkingConfig'] = more
  }
  if (typeof tier === 'string') settings['tier'] = tier.toLowerCase() === 'standard' ? 'default' : tier.toLowerCase()
  return { settings, rest }
}

const efforts: ReadonlySet<string> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
const thinkingFields = new Set(['thinkingBudget', 'thinkingLevel', 'includeThoughts'])

function readThinking(config: Fields): { readonly reasoning: Reasoning; readonly rest?: Fields } {
  const { thinkingBudget: budget, thinkingLevel: level, includeThoughts: shown } = config
  const effort = typeof level === 'string' ? level.toLowerCase() : undefined
  const more = others(config, thinkingFields)
  return {
    reasoning: {
      ...modeOf(budget),
      ...(effort !== undefined && efforts.has(effort) && { effort: effort as Effort }),
      ...(typeof shown === 'boolean' && { show: shown ? 'full' : 'hidden' }),
    },
    ...(more && { rest: more }),
  }
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
