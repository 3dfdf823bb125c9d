/** Reads the fields of a request that are neither turns nor tools. */
import type { Fields, Output, Reasoning, Settings } from '../../conversation/conversation.ts'
import { others } from '../../conversation/own.ts'
import { readStops } from '../../providers/reading/parts.ts'
import { fieldsOf, isRecord, numberOf, textOf } from '../../wire/json.ts'
import { readNumbers } from '../field-names.ts'
import { effortIn } from '../reasoning.ts'
import { numbers, saidFields } from './field-names.ts'

const outputFields = new Set(['effort', 'format'])
const userFields = new Set(['user_id'])
const none = new Set<string>()
const thinkingFields = new Set(['type', 'budget_tokens', 'display'])

/** The fields that only this wire has, and what is left of those that are read in part. */
export function ownFields(body: Fields, settings: Settings): Fields | undefined {
  const own = others(body, saidFields)
  const config = others(fieldsOf(body['output_config']), outputFields)
  const thinking = others(fieldsOf(body['thinking']), thinkingFields)
  const metadata = others(fieldsOf(body['metadata']), settings.user === undefined ? none : userFields)
  if (config === undefined && metadata === undefined && thinking === undefined) return own
  return { ...own, output_config: config, metadata, thinking }
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
  const { service_tier: tier, metadata, stop_sequences: stopSequences } = body
  const settings = readNumbers(body, numbers)
  const stops = readStops(stopSequences, 'stop_sequences')
  if (stops !== undefined) settings.stops = stops
  const user = textOf(fieldsOf(metadata)['user_id'])
  if (user !== '' && user.length <= longestUser) settings.user = user
  if (typeof tier === 'string') settings.tier = tier === 'standard_only' ? 'default' : tier
  settings.reasoning = readReasoning(body)
  if (body['stream'] === true) settings.stream = true
  return settings
}

/** The names of the modes, and of what clients get of the text. */
export const modes = { on: 'enabled', adaptive: 'adaptive', off: 'disabled', between: 'between_tools' } as const
export const displays = { hidden: 'omitted', summary: 'summarized', full: 'full' } as const

function keyOf<Key extends string>(table: Readonly<Record<Key, string>>, name: unknown): Key | undefined {
  return (Object.keys(table) as Key[]).find((key) => table[key] === name)
}

function readReasoning({ thinking, output_config: config }: Fields): Reasoning | undefined {
  const { type, budget_tokens: budget, display } = fieldsOf(thinking)
  const { effort: asked } = fieldsOf(config)
  if (asked === 'none') return { mode: 'off' }
  const [mode, effort] = [keyOf(modes, type), effortIn(asked)]
  if (mode === undefined && effort === undefined) return undefined
  return { mode, effort, budget: numberOf(budget), show: keyOf(displays, display) }
}
