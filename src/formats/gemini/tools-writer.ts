/** Writes tools and the choice among them. */
import type { Conversation, Fields, FunctionTool, OwnTool } from '../../conversation/conversation.ts'
import type { FunctionNames } from './names.ts'
import { parametersSchema } from './schema.ts'
import { isRecord } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { sayable } from '../tools.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'

export function writeTools(
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
