/** The upper bounds of the work for one request. All work is bounded here, and linear in the request's size. */
import { invalid } from '../../errors.ts'

export const budget = {
  /** Characters read of one message; characters or tokens read of one text to embed or moderate. */
  messageLength: 8_000,
  /** Characters read of all instructions together, and of all messages before the question. */
  instructionsLength: 16_000,
  earlierLength: 100_000,
  /** Number of messages and tool results read, newest first. */
  messages: 100,
  /** Characters split into tokens; the tokens of the rest are extrapolated. */
  countedLength: 100_000,
  /** Characters and values of all tools, functions and the response format of a request. */
  offerLength: 500_000,
  offerValues: 50_000,
  /** Names searched for in a question. */
  names: 100,
  /** For one response: parts of schemas read, their maximum depth, and the values and characters produced. */
  schemaSteps: 12_000,
  schemaDepth: 100,
  answerValues: 1_000,
  answerLength: 100_000,
  /** Parallel tool calls. */
  calls: 32,
  /** Tokens of one response, all choices together. */
  answerTokens: 32_768,
  /** Texts moderated in one request. */
  moderatedTexts: 1_000,
  /** Numbers in all vectors of one response. */
  vectorNumbers: 600_000,
} as const

/** Throws a 400 for `param` if the value exceeds the bounds of tools and formats. */
export function requireOffer(value: unknown, param: string): void {
  const { values, length } = sizeOf(value, budget.offerValues, budget.offerLength)
  if (values <= budget.offerValues && length <= budget.offerLength) return
  const most = `${budget.offerLength} characters and ${budget.offerValues} values`
  throw invalid(`"${param}" is too large for this model: at most ${most}.`, param)
}

/** Counts the work for the values of one response. Each method throws a 400 above its bound. */
export class Spending {
  #steps: number = budget.schemaSteps
  #values: number = budget.answerValues
  #length: number = budget.answerLength

  /** Counts parts of a schema that were read at a depth. */
  step(parts: number, depth: number): void {
    if (depth > budget.schemaDepth) throw tooMuch(`is nested deeper than ${budget.schemaDepth} levels`)
    this.#steps -= parts
    if (this.#steps < 0) throw tooMuch(`takes more than ${budget.schemaSteps} steps to read`)
  }

  /** Counts the characters of a value or a name. */
  text(length: number): void {
    this.#length -= length
    if (this.#length < 0) throw tooMuch(`asks for more than ${budget.answerLength} characters`)
  }

  /** Counts one value, without the values in it. */
  value(): void {
    if (--this.#values < 0) throw tooMuch(`asks for more than ${budget.answerValues} values`)
  }

  /** Counts a value that was copied from a schema, with all values in it, and returns it. */
  copy(value: unknown): unknown {
    const { values, length } = sizeOf(value, this.#values, this.#length)
    this.#values -= values - 1
    this.value()
    this.text(length)
    return value
  }
}

function tooMuch(what: string) {
  return invalid(`A JSON schema ${what}, which exceeds the limits of this model. Use a smaller schema.`)
}

/** The number of values and characters, keys included. Stops counting above the given bounds. */
function sizeOf(root: unknown, mostValues: number, mostLength: number): { values: number; length: number } {
  const open = [root]
  let values = 0
  let length = 0
  while (open.length > 0 && values <= mostValues && length <= mostLength) {
    const value = open.pop()
    values++
    if (typeof value === 'string') length += value.length
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      if (value.length > mostValues) return { values: value.length, length }
      open.push(...(value as unknown[]))
      continue
    }
    for (const [name, inner] of Object.entries(value)) {
      length += name.length
      open.push(inner)
    }
  }
  return { values, length }
}
