/** Reads the fields of a request that are neither turns nor tools. */
import type { Effort, Fields, Output, Reasoning, Settings } from '../../conversation/conversation.ts'
import { others } from '../../conversation/json.ts'
import { invalid } from '../../errors.ts'
import { readTexts } from '../../providers/reading/parts.ts'
import { entryIn, fieldsOf, isRecord } from '../../wire/json.ts'

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** The fields that other wires can say too. */
export const saidFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'output_format',
  'stream',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'thinking',
  'output_config',
  'metadata',
  'service_tier',
])
const outputFields = new Set(['effort', 'format'])
const userFields = new Set(['user_id'])
const thinkingFields = new Set(['type', 'budget_tokens', 'display'])

/** The fields that only this wire has, and what is left of those that are read in part. */
export function ownFields(body: Fields, settings: Settings): Fields | undefined {
  const own = others(body, saidFields)
  const config = others(fieldsOf(body['output_config']), outputFields)
  const thinking = others(fieldsOf(body['thinking']), thinkingFields)
  const metadata = others(fieldsOf(body['metadata']), settings.user === undefined ? new Set() : userFields)
  if (config === undefined && metadata === undefined && thinking === undefined) return own
  const all: Record<string, unknown> = { ...own }
  if (config !== undefined) all['output_config'] = config
  if (metadata !== undefined) all['metadata'] = metadata
  if (thinking !== undefined) all['thinking'] = thinking
  return all
}

/** Reads the format of the answer. */
export function readOutput({ output_config: config, output_format: earlier }: Fields): Output | undefined {
  const { type, schema } = fieldsOf(fieldsOf(config)['format'] ?? earlier)
  return type === 'json_schema' && isRecord(schema) ? { kind: 'schema', schema } : undefined
}

/** Users with longer names describe the device, and other vendors reject them. */
const longestUser = 64

/** Reads what is common to all wires. */
export function readSettings(body: Fields): Settings {
  const { max_tokens: max, temperature, top_p: topP, top_k: topK, service_tier: tier } = body
  const settings: Mutable<Settings> = {}
  if (typeof max === 'number') settings.max = max
  if (typeof temperature === 'number') settings.temperature = temperature
  if (typeof topP === 'number') settings.topP = topP
  if (typeof topK === 'number') settings.topK = topK
  const stops = readStops(body['stop_sequences'])
  if (stops.length > 0) settings.stops = stops
  const user = fieldsOf(body['metadata'])['user_id']
  if (typeof user === 'string' && user !== '' && user.length <= longestUser) settings.user = user
  if (typeof tier === 'string') settings.tier = tier === 'standard_only' ? 'default' : tier
  const reasoning = readReasoning(body)
  if (reasoning !== undefined) settings.reasoning = reasoning
  if (body['stream'] === true) settings.stream = true
  return settings
}

/** Searching for a stop sequence takes longer with their number and length, for each piece of text. */
const mostStops = 64
const longestStop = 256

function readStops(value: unknown): readonly string[] {
  const stops = readTexts(value, 'stop_sequences')
  if (stops.length <= mostStops && stops.every(({ length }) => length <= longestStop)) {
    return stops.filter((stop) => stop !== '')
  }
  const message = `"stop_sequences" must be at most ${mostStops} sequences of at most ${longestStop} characters.`
  throw invalid(message, 'stop_sequences')
}

const modes: Readonly<Record<string, Reasoning['mode']>> = {
  enabled: 'on',
  adaptive: 'adaptive',
  disabled: 'off',
  between_tools: 'between',
}
const shows: Readonly<Record<string, Reasoning['show']>> = { omitted: 'hidden', summarized: 'summary', full: 'full' }
const efforts: ReadonlySet<unknown> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

function readReasoning({ thinking, output_config: config }: Fields): Reasoning | undefined {
  const { type, budget_tokens: budget, display } = fieldsOf(thinking)
  const { effort } = fieldsOf(config)
  const mode = entryIn(modes, type)
  if (effort === 'none') return { mode: 'off' }
  if (mode === undefined && !efforts.has(effort)) return undefined
  const reasoning: Mutable<Reasoning> = {}
  if (mode !== undefined) reasoning.mode = mode
  if (efforts.has(effort)) reasoning.effort = effort as Effort
  if (typeof budget === 'number') reasoning.budget = budget
  const show = entryIn(shows, display)
  if (show !== undefined) reasoning.show = show
  return reasoning
}
