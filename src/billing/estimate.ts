/** Tokens of an answer where the vendor does not count them. */
import { estimatePieces } from '../wire/usage.ts'
import { estimateTokens } from './usage.ts'

interface Told {
  readonly delta?: unknown
  readonly message?: unknown
  readonly text?: unknown
}

interface Answer {
  readonly choices?: readonly unknown[]
}

/** The chunks of a stream. */
export function estimateChunks(chunks: readonly Answer[]): number {
  let tokens = 0
  for (const { choices = [] } of chunks) {
    for (const choice of choices) {
      const bytes = bytesOf(choice)
      if (bytes > 0) tokens += estimatePieces(1, bytes)
    }
  }
  return tokens
}

/** A whole answer. */
export function estimateAnswer(answer: object): number {
  const { choices = [] } = answer as Answer
  return estimateTokens(choices.reduce((bytes: number, choice) => bytes + bytesOf(choice), 0))
}

function bytesOf(choice: unknown): number {
  const { delta, message, text } = choice as Told
  return textBytes(delta ?? message ?? text)
}

/** Strings that the model did not write. */
const labels = new Set(['id', 'type', 'role', 'format', 'data', 'url'])

function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 0
  let bytes = 0
  for (const [name, part] of Object.entries(value)) if (!labels.has(name)) bytes += textBytes(part)
  return bytes
}
