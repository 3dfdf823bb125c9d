/** Which of the tools offered the demo model calls, and with what. */
import { invalid } from '../../errors.ts'
import type { ChatRequest, Tool } from '../../wire/chat.ts'
import type { Conversation } from './conversation.ts'
import { Hints } from './hints.ts'
import { sample, type Schema } from './sample.ts'

export interface PlannedCall {
  readonly kind: 'function' | 'custom'
  readonly name: string
  /** JSON text for a function, any text for a custom tool. */
  readonly input: string
}

interface Offer {
  readonly tools: readonly Tool[]
  readonly mode: 'none' | 'auto' | 'required'
}

/** None, when it answers itself. */
export function callsFor(request: ChatRequest, conversation: Conversation): readonly PlannedCall[] {
  const { tools, mode } = offerOf(request)
  if (mode === 'none' || tools.length === 0) return []
  const wanted = wantedOf(tools, conversation)
  let calls = wanted.filter((tool) => !conversation.called.has(nameOf(tool)))
  if (mode === 'required' && calls.length === 0) calls = [wanted[0] ?? (tools[0] as Tool)]
  if (request.parallel_tool_calls === false) calls = calls.slice(0, 1)
  return calls.map((tool) => callOf(tool, conversation.question))
}

/** `tool_choice`, in each of its forms. */
function offerOf({ tools, tool_choice: choice }: ChatRequest): Offer {
  const offered = tools ?? []
  if (offered.length === 0) {
    if (choice && choice !== 'none' && choice !== 'auto') {
      throw invalid('"tool_choice" is only allowed when "tools" are given.', 'tool_choice')
    }
    return { tools: [], mode: 'none' }
  }
  if (typeof choice === 'string') return { tools: offered, mode: choice }
  if (!choice) return { tools: offered, mode: 'auto' }
  const { allowed_tools: allowed } = choice as { allowed_tools?: { mode?: string; tools?: readonly Tool[] } }
  const names = (allowed?.tools ?? [choice]).map(nameOf)
  const chosen = offered.filter((tool) => names.includes(nameOf(tool)))
  if (chosen.length === 0) throw invalid('"tool_choice" names a tool that is not in "tools".', 'tool_choice')
  return { tools: chosen, mode: allowed?.mode === 'auto' ? 'auto' : 'required' }
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

function names(text: string, name: string): boolean {
  return new RegExp(`(?<!\\w)${name.replace(/\W/g, '\\$&')}(?!\\w)`, 'i').test(text)
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

function callOf(tool: Tool, question: string): PlannedCall {
  const name = nameOf(tool)
  if (tool.function === undefined) return { kind: 'custom', name, input: question }
  const schema = (tool.function.parameters ?? { type: 'object', properties: {} }) as Schema
  return { kind: 'function', name, input: JSON.stringify(sample(schema, new Hints(question))) }
}

function nameOf(tool: object): string {
  const { function: called, custom } = tool as { function?: { name?: string }; custom?: { name?: string } }
  return called?.name ?? custom?.name ?? ''
}
