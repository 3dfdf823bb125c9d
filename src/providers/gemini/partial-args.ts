/** Arguments that come in pieces, each with the place it belongs to: `{ jsonPath: '$.items[0].name', stringValue }`. */
import { tooMany } from '../answer-bounds.ts'
import { isRecord } from '../reading/parts.ts'

type Container = Record<string, unknown> | unknown[]

/** An item of a list comes behind the one before it: a larger step would be a list of holes. */
const longestList = 10_000

/** Steps of a path: nothing that is nested deeper could be printed again. */
const deepest = 128

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
      if (typeof step === 'number' && (!Array.isArray(at) || step > at.length || step > longestList)) return
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

/** A text may go on where it stopped; a piece without a value ends one, or stands for an empty object or list. */
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
    if (steps.length > deepest) throw tooMany('levels', deepest)
    if (index !== undefined) steps.push(Number(index))
    else if ((quoted ?? name) !== undefined && (quoted ?? name) !== '$') steps.push((quoted ?? name) as string)
  }
  return steps
}

/** Without a prototype: a name such as `__proto__` is a name. */
function newObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}

function read(at: Container, step: string | number): unknown {
  return (at as Record<string | number, unknown>)[step]
}

function write(at: Container, step: string | number, value: unknown): void {
  ;(at as Record<string | number, unknown>)[step] = value
}
