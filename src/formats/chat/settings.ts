/** Settings and the format of the answer of a chat, in both directions. */
import { isClosed } from '../closed-schema.ts'
import { clientName, readNumbers, writeNumbers } from '../field-names.ts'
import { effortOf, readEffort } from '../reasoning.ts'
import { readRecord, readStops } from '../../providers/reading/parts.ts'
import { booleanOf, isRecord, numberOf, stringOf } from '../../wire/json.ts'
import type { Fields, Output, Settings } from '../../conversation/conversation.ts'
import type { Target } from '../format.ts'
import { numbers } from './field-names.ts'
import type { ChatTraits } from './traits.ts'

export function readOutput(format: unknown): Output | undefined {
  if (!isRecord(format)) return undefined
  if (format['type'] === 'json_object') return { kind: 'json' }
  if (format['type'] !== 'json_schema') return undefined
  const { schema, ...named } = readRecord(format['json_schema'], 'response_format.json_schema')
  if (schema === undefined) return { kind: 'json' }
  return readSchema(readRecord(schema, 'response_format.json_schema.schema'), named)
}

export function readSchema(schema: Fields, { name, description, strict }: Fields): Output {
  const named = { name: stringOf(name), description: stringOf(description), strict: booleanOf(strict) }
  return { kind: 'schema', schema, ...named }
}

/** OpenAI rejects a schema that must be enforced and cannot be. */
export function writeOutput(output: Output): Fields {
  if (output.kind === 'json') return { type: 'json_object' }
  const { name = 'answer', description, schema, strict = isClosed(schema) ? true : undefined } = output
  return { type: 'json_schema', json_schema: { name, description, schema, strict } }
}

export function readSettings(body: Fields): Settings {
  const { stop, verbosity, modalities, top_logprobs: top } = body
  const settings = readNumbers(body, numbers)
  const stops = readStops(typeof stop === 'string' ? [stop] : stop, 'stop')
  if (stops !== undefined) settings.stops = stops
  if (body['logprobs'] === true) settings.logprobs = numberOf(top) ?? 0
  settings.reasoning = readEffort(body['reasoning_effort'], 'reasoning_effort')
  settings.verbosity = stringOf(verbosity)
  if (Array.isArray(modalities)) settings.modalities = modalities as Settings['modalities']
  settings.user = stringOf(body['user'])
  settings.tier = stringOf(body['service_tier'])
  if (body['stream'] === true) settings.stream = true
  return settings
}

/** Longer ones describe the device, and vendors reject them. */
const longestUser = 64

/** `limit`: the field for the limit. */
export function writeSettings(settings: Settings, limit: string, to: Target<ChatTraits>): Fields {
  const { max, topK, logprobs, reasoning, verbosity, modalities, user, tier, stream, ...others } = settings
  const { maxStops = 4, stores, textParts } = to.traits
  const out: Record<string, unknown> = {}
  if (stream === true) out['stream'] = true
  if (stores === true) out['store'] = false
  // Some clients ask for 0 to fill a cache; vendors write at least one token.
  const most = max === undefined ? undefined : Math.max(1, Math.min(max, to.max ?? max))
  if (most !== undefined) out[limit] = most
  if (topK !== undefined && to.traits.topK !== true) to.omit(clientName(to, 'topK'), 'the vendor does not know it')
  Object.assign(out, writeNumbers(to.traits.topK === true ? { ...others, topK } : others, numbers))
  if (settings.stops !== undefined) out['stop'] = settings.stops.slice(0, maxStops)
  if (logprobs !== undefined) out['logprobs'] = true
  if (logprobs !== undefined && logprobs > 0) out['top_logprobs'] = logprobs
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
