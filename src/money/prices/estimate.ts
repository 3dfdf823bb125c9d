/** Measures the text of responses, from which tokens are estimated if the vendor does not report them. */
interface WrittenChoice {
  readonly delta?: unknown
  readonly message?: unknown
  readonly text?: unknown
}

interface Answer {
  readonly choices?: readonly unknown[]
}

/** Bytes of text in the chunks of a stream. */
export function textInChunks(chunks: readonly Answer[]): number {
  let bytes = 0
  for (const chunk of chunks) bytes += textInAnswer(chunk)
  return bytes
}

/** Bytes of text in a non-streaming response or in one chunk. */
export function textInAnswer(answer: object): number {
  const { choices = [] } = answer as Answer
  let bytes = 0
  for (const choice of choices) bytes += bytesOf(choice)
  return bytes
}

function bytesOf(choice: unknown): number {
  const { delta, message, text } = choice as WrittenChoice
  return textBytes(delta ?? message ?? text)
}

/** Fields whose strings the model did not generate. */
const labels = new Set(['id', 'call_id', 'type', 'role', 'status', 'format', 'data', 'url', 'encrypted_content'])

/** Bytes of all strings in a value, except those in fields the model did not generate. */
export function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 0
  let bytes = 0
  for (const [name, part] of Object.entries(value)) if (!labels.has(name)) bytes += textBytes(part)
  return bytes
}
