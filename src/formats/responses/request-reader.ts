import { invalid } from '../../errors.ts'
import { booleanOf, fieldsOf, isRecord, itemsOf, numberOf, stringOf } from '../../wire/json.ts'
import type { Conversation, Fields, Output, Reasoning, Settings } from '../../conversation/conversation.ts'
import { asOwn, others } from '../../conversation/own.ts'
import { readSchema } from '../chat/settings.ts'
import { readNumbers } from '../field-names.ts'
import { readEffort } from '../reasoning.ts'
import { logprobsField, numbers, saidFields } from './field-names.ts'
import { readChoice, readTools } from './tools.ts'
import { TurnReader } from './turns.ts'

/** Reads the body of `POST /v1/responses`, whose earlier items are among its input. Throws 400 with the place. */
export function readRequest(body: Fields): Conversation {
  const { input, instructions } = body
  const reader = new TurnReader()
  if (typeof instructions === 'string' && instructions !== '') reader.instruct(instructions)
  if (typeof input === 'string') reader.add({ role: 'user', content: input }, 'input')
  else if (Array.isArray(input)) for (const [index, item] of input.entries()) reader.add(item, `input[${index}]`)
  else if (input !== undefined && input !== null) throw invalid('"input" must be a string or a list of items.', 'input')
  return {
    ...readChoice(body['tool_choice'], readTools(body['tools'])),
    turns: reader.end(),
    parallel: booleanOf(body['parallel_tool_calls']),
    output: readOutput(body),
    settings: readSettings(body),
    own: asOwn('responses', ownRest(body)),
  }
}

/** What is left of fields that are read in part. */
function ownRest(body: Fields): Fields | undefined {
  const { text, reasoning, include, user, safety_identifier: identifier, service_tier: tier } = body
  const own: Record<string, unknown> = { ...others(body, saidFields) }
  for (const name in own) if (own[name] === null) delete own[name]
  const restText = others(fieldsOf(text), new Set(['format', 'verbosity']))
  const restReasoning = others(fieldsOf(reasoning), new Set(['effort', 'summary']))
  const { summary } = fieldsOf(reasoning)
  if (restText !== undefined) own['text'] = restText
  if (restReasoning !== undefined) own['reasoning'] = restReasoning
  if (typeof summary === 'string' && summary !== 'auto') own['reasoning'] = { ...restReasoning, summary }
  const further = itemsOf(include).filter((each) => each !== logprobsField)
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
  const { type, schema, name, ...more } = fieldsOf(fieldsOf(text)['format'])
  if (type !== 'json_schema') return type === 'json_object' ? { kind: 'json' } : undefined
  return isRecord(schema) ? readSchema(schema, { ...more, name: stringOf(name) ?? 'response' }) : { kind: 'json' }
}

function readSettings(body: Fields): Settings {
  const { include, top_logprobs: top, service_tier: tier, text } = body
  const settings = readNumbers(body, numbers)
  const asks = itemsOf(include).includes(logprobsField)
  if (asks || (typeof top === 'number' && top > 0)) settings.logprobs = numberOf(top) ?? 0
  settings.user = stringOf(body['safety_identifier'] ?? body['user'])
  if (!isDefault(tier)) settings.tier = stringOf(tier)
  if (body['stream'] === true) settings.stream = true
  settings.verbosity = stringOf(fieldsOf(text)['verbosity'])
  settings.reasoning = readReasoning(body['reasoning'])
  return settings
}

function readReasoning(raw: unknown): Reasoning | undefined {
  const { effort: asked, summary } = fieldsOf(raw)
  const effort = readEffort(asked, 'reasoning.effort')
  const show = typeof summary === 'string' ? 'summary' : undefined
  return effort === undefined && show === undefined ? undefined : { ...effort, show }
}
