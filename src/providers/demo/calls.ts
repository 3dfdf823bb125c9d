/** Which tools the demo model calls, and with what. */
import { invalid } from '../../errors.ts'
import type { Conversation, FunctionTool } from '../../conversation/conversation.ts'
import { fittingFor } from './fitting.ts'
import type { Prompt } from './prompt.ts'

/** Calls in one answer, and characters of a name. */
const [maxCalls, maxName] = [32, 128]

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
  if (toolChoice === 'none') return []
  const wanted = wantedOf(chosen, prompt)
  let calls = wanted.filter(({ name }) => !prompt.called.has(name))
  const mustCall = toolChoice !== undefined && toolChoice !== 'auto'
  if (calls.length === 0 && mustCall) calls = [...wanted, ...chosen].slice(0, 1)
  const fitting = fittingFor(prompt.question)
  return calls.slice(0, parallel === false ? 1 : maxCalls).map(({ name, schema }) => {
    return { name, input: JSON.stringify(fitting(schema ?? { type: 'object' })) }
  })
}

/** The tools that the question names; otherwise those it is about; otherwise the first, if the user asks for a tool. */
function wantedOf(tools: readonly FunctionTool[], { question, instructions }: Prompt): readonly FunctionTool[] {
  const named = namedIn(question, tools)
  if (named.length > 0) return named
  const words = new Set(wordsOf(question))
  const about = tools.filter(({ name }) => wordsOf(name).some((word) => words.has(word)))
  if (about.length > 0) return about
  if (/\b(?:call|use|using|invoke)\b[^.\n]{0,60}\b(?:tools?|functions?)\b/i.test(question)) return tools.slice(0, 1)
  if (!/\b(?:always|must)\b[^.\n]{0,60}\b(?:call|use)\b[^.\n]{0,60}\b(?:tool|function)\b/i.test(instructions)) return []
  return (tools.length > 1 ? namedIn(instructions, tools) : tools).slice(0, 1)
}

/** The tools whose names a text has as whole words, in any case. */
function namedIn(text: string, tools: readonly FunctionTool[]): readonly FunctionTool[] {
  const words = ` ${text.toLowerCase().replace(/[^\w-]+/g, ' ')} `
  return tools.filter(({ name }) => name !== '' && words.includes(` ${name.toLowerCase()} `))
}

const insignificant = new Set(['tool', 'call', 'function', 'current', 'with', 'from', 'this', 'that', 'what'])

/** The significant words of a name or a question, such as `weather` in `getCurrentWeather`. */
function wordsOf(text: string): string[] {
  const spaced = text.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ').toLowerCase()
  const words = (spaced.match(/\p{L}{4,}/gu) ?? []).map((word) => word.replace(/s$/, ''))
  return words.filter((word) => !insignificant.has(word))
}
