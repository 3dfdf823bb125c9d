import { objectText } from '../wire/json-text.ts'

/** A field of a request whose JSON text is known, so that its value need not be written again. */
export interface WrittenField {
  readonly name: string
  readonly value: unknown
  /** The member with this name: JSON text in pieces, in turn a string and UTF-8. */
  readonly member: readonly (string | Uint8Array)[]
}

/** A request as JSON, with the text of `written` unless that field has another value by now. */
export function printed(request: Readonly<Record<string, unknown>>, written?: WrittenField): Buffer {
  if (written === undefined || request[written.name] !== written.value) return Buffer.from(JSON.stringify(request))
  const others = objectText(request, written.name)
  const start = others === '{}' ? '{' : `${others.slice(0, -1)},`
  return withLastMember(start, written.member)
}

/** An object of which `start` is the text before its last member. */
function withLastMember(start: string, member: readonly (string | Uint8Array)[]): Buffer {
  let size = Buffer.byteLength(start) + 1
  for (const piece of member) size += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  const whole = Buffer.allocUnsafe(size)
  let at = whole.write(start)
  for (const piece of member) {
    if (typeof piece === 'string') at += whole.write(piece, at)
    else {
      whole.set(piece, at)
      at += piece.length
    }
  }
  whole[at] = 0x7d /* } */
  return whole
}
