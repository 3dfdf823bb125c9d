/** The tools of a chat and which of them the model must use, checked. */
import { invalid } from '../../errors.ts'
import type { Call } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { unsupportedValue } from '../unsupported.ts'
import { isRecord, listOf, recordOf, stringIn } from './parts.ts'

export interface FunctionTool {
  readonly name: string
  readonly description?: string
  /** A JSON schema, exactly as the client sent it; undefined for a function without parameters. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly strict?: boolean
  readonly raw: Readonly<Record<string, unknown>>
}

/** `named` is one function that must be called. */
export type ToolUse =
  | { readonly mode: 'auto' | 'none' | 'required' }
  | { readonly mode: 'named'; readonly name: string }

export interface ToolPlan {
  readonly tools: readonly FunctionTool[]
  /** Undefined when the client did not say. */
  readonly use?: ToolUse
  /** At most one call in one answer. */
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
    const name = stringIn(recordOf(choice.function, 'tool_choice.function'), 'name', 'tool_choice.function')
    requireKnown(namesOf(tools), name, 'tool_choice.function.name')
    return { tools, use: { mode: 'named', name }, single }
  }
  if (choice.type === 'allowed_tools') return { ...allowed(tools, choice['allowed_tools']), single }
  throw unsupportedValue(call, 'tool_choice.type', 'it must be "function" or "allowed_tools".')
}

/** The answer must be a call. */
export function isForced({ use }: ToolPlan): boolean {
  return use?.mode === 'required' || use?.mode === 'named'
}

/** The name of a tool whose input is the answer itself, beside which no other tool has that name. */
export function answerToolName({ tools }: ToolPlan, wish = 'json'): string {
  const taken = namesOf(tools)
  let name = wish
  while (taken.has(name)) name += '_answer'
  return name
}

function readTool(call: Pick<Call<unknown>, 'publicModel'>, value: unknown, param: string): FunctionTool {
  const raw = recordOf(value, param)
  if (raw['type'] !== 'function') throw unsupportedValue(call, `${param}.type`, 'it must be "function".')
  const spec = recordOf(raw['function'], `${param}.function`)
  const { description, parameters, strict } = spec
  return {
    name: stringIn(spec, 'name', `${param}.function`),
    ...(typeof description === 'string' && { description }),
    ...(isRecord(parameters) && { schema: parameters }),
    ...(typeof strict === 'boolean' && { strict }),
    raw,
  }
}

/** Only some of the tools may be used in this answer. */
function allowed(tools: readonly FunctionTool[], raw: unknown): { tools: readonly FunctionTool[]; use: ToolUse } {
  const param = 'tool_choice.allowed_tools'
  const { mode, tools: listed } = recordOf(raw, param)
  if (!Array.isArray(listed)) throw invalid(`"${param}.tools" must be a list.`, `${param}.tools`)
  const known = namesOf(tools)
  const names = new Set(
    listed.map((each, index) => {
      const where = `${param}.tools[${index}].function`
      const name = stringIn(recordOf((each as { function?: unknown } | null)?.function, where), 'name', where)
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
  if (!known.has(name)) throw invalid(`"${param}" names none of the "tools".`, param)
}
