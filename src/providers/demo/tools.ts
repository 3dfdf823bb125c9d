/** Decides which tools the demo model calls, and with which arguments. */
import { invalid } from '../../errors.ts'
import type { ChatRequest, Tool } from '../../wire/chat.ts'
import { budget, Spending } from './budget.ts'
import type { Conversation } from './conversation.ts'
import { Hints } from './hints.ts'
import { sample } from './sample.ts'
import type { Schema } from './schema.ts'

export interface PlannedCall {
  /** `legacy`: one of the deprecated `functions`. */
  readonly kind: 'function' | 'custom' | 'legacy'
  readonly name: string
  /** JSON text for a function, any text for a custom tool. */
  readonly input: string
}

interface Offer {
  readonly tools: readonly Tool[]
  readonly mode: 'none' | 'auto' | 'required'
  /** True for the deprecated `functions`. */
  readonly legacy: boolean
  /** True if the response may have only one tool call. */
  readonly single: boolean
}

type Choice = Offer['mode'] | { readonly allowed_tools?: { readonly mode?: string; readonly tools?: readonly Tool[] } }

/** The tool calls of the response; empty if it is text. */
export function callsFor(request: ChatRequest, conversation: Conversation): readonly PlannedCall[] {
  const { tools, mode, legacy, single } = offerOf(request)
  if (mode === 'none' || tools.length === 0) return []
  const wanted = wantedOf(tools, conversation)
  let calls = wanted.filter((tool) => !conversation.called.has(nameOf(tool)))
  if (mode === 'required' && calls.length === 0) calls = [wanted[0] ?? (tools[0] as Tool)]
  const hints = new Hints(conversation.question)
  const spending = new Spending()
  return calls.slice(0, single ? 1 : budget.calls).map((tool) => {
    hints.restart()
    return callOf(tool, legacy, hints, spending)
  })
}

/** Reads `tools` and `tool_choice`, or the deprecated `functions` and `function_call`. */
function offerOf(request: ChatRequest): Offer {
  const { tools: given = [], tool_choice: choice, parallel_tool_calls: parallel } = request
  const legacy = !given?.length
  if (legacy && choice && choice !== 'none' && choice !== 'auto') {
    throw invalid('"tool_choice" is only allowed when "tools" are given.', 'tool_choice')
  }
  const functions = (request['functions'] ?? []) as readonly NonNullable<Tool['function']>[]
  const tools = legacy ? functions.map((each): Tool => ({ type: 'function', function: each })) : given
  const offer = { tools, legacy, single: legacy || parallel === false }
  const wanted = (legacy ? request['function_call'] : choice) as Choice | null | undefined
  if (typeof wanted !== 'object' || wanted === null) return { ...offer, mode: wanted ?? 'auto' }
  const { allowed_tools: allowed } = wanted
  const names = new Set((allowed?.tools ?? [wanted]).map(nameOf))
  const chosen = tools.filter((tool) => names.has(nameOf(tool)))
  if (chosen.length > 0) return { ...offer, tools: chosen, mode: allowed?.mode === 'auto' ? 'auto' : 'required' }
  if (legacy) throw invalid('"function_call" must name one of the "functions".', 'function_call')
  throw invalid('"tool_choice" must name one of the "tools".', 'tool_choice')
}

/** The tools that the question names; otherwise those it is about; otherwise the first, if the user requests a tool. */
function wantedOf(tools: readonly Tool[], { question, instructions }: Conversation): readonly Tool[] {
  const named = tools.filter((tool) => names(question, nameOf(tool)))
  if (named.length > 0) return named
  const words = new Set(wordsOf(question))
  const about = tools.filter((tool) => wordsOf(nameOf(tool)).some((word) => words.has(word)))
  if (about.length > 0) return about
  if (/\b(?:call|use|using|invoke)\b[^.\n]{0,60}\b(?:tools?|functions?)\b/i.test(question)) return tools.slice(0, 1)
  if (!/\b(?:always|must)\b[^.\n]{0,60}\b(?:call|use)\b[^.\n]{0,60}\b(?:tool|function)\b/i.test(instructions)) return []
  const ordered = tools.filter((tool) => names(instructions, nameOf(tool)))
  return ordered.length > 0 || tools.length > 1 ? ordered.slice(0, 1) : tools
}

/** Whether a text contains a name as a whole word, case-insensitively. */
function names(text: string, name: string): boolean {
  if (name === '') return false
  const [haystack, needle] = [text.toLowerCase(), name.toLowerCase()]
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + needle.length)) {
    if (!/\w/.test(haystack[at - 1] ?? '') && !/\w/.test(haystack[at + needle.length] ?? '')) return true
  }
  return false
}

const insignificant = new Set(['tool', 'call', 'function', 'current', 'with', 'from', 'this', 'that', 'what'])

/** The significant words of a name or a question, such as `weather` in `getCurrentWeather`. */
function wordsOf(text: string): string[] {
  const words =
    text
      .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
      .toLowerCase()
      .match(/\p{L}{4,}/gu) ?? []
  return words.map((word) => word.replace(/s$/, '')).filter((word) => !insignificant.has(word))
}

function callOf(tool: Tool, legacy: boolean, hints: Hints, spending: Spending): PlannedCall {
  const name = nameOf(tool)
  if (tool.function === undefined) return { kind: 'custom', name, input: hints.question }
  const schema = (tool.function.parameters ?? { type: 'object', properties: {} }) as Schema
  const input = JSON.stringify(sample(schema, hints, spending))
  return { kind: legacy ? 'legacy' : 'function', name, input }
}

interface Named {
  readonly name?: string
}

/** The name of a tool, or of an entry that chooses one. */
function nameOf(tool: object): string {
  const { function: called, custom, name } = tool as { function?: Named; custom?: Named } & Named
  return called?.name ?? custom?.name ?? name ?? ''
}
