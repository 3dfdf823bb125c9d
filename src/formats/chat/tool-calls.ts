import { isJson } from '../../http/json.ts'
import { JsonProgress } from '../../http/json-progress.ts'
import { maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import type { ToolCallDelta } from '../../wire/chat.ts'
import { newCallId } from '../tools.ts'

interface ToolCall {
  readonly kind: 'function' | 'custom'
  id: string | undefined
  name: string
  /** The arguments received so far. */
  readonly input: JsonProgress
  readonly extra: Record<string, unknown>
  /** The client's index; undefined until the first piece is sent, which waits for the complete name. */
  index: number | undefined
}

interface Piece {
  readonly kind: ToolCall['kind']
  readonly id: string | undefined
  readonly name: string
  readonly text: string
  readonly extra: Record<string, unknown>
}

/**
 * The tool calls of one choice, as their pieces arrive. For clients, calls are numbered in order of appearance; the
 * first piece of a call, and no other, has its id, type and complete name; arguments are JSON text.
 */
export class ToolCalls {
  readonly #calls: ToolCall[] = []
  /** The current call for each of the vendor's indexes, which vendors restart, skip and repeat. */
  readonly #current = new Map<string, ToolCall>()
  /** Calls of which nothing was sent yet, in order. */
  readonly #held = new Set<ToolCall>()
  readonly #ids = new Set<string>()
  /** By the client's index. */
  readonly #sent: ToolCall[] = []

  /** Whether there is a call with a name. */
  get any(): boolean {
    return this.#calls.some(({ name }) => name !== '')
  }

  /** Whether the arguments of the call with the client's `index` are complete JSON. */
  isWhole(index: number): boolean {
    const call = this.#sent[index]
    return call?.kind === 'function' && call.input.whole
  }

  /** The client's pieces for those of one delta. */
  accept(pieces: readonly ToolCallDelta[]): ToolCallDelta[] {
    return pieces.flatMap((raw, position) => {
      const piece = read(raw)
      const key = String(raw.index ?? `at ${position}`)
      const open = this.#current.get(key)
      if (open !== undefined && !isAnother(open, piece)) return this.#continue(open, piece)
      if (this.#calls.length === maxToolCalls) throw tooMany('tool calls', maxToolCalls)
      const call = newCall(piece.kind)
      const waiting = this.#waiting().map((each) => this.#begin(each))
      this.#calls.push(call)
      this.#held.add(call)
      this.#current.set(key, call)
      return [...waiting, ...this.#continue(call, piece)]
    })
  }

  /**
   * The pieces to send at the end. Calls without arguments get `{}`, because clients parse the arguments of each call.
   */
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
    // Vendors send a name once, in pieces, or repeatedly.
    if (name !== call.name) call.name += name
    Object.assign(call.extra, extra)
    return call.name !== '' && call.input.text !== '' ? [this.#begin(call)] : []
  }

  /** Calls with a name whose first piece is still withheld. */
  #waiting(): ToolCall[] {
    return [...this.#held].filter(({ name }) => name !== '')
  }

  #begin(call: ToolCall): ToolCallDelta {
    const { kind, name, input, extra } = call
    call.index = this.#sent.push(call) - 1
    this.#held.delete(call)
    const id = ownId(call.id, this.#ids)
    return { index: call.index, id, type: kind, [kind]: { name, ...payload(kind, input.text) }, ...extra }
  }
}

function newCall(kind: ToolCall['kind']): ToolCall {
  // Without a prototype, so that a field named `__proto__` is stored like any other.
  const extra = Object.create(null) as Record<string, unknown>
  return { kind, id: undefined, name: '', input: new JsonProgress(), extra, index: undefined }
}

/**
 * A unique id for a call, which is added to `taken`. Tool results refer to calls by id, so a missing or duplicate id of
 * the vendor is replaced.
 */
export function ownId(given: string | undefined, taken: Set<string>): string {
  const id = given === undefined || taken.has(given) ? newCallId() : given
  taken.add(id)
  return id
}

/** A vendor's id as a string, as some send numbers; undefined if there is none. */
export function callId(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Arguments as JSON text; some vendors send the object itself, null, or nothing. */
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

/** Whether a piece with the index of a call starts another call, as some vendors give every call the index 0. */
function isAnother(call: ToolCall, { id, name, text }: Piece): boolean {
  if (name === '') return false
  if (id !== undefined && call.id !== undefined) return id !== call.id
  // Without ids, another call has another name, or adds arguments although those of this call are complete.
  if (call.index === undefined) return call.name !== '' && name !== call.name && isJson(text)
  return name !== call.name || (text !== '' && call.input.whole)
}
