/** Assembles arguments that arrive in pieces, each with its path: `{ jsonPath: '$.items[0].name', stringValue }`. */
import { tooMany } from '../../providers/answer-bounds.ts'
import { isRecord } from '../../wire/json.ts'

type Container = Record<string, unknown> | unknown[]

/** Maximum index of a list item. */
const maxIndex = 10_000

/** Maximum number of steps in a path: deeper arguments could not be serialised. */
const maxSteps = 128

export class PartialArguments {
  readonly #root: Record<string, unknown> = newObject()

  add(pieces: unknown): void {
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      if (isRecord(piece) && typeof piece['jsonPath'] === 'string') this.#set(stepsOf(piece['jsonPath']), piece)
    }
  }

  /** The arguments so far, as JSON text. */
  text(): string {
    return JSON.stringify(this.#root)
  }

  #set(steps: readonly (string | number)[], piece: Record<string, unknown>): void {
    let at: Container = this.#root
    for (let index = 0; index < steps.length; index++) {
      const step = steps[index] as string | number
      // An index beyond the end is ignored: it would create a sparse list.
      if (typeof step === 'number' && (!Array.isArray(at) || step > at.length || step > maxIndex)) return
      const last = index === steps.length - 1
      const now: unknown = read(at, step)
      if (last) return write(at, step, valueOf(piece, now))
      const next: Container =
        typeof now === 'object' && now !== null
          ? (now as Container)
          : typeof steps[index + 1] === 'number'
            ? []
            : newObject()
      write(at, step, next)
      at = next
    }
  }
}

/** A string extends the previous one. A piece without a value ends a string, or means an empty object or list. */
function valueOf(piece: Record<string, unknown>, now: unknown): unknown {
  const { stringValue, numberValue, boolValue, jsonPath } = piece
  if (typeof stringValue === 'string') return typeof now === 'string' ? now + stringValue : stringValue
  if (typeof numberValue === 'number') return numberValue
  if (typeof boolValue === 'boolean') return boolValue
  if ('nullValue' in piece) return null
  return now ?? (String(jsonPath).endsWith('[]') ? [] : newObject())
}

/** `$.a.b[0]` → `a`, `b`, 0. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = []
  for (const [, name, index, quoted] of path.matchAll(/\.?([^.[\]]+)|\[(\d+)\]|\[['"]([^'"]*)['"]\]/g)) {
    if (steps.length > maxSteps) throw tooMany('levels', maxSteps)
    if (index !== undefined) steps.push(Number(index))
    else if ((quoted ?? name) !== undefined && (quoted ?? name) !== '$') steps.push((quoted ?? name) as string)
  }
  return steps
}

/** Without a prototype, so that `__proto__` is an ordinary key. */
function newObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}

function read(at: Container, step: string | number): unknown {
  return (at as Record<string | number, unknown>)[step]
}

function write(at: Container, step: string | number, value: unknown): void {
  ;(at as Record<string | number, unknown>)[step] = value
}
