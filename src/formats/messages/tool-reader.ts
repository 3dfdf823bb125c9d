/** Reads tools, and the choice among them. */
import type { Conversation, FunctionTool, Tool, ToolChoice } from '../../conversation/conversation.ts'
import { ownOf } from '../../conversation/own.ts'
import { invalid } from '../../errors.ts'
import { booleanOf, fieldsOf, isRecord, stringOf, type Fields } from '../../wire/json.ts'
import { callable } from '../tools.ts'
import { cacheOf } from './block-reader.ts'
import { knownTool } from './known-tools.ts'

export function readTool(raw: unknown, place: string): Tool {
  if (!isRecord(raw)) throw invalid(`"${place}" must be an object.`, place)
  const { type, name, description, input_schema: schema, strict, cache_control: mark } = raw
  if (typeof type === 'string' && type !== 'custom') {
    const known = knownTool(type)
    const instead: FunctionTool | undefined = known && { ...known, name: stringOf(name) ?? known.name, place }
    return { kind: 'own', format: 'messages', type, value: raw, place, instead }
  }
  if (typeof name !== 'string') throw invalid(`Missing required parameter: "${place}.name".`, `${place}.name`)
  return {
    kind: 'function',
    name,
    place,
    description: stringOf(description) || undefined,
    schema: isRecord(schema) ? schema : undefined,
    strict: booleanOf(strict),
    cache: cacheOf(mark),
    own: ownOf('messages', raw, toolFields),
  }
}

const toolFields = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'])

/**
 * The tools that the blocks of a system message add to those of the request. Removed tools stay: calls of them may be in the
 * history.
 */
export function addedTools(blocks: readonly unknown[], place: string): Tool[] {
  return blocks.flatMap((block, index): Tool[] => {
    const { type, tool } = fieldsOf(block)
    const { definition } = fieldsOf(tool)
    if (type !== 'tool_addition' || !isRecord(definition)) return []
    const added = readTool(definition, `${place}[${index}].tool.definition`)
    return added.kind === 'function'
      ? [{ ...added, own: { messages: { ...added.own?.messages, added: true } } }]
      : [added]
  })
}

/** The tools without those whose name an earlier one has: vendors reject repeated names. */
export function withoutRepeated(tools: readonly Tool[]): readonly Tool[] {
  if (tools.length < 2) return tools
  const names = new Set<string>()
  const kept = tools.filter((tool) => {
    const name = callable(tool)?.name
    if (name === undefined) return true
    if (names.has(name)) return false
    names.add(name)
    return true
  })
  return kept.length === tools.length ? tools : kept
}

export function readChoice(choice: unknown, tools: readonly Tool[]): Pick<Conversation, 'toolChoice' | 'parallel'> {
  if (!isRecord(choice)) return {}
  const { disable_parallel_tool_use: single } = choice
  return { toolChoice: choiceIn(choice, tools), parallel: typeof single === 'boolean' ? !single : undefined }
}

function choiceIn({ type, name }: Fields, tools: readonly Tool[]): ToolChoice | undefined {
  if (type === 'auto' || type === 'none' || type === 'any') return type
  if (type !== 'tool') return undefined
  if (typeof name === 'string' && tools.some((tool) => nameOf(tool) === name)) return { name }
  throw invalid('"tool_choice.name" must be the name of one of the "tools".', 'tool_choice.name')
}

function nameOf(tool: Tool): unknown {
  return tool.kind === 'function' ? tool.name : (tool.value['name'] ?? tool.instead?.name)
}
