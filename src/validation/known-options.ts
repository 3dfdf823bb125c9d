/** Options by name and value: a mistake is reported where it is made, so that no default silently replaces what was meant. */
import { longestTimerMs } from '../http/deadline.ts'

/** What the value of an option must be. */
export interface Rule {
  readonly is: (value: unknown) => boolean
  /** Completes "the option …". */
  readonly must: string
  /** An option that is named but undefined is a mistake too: a variable that is not set. */
  readonly always?: boolean
}

/** All options of a type, each with its rule: the compiler checks that none is missing. */
export type Known<Options> = Readonly<Record<keyof Options, Rule>>

/** Throws a `TypeError` that names an option which does not exist, or has a value that it cannot have. */
export function checkKnown<Options extends object>(place: string, given: Options, known: Known<Options>): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${place}: the options must be an object.`)
  }
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(known, name) ? known[name as keyof Options] : undefined
    if (rule === undefined) {
      if (value !== undefined) throw new TypeError(`${place}: ${noneOf([name], Object.keys(known))}`)
    } else if ((value !== undefined || rule.always === true) && !rule.is(value)) {
      throw new TypeError(`${place}: "${name}" ${rule.must}`)
    }
  }
}

export function noneOf(names: readonly string[], known: readonly string[]): string {
  return `unknown option ${names.map((name) => `"${name}"`).join(', ')}. Valid options: ${known.join(', ')}.`
}

export const text: Rule = { is: (value) => typeof value === 'string' && value !== '', must: 'must be a text' }

/** A key of a vendor. Messages never show it. */
export const secret: Rule = {
  is: (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value),
  must: 'must be of visible ASCII characters: is a variable unset? Leave it out where no key is needed.',
  always: true,
}

export const flag: Rule = { is: (value) => typeof value === 'boolean', must: 'must be true or false' }

export const count: Rule = {
  is: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  must: 'must be a whole number of at least 1',
}

/** Milliseconds that a timer counts. */
export const timer: Rule = {
  is: (value) => isNumber(value) && value > 0 && value <= longestTimerMs,
  must: `must be milliseconds, more than 0 and at most ${longestTimerMs}`,
}

/** Also none at all. */
export const delay: Rule = {
  is: (value) => isNumber(value) && value >= 0 && value <= longestTimerMs,
  must: `must be milliseconds, at least 0 and at most ${longestTimerMs}`,
}

/** Milliseconds for which something is kept. */
export const age: Rule = {
  is: (value) => isNumber(value) && value >= 1 && value <= Number.MAX_SAFE_INTEGER,
  must: 'must be milliseconds, at least 1',
}

export const amount: Rule = { is: (value) => isNumber(value) && value >= 0, must: 'must be a number of at least 0' }

export const callback: Rule = { is: (value) => typeof value === 'function', must: 'must be a function' }

export const object: Rule = { is: isObject, must: 'must be an object' }

export const texts: Rule = {
  is: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  must: 'must be a list of texts',
}

/** A header, or another name, to its text. An undefined one is a variable that is not set. */
export const textByName: Rule = {
  is: (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'string'),
  must: 'must be an object of texts: is a variable unset?',
}

export function oneOf(...values: readonly unknown[]): Rule {
  return { is: (value) => values.includes(value), must: `must be one of ${values.join(', ')}` }
}

/** A rule that another place checks, with a better message. */
export const elsewhere: Rule = { is: () => true, must: '' }

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
