/** Writes the body of a request for an interaction. Source: Google's client library (CreateModelInteraction). */
import type { Conversation, Fields, FunctionTool, OwnTool } from '../../conversation/conversation.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'
import { clientName, writeNumbers } from '../field-names.ts'
import type { Target } from '../format.ts'
import type { FunctionNames } from '../gemini/names.ts'
import { functionNames } from '../gemini/request-writer.ts'
import { answerSchema, parametersSchema } from '../gemini/schema.ts'
import { writeThinking, writeTier } from '../gemini/settings-writer.ts'
import { sayable } from '../tools.ts'
import { numbers } from './field-names.ts'
import { StepWriter } from './step-writer.ts'

export function writeRequest(conversation: Conversation, to: Target<ContentTraits>): Fields {
  const names = functionNames(conversation)
  const body: Record<string, unknown> = { ...new StepWriter(to, names).write(conversation.turns) }
  const functions = functionsIn(conversation, to)
  if (functions.length > 0) body['tools'] = functions.map((each) => declaration(each, names))
  const config = configOf(conversation, to)
  const choice = functions.length === 0 ? undefined : choiceOf(conversation.toolChoice, functions, names)
  if (choice !== undefined) config['tool_choice'] = choice
  if (Object.keys(config).length > 0) body['generation_config'] = config
  const formats = formatsOf(conversation)
  if (formats.length > 0) body['response_format'] = formats
  const tier = writeTier(conversation.settings.tier, to)
  if (tier !== undefined) body['service_tier'] = tier
  if (conversation.settings.user !== undefined) to.omit(clientName(to, 'user'), 'the wire has no such field')
  return body
}

function functionsIn({ tools }: Conversation, to: Target<ContentTraits>): FunctionTool[] {
  return tools.flatMap((tool) => {
    const said = sayable(tool, 'interactions')
    if (said?.kind === 'function') return [said]
    to.omit((tool as OwnTool).type, 'the vendor has no such tool')
    return []
  })
}

function declaration({ name, description, schema }: FunctionTool, names: FunctionNames): Fields {
  const parameters = schema && parametersSchema(schema)
  return { type: 'function', name: names.toVendor(name), description, parameters }
}

function configOf({ settings }: Conversation, to: Target<ContentTraits>): Record<string, unknown> {
  const { max, topK, stops, seed, reasoning } = settings
  const config = writeNumbers(settings, numbers)
  const most = max === undefined ? to.max : Math.max(1, Math.min(max, to.max ?? max))
  if (most !== undefined) config['max_output_tokens'] = most
  // The vendor's seeds are 32-bit integers.
  if (seed !== undefined) config['seed'] = seed % 2 ** 31
  if (stops !== undefined) config['stop_sequences'] = stops
  if (topK !== undefined) to.omit(clientName(to, 'topK'), 'the wire has no such field')
  const thinking = (reasoning && writeThinking(reasoning, most, to)) ?? {}
  const { thinkingLevel: level, thinkingBudget: budget, includeThoughts: shown } = thinking
  if (budget !== undefined) to.omit(clientName(to, 'reasoning'), 'the wire has no budgets')
  if (level !== undefined) config['thinking_level'] = level
  if (shown !== undefined) config['thinking_summaries'] = shown === true ? 'auto' : 'none'
  return config
}

function choiceOf(
  choice: Conversation['toolChoice'],
  functions: readonly FunctionTool[],
  names: FunctionNames,
): unknown {
  if (typeof choice === 'object') return { allowed_tools: { mode: 'any', tools: [names.toVendor(choice.name)] } }
  return choice ?? (functions.some(({ strict }) => strict === true) ? 'validated' : undefined)
}

function formatsOf({ output, settings: { modalities = [] } }: Conversation): Fields[] {
  const formats: Fields[] = []
  if (output !== undefined) {
    const schema = output.kind === 'schema' ? answerSchema(output.schema) : undefined
    formats.push({ type: 'text', mime_type: 'application/json', schema })
  } else if (modalities.includes('image') && modalities.includes('text')) formats.push({ type: 'text' })
  if (modalities.includes('image')) formats.push({ type: 'image' })
  return formats
}
