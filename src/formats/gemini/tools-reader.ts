/** Reads tools and the choice among them. */
import type { FunctionTool, Fields, Tool, ToolChoice } from '../../conversation/conversation.ts'
import { ownOf } from '../../conversation/own.ts'
import { stringIn, textsOf } from '../../providers/reading/parts.ts'
import { fieldsOf, isRecord, stringOf } from '../../wire/json.ts'
import { itemsAt, recordAt } from './fields.ts'
import { jsonSchemaOf } from './open-api-schema.ts'

export interface ReadTools {
  readonly tools: readonly Tool[]
  readonly toolChoice?: ToolChoice | undefined
  /** What of `toolConfig` only this wire has. */
  readonly rest?: Fields | undefined
}

export function readTools(raw: unknown, config: unknown): ReadTools {
  const tools = itemsAt(raw, 'tools').flatMap((each, index) =>
    readTool(recordAt(each, `tools[${index}]`), `tools[${index}]`),
  )
  return readChoice(tools, recordAt(config ?? {}, 'toolConfig'))
}

/** One object may have functions and tools of the vendor's own. */
function readTool(raw: Fields, place: string): Tool[] {
  const { functionDeclarations, ...own } = raw
  const where = `${place}.functionDeclarations`
  return [
    ...itemsAt(functionDeclarations, where).map((each, index) => readFunction(each, `${where}[${index}]`)),
    ...Object.entries(own).map(([type, value]): Tool => {
      return { kind: 'own', format: 'gemini', type, value: { [type]: value }, place: `${place}.${type}` }
    }),
  ]
}

const functionFields = new Set(['name', 'description', 'parametersJsonSchema'])

function readFunction(raw: unknown, place: string): FunctionTool {
  const spec = recordAt(raw, place)
  const { description, parameters, parametersJsonSchema } = spec
  const given = isRecord(parameters) ? jsonSchemaOf(parameters) : undefined
  return {
    kind: 'function',
    name: stringIn(spec, 'name', place),
    place,
    description: stringOf(description),
    schema: isRecord(parametersJsonSchema) ? parametersJsonSchema : given,
    own: ownOf('gemini', spec, functionFields),
  }
}

/** `VALIDATED` lets the model choose. Of functions that are not allowed, the model is not told. */
function readChoice(tools: readonly Tool[], config: Fields): ReadTools {
  const { functionCallingConfig: given, ...rest } = config
  const place = 'toolConfig.functionCallingConfig'
  const { mode, allowedFunctionNames, ...more } = recordAt(fieldsOf(given), place)
  const names = textsOf(allowedFunctionNames, `${place}.allowedFunctionNames`)
  const isValidated = mode === 'VALIDATED'
  const calling = { ...more, ...(isValidated && { mode }) }
  const own = { ...rest, ...(Object.keys(calling).length > 0 && { functionCallingConfig: calling }) }
  const left = Object.keys(own).length > 0 ? own : undefined
  if (mode === 'NONE') return { tools, toolChoice: 'none', rest: left }
  const allowed = new Set(mode === 'ANY' || isValidated ? names : [])
  const usable = allowed.size === 0 ? tools : tools.filter((tool) => tool.kind !== 'function' || allowed.has(tool.name))
  if (mode !== 'ANY') return { tools: usable, toolChoice: mode === undefined ? undefined : 'auto', rest: left }
  const [only] = allowed
  if (allowed.size === 1 && only !== undefined) return { tools, toolChoice: { name: only }, rest: left }
  return { tools: usable, toolChoice: 'any', rest: left }
}
