/** Bytes of an answer's text, of which its tokens are estimated where the vendor does not count them. */
interface Told {
  readonly delta?: unknown
  readonly message?: unknown
  readonly text?: unknown
}

interface Answer {
  readonly choices?: readonly unknown[]
}

/** In chunks of a stream. */
export function textInChunks(chunks: readonly Answer[]): number {
  let bytes = 0
  for (const chunk of chunks) bytes += textInAnswer(chunk)
  return bytes
}

/** In a whole answer, or one chunk. */
export function textInAnswer(answer: object): number {
  const { choices = [] } = answer as Answer
  let bytes = 0
  for (const choice of choices) bytes += bytesOf(choice)
  return bytes
}

function bytesOf(choice: unknown): number {
  const { delta, message, text } = choice as Told
  return textBytes(delta ?? message ?? text)
}

/** Strings that the model did not write. */
const labels = new Set(['id', 'call_id', 'type', 'role', 'status', 'format', 'data', 'url', 'encrypted_content'])

/** In all strings of a value, except for those that only label it. */
export function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 0
  let bytes = 0
  for (const [name, part] of Object.entries(value)) if (!labels.has(name)) bytes += textBytes(part)
  return bytes
}
