/** Tools of a chat, and which of them the model must call, in both directions. */
import { invalid } from '../../errors.ts'
import { listOf, readRecord, stringIn } from '../../providers/reading/parts.ts'
import { booleanOf, fieldsOf, isRecord, stringOf } from '../../wire/json.ts'
import type { Conversation, Fields, FunctionTool, OwnTool, Tool, ToolChoice } from '../../conversation/conversation.ts'
import { asOwn, others } from '../../conversation/own.ts'
import type { Target } from '../format.ts'
import { noParameters, sayable, shortName } from '../tools.ts'
import { cacheOf } from './content.ts'
import type { ChatTraits } from './traits.ts'

/** The tools that the client permits, and its choice of them. `allowed_tools` leaves out the others. */
export function readTools(body: Fields): Pick<Conversation, 'tools' | 'toolChoice'> {
  const tools = listOf(body['tools'], 'tools').map((raw, index) => readTool(raw, `tools[${index}]`))
  const { tool_choice: raw } = body
  if (raw === undefined || raw === null) return { tools }
  if (raw === 'auto' || raw === 'none') return { tools, toolChoice: raw }
  if (tools.length === 0) throw invalid('"tool_choice" is only allowed when "tools" are given.', 'tool_choice')
  if (raw === 'required') return { tools, toolChoice: 'any' }
  const choice = readRecord(raw, 'tool_choice')
  if (choice['type'] === 'allowed_tools') return readAllowed(choice['allowed_tools'], tools)
  const kind = choice['type'] === 'custom' ? 'custom' : 'function'
  const place = `tool_choice.${kind}`
  const name = stringIn(readRecord(choice[kind], place), 'name', place)
  requireKnown(tools, name, `${place}.name`)
  return { tools, toolChoice: { name } }
}

const toolFields = new Set(['type', 'function', 'cache_control', 'prompt_cache_breakpoint'])
const functionFields = new Set(['name', 'description', 'parameters', 'strict'])

function readTool(value: unknown, place: string): Tool {
  const raw = readRecord(value, place)
  const { type } = raw
  if (type !== 'function') return { kind: 'own', format: 'chat', type: String(type), value: raw, place }
  const spec = readRecord(raw['function'], `${place}.function`)
  const inner = others(spec, functionFields)
  const outer = others(raw, toolFields)
  return {
    kind: 'function',
    name: stringIn(spec, 'name', `${place}.function`),
    place,
    description: stringOf(spec['description']),
    schema: isRecord(spec['parameters']) ? spec['parameters'] : undefined,
    strict: booleanOf(spec['strict']),
    cache: cacheOf(raw),
    own: asOwn('chat', inner === undefined ? outer : { ...outer, function: inner }),
  }
}

function readAllowed(raw: unknown, tools: readonly Tool[]): Pick<Conversation, 'tools' | 'toolChoice'> {
  const place = 'tool_choice.allowed_tools'
  const { mode, tools: listed } = readRecord(raw, place)
  if (!Array.isArray(listed)) throw invalid(`"${place}.tools" must be a list.`, `${place}.tools`)
  const names = new Set(
    listed.map((each, index) => {
      const tool = fieldsOf(each)
      const kind = tool['type'] === 'custom' ? 'custom' : 'function'
      const where = `${place}.tools[${index}].${kind}`
      const name = stringIn(readRecord(tool[kind], where), 'name', where)
      requireKnown(tools, name, `${where}.name`)
      return name
    }),
  )
  const allowed = tools.filter((tool) => names.has(nameOf(tool) ?? ''))
  return { tools: allowed, toolChoice: mode === 'required' ? 'any' : 'auto' }
}

function requireKnown(tools: readonly Tool[], name: string, place: string): void {
  if (tools.some((tool) => nameOf(tool) === name)) return
  throw invalid(`"${place}" must be the name of one of the "tools".`, place)
}

function nameOf(tool: Tool): string | undefined {
  if (tool.kind === 'function') return tool.name
  return stringOf((isRecord(tool.value['custom']) ? tool.value['custom'] : tool.value)['name'])
}

/** The fields for tools; none without a tool. Names are at most as long as vendors allow, and each is there once. */
export function writeTools({ tools, toolChoice, parallel }: Conversation, to: Target<ChatTraits>): Fields {
  if (tools.length === 0) return {}
  const written: Fields[] = []
  const names = new Set<string>()
  let incomplete = false
  for (const tool of tools) {
    const known = sayable(tool, 'chat')
    if (known === undefined) {
      incomplete = true
      to.omit((tool as OwnTool).type, 'no other vendor has this tool')
    } else if (known.kind === 'own') written.push(known.value)
    else {
      const name = shortName(known.name)
      if (names.has(name)) continue
      names.add(name)
      written.push(writeTool(known, name, to.traits))
    }
  }
  const fields: Record<string, unknown> = {}
  if (written.length === 0) return fields
  fields['tools'] = written
  const choice = toolChoice === undefined ? undefined : writeChoice(toolChoice, names, tools, incomplete)
  if (choice !== undefined) fields['tool_choice'] = choice
  if (parallel === false || (parallel === true && to.traits.textParts === true))
    fields['parallel_tool_calls'] = parallel
  return fields
}

function writeTool(tool: FunctionTool, name: string, { cacheControl, textParts }: ChatTraits): Fields {
  const { description, schema, strict, cache, own } = tool
  const called: Record<string, unknown> = { name }
  if (description !== undefined && (description !== '' || textParts === true)) called['description'] = description
  if (schema !== undefined) called['parameters'] = schema
  else if (textParts !== true) called['parameters'] = noParameters
  if (strict !== undefined) called['strict'] = strict
  const written: Record<string, unknown> = { type: 'function', function: called }
  if (cacheControl === true && cache !== undefined) written['cache_control'] = { type: 'ephemeral', ...cache }
  const { function: inner, ...outer } = own?.chat ?? {}
  return Object.assign(written, outer, { function: Object.assign(called, inner) })
}

/** `incomplete`: the tool that must be called may be one of those that were left out. */
function writeChoice(
  choice: ToolChoice,
  names: ReadonlySet<string>,
  tools: readonly Tool[],
  incomplete: boolean,
): unknown {
  if (choice === 'any') return 'required'
  if (typeof choice === 'string') return choice
  const name = shortName(choice.name)
  if (names.has(name)) return { type: 'function', function: { name } }
  const custom = tools.some((tool) => tool.kind === 'own' && tool.format === 'chat' && nameOf(tool) === name)
  if (custom) return { type: 'custom', custom: { name } }
  if (incomplete) return undefined
  throw invalid('"tool_choice.name" must be the name of one of the "tools".', 'tool_choice.name')
}
