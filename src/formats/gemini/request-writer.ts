/** Writes the body of `generateContent`. Source: the Gemini API reference, v1beta. */
import type { Conversation, Fields, FunctionTool, OwnTool } from '../../conversation/conversation.ts'
import { clientName } from '../field-names.ts'
import { callable, sayable } from '../tools.ts'
import { FunctionNames } from './names.ts'
import type { Target } from '../format.ts'
import { ContentWriter } from './contents-writer.ts'
import { writeConfig, writeTier } from './settings-writer.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'
import { parametersSchema } from './schema.ts'
import { isRecord } from '../../wire/json.ts'

export function writeRequest(conversation: Conversation, to: Target<ContentTraits>): Fields {
  const names = functionNames(conversation)
  const body: Record<string, unknown> = { ...new ContentWriter(to, names).write(conversation.turns) }
  const { tools, toolConfig } = writeTools(conversation, names, to)
  if (tools !== undefined) body['tools'] = tools
  if (toolConfig !== undefined) body['toolConfig'] = toolConfig
  const config = writeConfig(conversation, to)
  if (config !== undefined) body['generationConfig'] = config
  const tier = writeTier(conversation.settings.tier, to)
  if (tier !== undefined) body['serviceTier'] = tier
  if (conversation.settings.user !== undefined) to.omit(clientName(to, 'user'), 'the wire has no such field')
  // Clients of chats send these under Google's name in snake case.
  const safety = conversation.own?.chat?.['safety_settings']
  if (Array.isArray(safety)) body['safetySettings'] = safety
  const { toolConfig: _, generationConfig: __, ...own } = conversation.own?.gemini ?? {}
  return Object.assign(body, own)
}

/** The names of all functions, as the vendor takes them: it accepts fewer than clients use. */
export function functionNames({ tools, turns }: Conversation): FunctionNames {
  const names: string[] = []
  for (const tool of tools) {
    const name = callable(tool)?.name
    if (name !== undefined) names.push(name)
  }
  for (const { blocks } of turns) for (const block of blocks) if (block.kind === 'call') names.push(block.name)
  return new FunctionNames(names)
}

function writeTools(
  { tools, toolChoice, own }: Conversation,
  names: FunctionNames,
  to: Target<ContentTraits>,
): { readonly tools?: readonly Fields[]; readonly toolConfig?: Fields } {
  const functions: FunctionTool[] = []
  const others: Fields[] = []
  for (const tool of tools) {
    const said = sayable(tool, 'gemini')
    if (said === undefined) to.omit((tool as OwnTool).type, 'the vendor has no such tool')
    else if (said.kind === 'function') functions.push(said)
    else others.push(said.value)
  }
  const written =
    functions.length === 0
      ? others
      : [{ functionDeclarations: functions.map((each) => declaration(each, names)) }, ...others]
  const calling = functions.length === 0 ? undefined : callingConfig(toolChoice, functions, names)
  const toolConfig = withOwn(calling, own?.gemini?.['toolConfig'])
  return { ...(written.length > 0 && { tools: written }), ...(toolConfig && { toolConfig }) }
}

function declaration({ name, description, schema, own }: FunctionTool, names: FunctionNames): Fields {
  const isGiven = schema === undefined || own?.gemini?.['parameters'] !== undefined
  const parameters = isGiven ? undefined : parametersSchema(schema)
  return { name: names.toVendor(name), description, parametersJsonSchema: parameters, ...own?.gemini }
}

function callingConfig(
  choice: Conversation['toolChoice'],
  functions: readonly FunctionTool[],
  names: FunctionNames,
): Fields | undefined {
  if (choice === 'none') return { mode: 'NONE' }
  if (choice === 'any') return { mode: 'ANY' }
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [names.toVendor(choice.name)] }
  if (functions.some(({ strict }) => strict === true)) return { mode: 'VALIDATED' }
  return choice === undefined ? undefined : { mode: 'AUTO' }
}

function withOwn(calling: Fields | undefined, own: unknown): Fields | undefined {
  if (!isRecord(own)) return calling && { functionCallingConfig: calling }
  const { functionCallingConfig: more } = own
  if (calling === undefined && more === undefined) return own
  return { ...own, functionCallingConfig: { ...calling, ...(isRecord(more) ? more : undefined) } }
}
