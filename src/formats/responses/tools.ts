/** Tools and the choice among them, in both directions. */
import { invalid, refusedValue } from '../../errors.ts'
import { listOf, readRecord } from '../../providers/reading/parts.ts'
import { booleanOf, isRecord, itemsOf, stringOf, textOf } from '../../wire/json.ts'
import type { Conversation, Fields, FunctionTool, OwnTool, Tool, ToolChoice } from '../../conversation/conversation.ts'
import { asOwn, joinOwn, ownOf } from '../../conversation/own.ts'
import { isClosed } from '../closed-schema.ts'
import { customFunction } from '../stages/custom-tools.ts'
import { callable, noParameters, sayable, shortName } from '../tools.ts'
import { declaredAs } from './client-tools.ts'
import { groupOf, nameIn, ownName } from './names.ts'
import type { Target } from '../format.ts'
import type { ResponsesTraits } from './traits.ts'

/** Groups are flattened. */
export function readTools(raw: unknown): Tool[] {
  const tools: Tool[] = []
  for (const [index, each] of listOf(raw, 'tools').entries()) {
    const place = `tools[${index}]`
    const { tools: inner, ...group } = readRecord(each, place)
    if (group['type'] !== 'namespace') tools.push(readTool(each as Fields, place, undefined))
    else
      for (const [at, tool] of itemsOf(inner).entries())
        if (isRecord(tool)) tools.push(readTool(tool, `${place}.tools[${at}]`, group))
  }
  return withoutClashes(tools)
}

const functionFields = new Set(['type', 'name', 'description', 'parameters', 'strict'])

function readTool(raw: Fields, place: string, group: Fields | undefined): Tool {
  const { type, name, description, parameters, strict } = raw
  if ((type === 'function' || type === 'custom') && typeof name !== 'string')
    throw invalid(`Missing required parameter: "${place}.name".`, `${place}.name`)
  const inGroup = asOwn('responses', group && { group })
  if (type === 'function')
    return {
      kind: 'function',
      name: nameIn(group?.['name'], name as string),
      place,
      description: stringOf(description),
      schema: isRecord(parameters) ? parameters : undefined,
      strict: booleanOf(strict),
      own: joinOwn(ownOf('responses', raw, functionFields), inGroup),
    }
  const tool = { kind: 'own', format: 'responses', type: textOf(type), value: raw, place } as const
  if (type !== 'custom') return { ...tool, instead: declaredAs(raw) }
  return { ...tool, instead: { ...customFunction(raw, nameIn(group?.['name'], name as string), place), own: inGroup } }
}

/** A function of the client has precedence over a tool that is only said as one. */
function withoutClashes(tools: Tool[]): Tool[] {
  const names = new Set(tools.flatMap((tool) => (tool.kind === 'function' ? [tool.name] : [])))
  return tools.map((tool) => {
    if (tool.kind === 'function' || tool.type === 'custom' || !names.has(tool.instead?.name ?? '')) return tool
    return { ...tool, instead: undefined }
  })
}

/** `allowed_tools` leaves out the other tools. Throws 400 for a choice that the tools do not allow. */
export function readChoice(raw: unknown, tools: readonly Tool[]): Pick<Conversation, 'tools' | 'toolChoice'> {
  if (raw === undefined || raw === null) return { tools }
  if (raw === 'auto' || raw === 'none') return { tools, toolChoice: raw }
  if (raw === 'required') {
    if (!tools.some((tool) => callable(tool) !== undefined))
      throw impossible('requires a tool that this model can call')
    return { tools, toolChoice: 'any' }
  }
  if (!isRecord(raw)) throw invalid('"tool_choice" must be a string or an object.', 'tool_choice')
  if (raw['type'] === 'allowed_tools') {
    const listed = new Set(itemsOf(raw['tools']).map((each) => find(each, tools)))
    const allowed = tools.filter((tool) => callable(tool) !== undefined && listed.has(tool))
    const required = raw['mode'] === 'required'
    if (required && allowed.length === 0) throw impossible('must allow a tool that this model can call')
    return allowed.length === 0 ? { tools: allowed } : { tools: allowed, toolChoice: required ? 'any' : 'auto' }
  }
  const chosen = find(raw, tools)
  const called = chosen && callable(chosen)
  if (called === undefined) throw impossible('must name a tool in "tools" that this model can call')
  return { tools, toolChoice: { name: called.name } }
}

/** Tools in groups may be named without their group. */
function find(raw: unknown, tools: readonly Tool[]): Tool | undefined {
  if (!isRecord(raw)) return undefined
  const { type, name, namespace } = raw
  return tools.find((tool) => {
    if ((tool.kind === 'function' ? 'function' : tool.type) !== type) return false
    const called = callable(tool)
    if (name === undefined) return tool.kind === 'own'
    if (called === undefined || ownName(called) !== name) return false
    return namespace === undefined || groupOf(tool)?.['name'] === namespace
  })
}

function impossible(why: string) {
  return refusedValue(`"tool_choice" ${why}.`, 'tool_choice')
}

type Omit = Target<ResponsesTraits>['omit']

export function writeTools({ tools, toolChoice, parallel }: Conversation, omit: Omit): Fields {
  const written: Fields[] = []
  let open: { readonly name: unknown; readonly tools: Fields[] } | undefined
  for (const tool of tools) {
    const one = writeTool(tool, omit)
    if (one === undefined) continue
    const group = groupOf(tool)
    if (group === undefined) {
      open = undefined
      written.push(one)
    } else if (open !== undefined && open.name === group['name']) open.tools.push(one)
    else {
      open = { name: group['name'], tools: [one] }
      written.push({ ...group, tools: open.tools })
    }
  }
  if (written.length === 0) return {}
  const choice = toolChoice === undefined ? undefined : choiceOf(toolChoice, tools)
  return { tools: written, tool_choice: choice, parallel_tool_calls: parallel }
}

function writeTool(tool: Tool, omit: Omit): Fields | undefined {
  const said = sayable(tool, 'responses')
  if (said?.kind === 'function') return writeFunction(said, omit)
  if (said === undefined) omit((tool as OwnTool).type, 'no other vendor has this tool')
  return said?.value
}

/** Without `strict`, OpenAI would enforce the schema and require all of its properties; it rejects one that is not closed. */
function writeFunction(tool: FunctionTool, omit: Omit): Fields {
  const { description, schema = noParameters, strict = false, place = 'tools', own } = tool
  const { group: _, ...more } = own?.responses ?? {}
  const enforced = strict && isClosed(schema)
  if (strict && !enforced) omit(`${place}.strict`, 'the schema cannot be enforced')
  const named = { name: shortName(ownName(tool)), description }
  return { type: 'function', ...named, parameters: schema, strict: enforced, ...more }
}

function choiceOf(choice: ToolChoice, tools: readonly Tool[]): unknown {
  if (choice === 'any') return 'required'
  if (typeof choice === 'string') return choice
  const tool = tools.find((each) => callable(each)?.name === choice.name)
  const called = tool && callable(tool)
  const namespace = tool && groupOf(tool)?.['name']
  const type = tool?.kind === 'own' && tool.format === 'responses' ? tool.type : 'function'
  return { type, name: shortName(called === undefined ? choice.name : ownName(called)), namespace }
}
