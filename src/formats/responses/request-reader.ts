import { invalid } from '../../errors.ts'
import { isRecord } from '../../wire/json.ts'
import type { Conversation, Effort, Fields, Output, Reasoning, Settings } from '../../conversation/conversation.ts'
import { others } from '../../conversation/json.ts'
import { readChoice, readTools } from './tools.ts'
import { TurnReader } from './turns.ts'

/** Reads the body of `POST /v1/responses`, whose earlier items are among its input. Throws 400 with the place. */
export function readRequest(body: Fields): Conversation {
  const { input, instructions, parallel_tool_calls: parallel } = body
  const reader = new TurnReader()
  if (typeof instructions === 'string' && instructions !== '') reader.instruct(instructions)
  if (typeof input === 'string') reader.add({ role: 'user', content: input }, 'input')
  else if (Array.isArray(input)) for (const [index, item] of input.entries()) reader.add(item, `input[${index}]`)
  else if (input !== undefined && input !== null) throw invalid('"input" must be a string or a list of items.', 'input')
  const { tools, toolChoice } = readChoice(body['tool_choice'], readTools(body['tools']))
  const output = readOutput(body)
  const own = ownRest(body)
  return {
    turns: reader.end(),
    tools,
    ...(toolChoice !== undefined && { toolChoice }),
    ...(typeof parallel === 'boolean' && { parallel }),
    ...(output && { output }),
    settings: readSettings(body),
    ...(own && { own: { responses: own } }),
  }
}

/** The fields that other wires can say too. */
export const saidFields: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'max_output_tokens',
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'user',
  'safety_identifier',
  'service_tier',
  'stream',
  'include',
])

const logprobs = 'message.output_text.logprobs'

/** What is left of fields that are read in part. */
function ownRest(body: Fields): Fields | undefined {
  const { text, reasoning, include, user, safety_identifier: identifier, service_tier: tier } = body
  const own: Record<string, unknown> = { ...others(body, saidFields) }
  for (const name in own) if (own[name] === null) delete own[name]
  const restText = isRecord(text) ? others(text, new Set(['format', 'verbosity'])) : undefined
  const restReasoning = isRecord(reasoning) ? others(reasoning, new Set(['effort', 'summary'])) : undefined
  if (restText !== undefined) own['text'] = restText
  if (restReasoning !== undefined) own['reasoning'] = restReasoning
  if (isRecord(reasoning) && typeof reasoning['summary'] === 'string' && reasoning['summary'] !== 'auto')
    own['reasoning'] = { ...restReasoning, summary: reasoning['summary'] }
  const further = Array.isArray(include) ? include.filter((each) => each !== logprobs) : []
  if (further.length > 0) own['include'] = further
  if (typeof identifier === 'string') own['safety_identifier'] = identifier
  if (typeof user === 'string' && typeof identifier === 'string') own['user'] = user
  if (isDefault(tier)) own['service_tier'] = tier
  return Object.keys(own).length === 0 ? undefined : own
}

/** Values without effect, which some vendors reject. */
function isDefault(tier: unknown): boolean {
  return tier === 'auto' || tier === 'default'
}

function readOutput({ text }: Fields): Output | undefined {
  const format = isRecord(text) ? text['format'] : undefined
  if (!isRecord(format)) return undefined
  if (format['type'] === 'json_object') return { kind: 'json' }
  if (format['type'] !== 'json_schema') return undefined
  const { name, description, schema, strict } = format
  if (!isRecord(schema)) return { kind: 'json' }
  return {
    kind: 'schema',
    schema,
    name: typeof name === 'string' ? name : 'response',
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
  }
}

/** By the names inside and on the wire. */
export const numbers = {
  max: 'max_output_tokens',
  temperature: 'temperature',
  topP: 'top_p',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
} as const

function readSettings(body: Fields): Settings {
  const settings: { -readonly [Name in keyof Settings]: Settings[Name] } = {}
  for (const [name, field] of Object.entries(numbers)) {
    const value = body[field]
    if (typeof value === 'number') settings[name as keyof typeof numbers] = value
  }
  const { include, top_logprobs: top, service_tier: tier, stream } = body
  const asks = Array.isArray(include) && include.includes(logprobs)
  if (asks || (typeof top === 'number' && top > 0)) settings.logprobs = typeof top === 'number' ? top : 0
  const user = body['safety_identifier'] ?? body['user']
  if (typeof user === 'string') settings.user = user
  if (typeof tier === 'string' && !isDefault(tier)) settings.tier = tier
  if (stream === true) settings.stream = true
  const { text } = body
  if (isRecord(text) && typeof text['verbosity'] === 'string') settings.verbosity = text['verbosity']
  const reasoning = readReasoning(body['reasoning'])
  if (reasoning !== undefined) settings.reasoning = reasoning
  return settings
}

const efforts: ReadonlySet<string> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

function readReasoning(raw: unknown): Reasoning | undefined {
  if (!isRecord(raw)) return undefined
  const { effort, summary } = raw
  const reasoning: { -readonly [Name in keyof Reasoning]: Reasoning[Name] } = {}
  if (effort === 'none') reasoning.mode = 'off'
  else if (efforts.has(effort as string)) reasoning.effort = effort as Effort
  else if (effort !== undefined && effort !== null)
    throw invalid(`"reasoning.effort" must be one of none, ${[...efforts].join(', ')}.`, 'reasoning.effort')
  if (typeof summary === 'string') reasoning.show = 'summary'
  return Object.keys(reasoning).length === 0 ? undefined : reasoning
}
