/** What one request may cost the demo model. Everything that grows with a request is bounded here, and linear in it. */
import { invalid } from '../../errors.ts'

export const budget = {
  /** Characters read of one message, and characters or tokens of one text to be embedded. */
  messageLength: 8_000,
  /** Characters read of all instructions together, and of all that was said before the question. */
  instructionsLength: 16_000,
  earlierLength: 100_000,
  /** Messages, results of tools and attachments that are looked at, the newest ones. */
  messages: 100,
  /** Characters of a request or an answer that are split into tokens. What is behind them is taken to be like them. */
  countedLength: 100_000,
  /** Characters and values of all tools, functions and the response format of a request. */
  offerLength: 500_000,
  offerValues: 50_000,
  /** Names for which a question is searched. */
  names: 100,
  /** Parts of schemas that are looked at for one answer, how deep they may lead, and the values and characters given. */
  schemaSteps: 50_000,
  schemaDepth: 100,
  answerValues: 1_000,
  answerLength: 100_000,
  /** Tools called at once. */
  calls: 32,
  /** Tokens of one answer, all choices together. */
  answerTokens: 32_768,
  /** Texts judged for one request. */
  moderatedTexts: 1_000,
  /** Numbers of all vectors of one request. */
  vectorNumbers: 600_000,
} as const

/** Throws 400 that names `param` for a value with more in it than may be offered. */
export function requireOffer(value: unknown, param: string): void {
  const { values, length } = sizeOf(value, budget.offerValues, budget.offerLength)
  if (values <= budget.offerValues && length <= budget.offerLength) return
  const most = `${budget.offerLength} characters and ${budget.offerValues} values`
  throw invalid(`"${param}" is too large for this model: at most ${most}.`, param)
}

/** What the values made for one request have cost so far. Each method throws 400 when there is no more. */
export class Spending {
  #steps: number = budget.schemaSteps
  #values: number = budget.answerValues
  #length: number = budget.answerLength

  /** Parts of a schema were looked at, at a depth. */
  step(parts: number, depth: number): void {
    if (depth > budget.schemaDepth) throw tooMuch(`is nested deeper than ${budget.schemaDepth} levels`)
    this.#steps -= parts
    if (this.#steps < 0) throw tooMuch(`takes more than ${budget.schemaSteps} steps to read`)
  }

  /** A value was made, or a name. */
  text(length: number): void {
    this.#length -= length
    if (this.#length < 0) throw tooMuch(`asks for more than ${budget.answerLength} characters`)
  }

  /** One value was made, not counting what is in it. */
  value(): void {
    if (--this.#values < 0) throw tooMuch(`asks for more than ${budget.answerValues} values`)
  }

  /** A value was taken from a schema as it stands there. */
  whole(value: unknown): unknown {
    const { values, length } = sizeOf(value, this.#values, this.#length)
    this.#values -= values - 1
    this.value()
    this.text(length)
    return value
  }
}

function tooMuch(what: string) {
  return invalid(`A JSON schema ${what}, which is more than this model gives.`)
}

/** Values and characters, keys included. Stops counting as soon as there are more than the given ones. */
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
