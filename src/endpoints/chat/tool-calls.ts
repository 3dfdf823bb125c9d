/**
 * The tool calls of one choice while their pieces arrive. Clients get each call numbered in order of appearance, its
 * id, type and whole name in its first piece and only there, and arguments that are JSON text.
 */
import { isJson } from '../../http/json.ts'
import { JsonProgress } from '../../http/json-progress.ts'
import { randomBytes } from 'node:crypto'
import { mostToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import type { ToolCallDelta } from '../../wire/chat.ts'

interface ToolCall {
  readonly kind: 'function' | 'custom'
  id: string | undefined
  name: string
  /** All of the arguments so far. */
  readonly input: JsonProgress
  readonly extra: Record<string, unknown>
  /** Its number; undefined while nothing of it was sent, because its name may still grow. */
  index: number | undefined
}

interface Piece {
  readonly kind: ToolCall['kind']
  readonly id: string | undefined
  readonly name: string
  readonly text: string
  readonly extra: Record<string, unknown>
}

export class ToolCalls {
  readonly #calls: ToolCall[] = []
  /** The call that goes on under each of the vendor's own numbers, which restart, skip and repeat. */
  readonly #current = new Map<string, ToolCall>()
  /** Calls of which nothing was sent, in order. */
  readonly #held = new Set<ToolCall>()
  readonly #ids = new Set<string>()
  #sent = 0

  get any(): boolean {
    return this.#calls.some(({ name }) => name !== '')
  }

  /** What clients get for the pieces of one delta. */
  accept(pieces: readonly ToolCallDelta[]): ToolCallDelta[] {
    return pieces.flatMap((raw, position) => {
      const piece = read(raw)
      const key = String(raw.index ?? `at ${position}`)
      const open = this.#current.get(key)
      if (open !== undefined && !isAnother(open, piece)) return this.#continue(open, piece)
      if (this.#calls.length === mostToolCalls) throw tooMany('tool calls', mostToolCalls)
      const call = newCall(piece.kind)
      const waiting = this.#waiting().map((each) => this.#begin(each))
      this.#calls.push(call)
      this.#held.add(call)
      this.#current.set(key, call)
      return [...waiting, ...this.#continue(call, piece)]
    })
  }

  /** What is still to be sent at the end. Calls that never got arguments get the empty object, as clients parse them. */
  finish(): ToolCallDelta[] {
    const waiting = new Set(this.#waiting())
    return this.#calls.flatMap((call) => {
      if (waiting.has(call)) {
        if (call.kind === 'function') call.input.add('{}')
        return [this.#begin(call)]
      }
      if (call.index === undefined || call.input.text !== '' || call.kind === 'custom') return []
      return [{ index: call.index, function: { arguments: '{}' } }]
    })
  }

  #continue(call: ToolCall, { id, name, text, extra }: Piece): ToolCallDelta[] {
    call.input.add(text)
    if (call.index !== undefined) {
      if (text === '' && Object.keys(extra).length === 0) return []
      return [{ index: call.index, [call.kind]: payload(call.kind, text), ...extra }]
    }
    call.id ??= id
    // A name comes whole, in pieces, or again and again.
    if (name !== call.name) call.name += name
    Object.assign(call.extra, extra)
    return call.name !== '' && call.input.text !== '' ? [this.#begin(call)] : []
  }

  /** Calls with a name whose first piece was held back. */
  #waiting(): ToolCall[] {
    return [...this.#held].filter(({ name }) => name !== '')
  }

  #begin(call: ToolCall): ToolCallDelta {
    const { kind, name, input, extra } = call
    call.index = this.#sent++
    this.#held.delete(call)
    const id = ownId(call.id, this.#ids)
    return { index: call.index, id, type: kind, [kind]: { name, ...payload(kind, input.text) }, ...extra }
  }
}

function newCall(kind: ToolCall['kind']): ToolCall {
  // Without a prototype: a name such as `__proto__` is a name.
  const extra = Object.create(null) as Record<string, unknown>
  return { kind, id: undefined, name: '', input: new JsonProgress(), extra, index: undefined }
}

/**
 * The id of one more call beside those in `taken`, to which it is added. A result names its call by the id: one that the
 * vendor has given twice, or not at all, is replaced.
 */
export function ownId(given: string | undefined, taken: Set<string>): string {
  const id = given === undefined || taken.has(given) ? newCallId() : given
  taken.add(id)
  return id
}

/** Ids are texts; some vendors count instead. Undefined for none. */
export function callId(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function newCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`
}

/** Arguments are JSON text; some vendors send the object itself, null, or nothing. */
export function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

function read(raw: ToolCallDelta): Piece {
  const { id, index: _, type: __, function: called, custom, ...extra } = raw
  const { name, input } = (custom ?? {}) as { name?: string; input?: string }
  if (name || (input && called === undefined)) {
    return { kind: 'custom', id: callId(id), name: name ?? '', text: input ?? '', extra }
  }
  const text = argumentsOf(called?.arguments)
  return { kind: 'function', id: callId(id), name: called?.name ?? '', text, extra }
}

function payload(kind: ToolCall['kind'], text: string): { arguments: string } | { input: string } {
  return kind === 'function' ? { arguments: text } : { input: text }
}

/** Whether a piece under the number of a call begins another one: some vendors number every call 0. */
function isAnother(call: ToolCall, { id, name, text }: Piece): boolean {
  if (name === '') return false
  if (id !== undefined && call.id !== undefined) return id !== call.id
  // No ids to go by: a name is new, or it is repeated with arguments although those of the call are whole.
  if (call.index === undefined) return call.name !== '' && name !== call.name && isJson(text)
  return name !== call.name || (text !== '' && call.input.whole)
}
