/** Settings and the format of the answer of a chat, in both directions. */
import { isClosed } from '../closed-schema.ts'
import { invalid } from '../../errors.ts'
import { clientName } from '../field-names.ts'
import { readRecord, readTexts } from '../../providers/reading/parts.ts'
import { isRecord } from '../../wire/json.ts'
import type { Effort, Fields, Output, Reasoning, Settings } from '../../conversation/conversation.ts'
import type { Target } from '../format.ts'
import type { ChatTraits } from './traits.ts'

type Mutable<Each> = { -readonly [Name in keyof Each]: Each[Name] }

export function readOutput(format: unknown): Output | undefined {
  if (!isRecord(format)) return undefined
  if (format['type'] === 'json_object') return { kind: 'json' }
  if (format['type'] !== 'json_schema') return undefined
  const { name, description, schema, strict } = readRecord(format['json_schema'], 'response_format.json_schema')
  if (schema === undefined) return { kind: 'json' }
  const output: Mutable<Extract<Output, { kind: 'schema' }>> = {
    kind: 'schema',
    schema: readRecord(schema, 'response_format.json_schema.schema'),
  }
  if (typeof name === 'string') output.name = name
  if (typeof description === 'string') output.description = description
  if (typeof strict === 'boolean') output.strict = strict
  return output
}

/** OpenAI rejects a schema that must be enforced and cannot be. */
export function writeOutput(output: Output): Fields {
  if (output.kind === 'json') return { type: 'json_object' }
  const { name = 'answer', description, schema, strict = isClosed(schema) ? true : undefined } = output
  const written: Record<string, unknown> = { name }
  if (description !== undefined) written['description'] = description
  written['schema'] = schema
  if (strict !== undefined) written['strict'] = strict
  return { type: 'json_schema', json_schema: written }
}

const efforts: ReadonlySet<string> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

/** Numbers, by their names inside and on the wire. */
const numbers = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['seed', 'seed'],
  ['choices', 'n'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['presencePenalty', 'presence_penalty'],
] as const

/** The fields that `readSettings` reads. */
export const settingNames: readonly string[] = [
  ...numbers.map(([, field]) => field),
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'verbosity',
  'modalities',
  'user',
  'service_tier',
]

export function readSettings(body: Fields): Settings {
  const settings: Mutable<Settings> = {}
  const { stop, stream, user, verbosity, modalities, reasoning_effort: effort, logprobs, top_logprobs: top } = body
  const max = body['max_completion_tokens'] ?? body['max_tokens']
  if (typeof max === 'number') settings.max = max
  for (const [name, field] of numbers) {
    const value = body[field]
    if (typeof value === 'number') settings[name] = value
  }
  if (typeof stop === 'string') settings.stops = [stop]
  else if (Array.isArray(stop) && stop.length > 0) settings.stops = readTexts(stop, 'stop')
  if (logprobs === true) settings.logprobs = typeof top === 'number' ? top : 0
  const reasoning = readEffort(effort)
  if (reasoning !== undefined) settings.reasoning = reasoning
  if (typeof verbosity === 'string') settings.verbosity = verbosity
  if (Array.isArray(modalities)) settings.modalities = modalities as NonNullable<Settings['modalities']>
  if (typeof user === 'string') settings.user = user
  if (typeof body['service_tier'] === 'string') settings.tier = body['service_tier']
  if (stream === true) settings.stream = true
  return settings
}

function readEffort(effort: unknown): Reasoning | undefined {
  if (effort === undefined || effort === null) return undefined
  if (effort === 'none') return { mode: 'off' }
  if (efforts.has(effort as string)) return { effort: effort as Effort }
  throw invalid(`"reasoning_effort" must be one of none, ${[...efforts].join(', ')}.`, 'reasoning_effort')
}

/** Longer ones describe the device, and vendors reject them. */
const longestUser = 64

/** `limit`: the field for the limit. */
export function writeSettings(settings: Settings, limit: string, to: Target<ChatTraits>): Fields {
  const { max, logprobs, reasoning, verbosity, modalities, user, tier, stream } = settings
  const { maxStops = 4, topK, stores, textParts } = to.traits
  const out: Record<string, unknown> = {}
  if (stream === true) out['stream'] = true
  if (stores === true) out['store'] = false
  // Some clients ask for 0 to fill a cache; vendors write at least one token.
  const most = max === undefined ? undefined : Math.max(1, Math.min(max, to.max ?? max))
  if (most !== undefined) out[limit] = most
  for (const [name, field] of numbers) {
    const value = settings[name]
    if (value === undefined) continue
    if (name === 'topK' && topK !== true) to.omit(clientName(to, 'topK'), 'the vendor does not know it')
    else out[field] = value
  }
  const stops = settings.stops?.filter((stop) => stop !== '').slice(0, maxStops) ?? []
  if (stops.length > 0) out['stop'] = stops
  if (logprobs !== undefined) {
    out['logprobs'] = true
    if (logprobs > 0) out['top_logprobs'] = logprobs
  }
  const effort = reasoning === undefined ? undefined : effortOf(reasoning, most)
  if (effort !== undefined) out['reasoning_effort'] = effort
  else if (reasoning !== undefined) to.omit(clientName(to, 'reasoning'), 'the model decides on it')
  if (verbosity !== undefined) out['verbosity'] = verbosity
  if (modalities !== undefined) out['modalities'] = modalities
  if (user !== undefined && user !== '' && user.length <= longestUser) out['user'] = user
  // These have no effect, and some vendors reject them.
  if (tier !== undefined && (textParts === true || (tier !== 'auto' && tier !== 'default'))) out['service_tier'] = tier
  return out
}

/** The least budget for each effort. */
const budgets = [
  [10_000, 'high'],
  [5_000, 'medium'],
  [2_000, 'low'],
] as const

/** The budget is a part of the output, so it shrinks with it. */
export function effortOf({ mode, effort, budget }: Reasoning, max: number | undefined): string | undefined {
  if (mode === 'off') return 'none'
  if (effort !== undefined) return effort
  if (mode !== 'on' || budget === undefined) return undefined
  const own = max === undefined ? budget : Math.min(budget, max - 1)
  return budgets.find(([least]) => own >= least)?.[1] ?? 'minimal'
}
