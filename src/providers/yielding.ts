/**
 * Splits the work on a large request over several turns of the event loop: parsing, translating and serialising it block
 * the process for a noticeable time each.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isShort } from '../wire/json.ts'
import type { Call } from './contract.ts'

/** For a large request, resolves in the next turn of the event loop; undefined for all others. */
export function yieldIfLarge({ large }: Pick<Call<unknown>, 'large'>): Promise<void> | undefined {
  return large === true ? nextTurn() : undefined
}

/** Serialises a translated request, or a part of it, as JSON: a large one piece by piece. */
export async function serialize(call: Pick<Call<unknown>, 'large'>, body: unknown): Promise<Buffer> {
  if (call.large !== true) return Buffer.from(JSON.stringify(body))
  const pieces: Buffer[] = []
  let texts: string[] = []
  let length = 0
  for (const text of piecesOf(body)) {
    texts.push(text)
    length += text.length
    if (length < pieceLength) continue
    await nextTurn()
    pieces.push(Buffer.from(texts.join('')))
    texts = []
    length = 0
  }
  await nextTurn()
  return Buffer.concat([...pieces, Buffer.from(texts.join(''))])
}

/** Maximum number of characters to serialise at once. */
const pieceLength = 1_000_000

/** The JSON text of a value in pieces of about `pieceLength` characters at most. */
function* piecesOf(value: unknown): Generator<string, void, void> {
  if (isShort(value, pieceLength)) yield JSON.stringify(value) ?? 'null'
  else if (typeof value === 'string') yield* piecesOfText(value)
  else if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      yield index === 0 ? '[' : ','
      yield* piecesOf(each)
    }
    yield ']'
  } else {
    let before = '{'
    for (const [name, each] of Object.entries(value as object)) {
      if (each === undefined) continue
      yield `${before}${JSON.stringify(name)}:`
      yield* piecesOf(each)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  }
}

function* piecesOfText(text: string): Generator<string, void, void> {
  yield '"'
  for (let at = 0; at < text.length;) {
    let end = at + pieceLength
    // A surrogate pair is one character: its halves alone would become escapes.
    if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end--
    yield JSON.stringify(text.slice(at, end)).slice(1, -1)
    at = end
  }
  yield '"'
}

/** Parses a large request in a turn of its own: `call.request` parses on first access. */
export async function forceParse(call: Pick<Call<unknown>, 'large' | 'request'>): Promise<void> {
  if (call.large === true && call.request !== undefined) await nextTurn()
}
