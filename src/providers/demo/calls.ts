/** Which tools the demo model calls, and with what. */
import { invalid } from '../../errors.ts'
import type { Conversation, FunctionTool } from '../../conversation/conversation.ts'
import { fitting } from './fitting.ts'
import { Hints } from './hints.ts'
import type { Prompt } from './prompt.ts'
import { newBudget } from './schema.ts'

/** Calls in one answer. */
const maxCalls = 32
/** Characters of a name. */
const maxName = 128

export interface PlannedCall {
  readonly name: string
  /** JSON text. */
  readonly input: string
}

/** The calls of the answer; none if it is text. */
export function callsFor({ tools: offered, toolChoice, parallel }: Conversation, prompt: Prompt): PlannedCall[] {
  const functions = offered.filter((tool) => tool.kind === 'function')
  if (functions.some(({ name }) => name.length > maxName)) {
    throw invalid(`Names of tools have at most ${maxName} characters for this model.`, 'tools')
  }
  const chosen = typeof toolChoice === 'object' ? functions.filter(({ name }) => name === toolChoice.name) : functions
  const [first] = chosen
  if (first === undefined || toolChoice === 'none') return []
  const wanted = wantedOf(chosen, prompt)
  let calls = wanted.filter(({ name }) => !prompt.called.has(name))
  if (calls.length === 0 && toolChoice !== undefined && toolChoice !== 'auto') calls = [wanted[0] ?? first]
  const hints = new Hints(prompt.question)
  const budget = newBudget()
  return calls.slice(0, parallel === false ? 1 : maxCalls).map(({ name, schema }) => {
    return { name, input: JSON.stringify(fitting(schema ?? { type: 'object' }, hints.restart(), budget)) }
  })
}

/** The tools that the question names; otherwise those it is about; otherwise the first, if the user asks for a tool. */
function wantedOf(tools: readonly FunctionTool[], { question, instructions }: Prompt): readonly FunctionTool[] {
  const named = tools.filter(({ name }) => mentions(question, name))
  if (named.length > 0) return named
  const words = new Set(wordsOf(question))
  const about = tools.filter(({ name }) => wordsOf(name).some((word) => words.has(word)))
  if (about.length > 0) return about
  if (/\b(?:call|use|using|invoke)\b[^.\n]{0,60}\b(?:tools?|functions?)\b/i.test(question)) return tools.slice(0, 1)
  if (!/\b(?:always|must)\b[^.\n]{0,60}\b(?:call|use)\b[^.\n]{0,60}\b(?:tool|function)\b/i.test(instructions)) return []
  const ordered = tools.filter(({ name }) => mentions(instructions, name))
  return ordered.length > 0 || tools.length > 1 ? ordered.slice(0, 1) : tools
}

/** Whether a text has a name as a whole word, in any case. */
function mentions(text: string, name: string): boolean {
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
  const spaced = text.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ').toLowerCase()
  const words = (spaced.match(/\p{L}{4,}/gu) ?? []).map((word) => word.replace(/s$/, ''))
  return words.filter((word) => !insignificant.has(word))
}
