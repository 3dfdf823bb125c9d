/** Which of the tools offered the demo model calls, and with what. */
import { invalid } from '../../errors.ts'
import type { ChatRequest, Tool } from '../../wire/chat.ts'
import { budget, Spending } from './budget.ts'
import type { Conversation } from './conversation.ts'
import { Hints } from './hints.ts'
import { sample } from './sample.ts'
import type { Schema } from './schema.ts'

export interface PlannedCall {
  /** `legacy`: one of `functions`. */
  readonly kind: 'function' | 'custom' | 'legacy'
  readonly name: string
  /** JSON text for a function, any text for a custom tool. */
  readonly input: string
}

interface Offer {
  readonly tools: readonly Tool[]
  readonly mode: 'none' | 'auto' | 'required'
  /** Offered as `functions`. */
  readonly legacy: boolean
  /** At most one call is wanted. */
  readonly single: boolean
}

type Choice = Offer['mode'] | { readonly allowed_tools?: { readonly mode?: string; readonly tools?: readonly Tool[] } }

/** None, when it answers itself. */
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

/** What is offered, and `tool_choice` in each of its forms, or `functions` and `function_call`, which they have replaced. */
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
  if (legacy) throw invalid('"function_call" names a function that is not in "functions".', 'function_call')
  throw invalid('"tool_choice" names a tool that is not in "tools".', 'tool_choice')
}

/** Those the user names; else those the question is about; else, when a tool is asked for, the first. */
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

/** Whether a name stands in a text, in any case of letters, and not inside of a word. */
function names(text: string, name: string): boolean {
  if (name === '') return false
  const [place, wanted] = [text.toLowerCase(), name.toLowerCase()]
  for (let at = place.indexOf(wanted); at >= 0; at = place.indexOf(wanted, at + wanted.length)) {
    if (!/\w/.test(place[at - 1] ?? '') && !/\w/.test(place[at + wanted.length] ?? '')) return true
  }
  return false
}

const empty = new Set(['tool', 'call', 'function', 'current', 'with', 'from', 'this', 'that', 'what'])

/** The telling words of a name or a question: `getCurrentWeather` is about `weather`. */
function wordsOf(text: string): string[] {
  const words =
    text
      .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
      .toLowerCase()
      .match(/\p{L}{4,}/gu) ?? []
  return words.map((word) => word.replace(/s$/, '')).filter((word) => !empty.has(word))
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

/** The name of a tool, or of what chooses one. */
function nameOf(tool: object): string {
  const { function: called, custom, name } = tool as { function?: Named; custom?: Named } & Named
  return called?.name ?? custom?.name ?? name ?? ''
}
