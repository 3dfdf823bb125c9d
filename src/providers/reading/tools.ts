/** Reads and validates the tools of a chat request, and which of them the model must use. */
import { invalid } from '../../errors.ts'
import type { Call } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { unsupportedValue } from '../unsupported.ts'
import { listOf, readRecord, stringIn } from './parts.ts'
import { isRecord } from '../../wire/json.ts'

export interface FunctionTool {
  readonly name: string
  readonly description?: string
  /** The JSON schema of the parameters, exactly as the client sent it. Absent for a function without parameters. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly strict?: boolean
  readonly raw: Readonly<Record<string, unknown>>
}

/** `tool_choice`. `named`: the model must call this function. */
export type ToolUse =
  | { readonly mode: 'auto' | 'none' | 'required' }
  | { readonly mode: 'named'; readonly name: string }

export interface ToolPlan {
  readonly tools: readonly FunctionTool[]
  /** Absent if the client did not choose. */
  readonly use?: ToolUse
  /** True if a response may have only one tool call. */
  readonly single: boolean
}

export function readTools(call: Pick<Call<ChatRequest>, 'request' | 'publicModel'>): ToolPlan {
  const { tools: raw, tool_choice: choice, parallel_tool_calls: parallel } = call.request
  const tools = listOf(raw, 'tools').map((tool: unknown, index) => readTool(call, tool, `tools[${index}]`))
  const single = parallel === false
  if (tools.length === 0 && choice !== undefined && choice !== null && choice !== 'none' && choice !== 'auto') {
    throw invalid('"tool_choice" is only allowed when "tools" are given.', 'tool_choice')
  }
  if (choice === undefined || choice === null || tools.length === 0) return { tools, single }
  if (typeof choice === 'string') return { tools, use: { mode: choice }, single }
  if (choice.type === 'function') {
    const name = stringIn(readRecord(choice.function, 'tool_choice.function'), 'name', 'tool_choice.function')
    requireKnown(namesOf(tools), name, 'tool_choice.function.name')
    return { tools, use: { mode: 'named', name }, single }
  }
  if (choice.type === 'allowed_tools') return { ...allowed(tools, choice['allowed_tools']), single }
  throw unsupportedValue(call, 'tool_choice.type', 'it must be "function" or "allowed_tools".')
}

/** Whether the model must call a tool. */
export function isForced({ use }: ToolPlan): boolean {
  return use?.mode === 'required' || use?.mode === 'named'
}

/** A name for the tool whose input is the structured response, different from those of all other tools. */
export function answerToolName({ tools }: ToolPlan, preferred = 'json'): string {
  const taken = namesOf(tools)
  let name = preferred
  while (taken.has(name)) name += '_answer'
  return name
}

function readTool(call: Pick<Call<unknown>, 'publicModel'>, value: unknown, param: string): FunctionTool {
  const raw = readRecord(value, param)
  if (raw['type'] !== 'function') throw unsupportedValue(call, `${param}.type`, 'it must be "function".')
  const spec = readRecord(raw['function'], `${param}.function`)
  const { description, parameters, strict } = spec
  return {
    name: stringIn(spec, 'name', `${param}.function`),
    ...(typeof description === 'string' && { description }),
    ...(isRecord(parameters) && { schema: parameters }),
    ...(typeof strict === 'boolean' && { strict }),
    raw,
  }
}

/** The tools that `allowed_tools` permits for this response. */
function allowed(tools: readonly FunctionTool[], raw: unknown): { tools: readonly FunctionTool[]; use: ToolUse } {
  const param = 'tool_choice.allowed_tools'
  const { mode, tools: listed } = readRecord(raw, param)
  if (!Array.isArray(listed)) throw invalid(`"${param}.tools" must be a list.`, `${param}.tools`)
  const known = namesOf(tools)
  const names = new Set(
    listed.map((each, index) => {
      const where = `${param}.tools[${index}].function`
      const name = stringIn(readRecord((each as { function?: unknown } | null)?.function, where), 'name', where)
      requireKnown(known, name, `${where}.name`)
      return name
    }),
  )
  return {
    tools: tools.filter(({ name }) => names.has(name)),
    use: { mode: mode === 'required' ? 'required' : 'auto' },
  }
}

function namesOf(tools: readonly FunctionTool[]): ReadonlySet<string> {
  return new Set(tools.map(({ name }) => name))
}

function requireKnown(known: ReadonlySet<string>, name: string, param: string): void {
  if (!known.has(name)) throw invalid(`"${param}" must be the name of one of the "tools".`, param)
}
