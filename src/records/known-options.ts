/** The longest delay that Node's timers keep, in milliseconds. A timer with a longer delay fires at once. */
export const longestTimerMs = 2_147_483_647

/** The valid values of an option. */
export interface Rule {
  readonly is: (value: unknown) => boolean
  /** Completes "the option …". */
  readonly must: string
  /** Whether an explicit `undefined` is invalid too, because it means that a variable is not set. */
  readonly always?: boolean
}

/** A rule for each option of a type. The compiler checks that none is missing. */
export type Known<Options> = Readonly<Record<keyof Options, Rule>>

/** Throws a `TypeError` that names an unknown option or one with an invalid value, so that a typo never falls back to a default. */
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

export const text: Rule = {
  is: (value) => typeof value === 'string' && value !== '',
  must: 'must be a non-empty string',
}

/** A vendor's API key. Never contained in messages. */
export const secret: Rule = {
  is: (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value),
  must: 'must consist of visible ASCII characters: is a variable unset? Omit it if no key is needed.',
  always: true,
}

/** A vendor's key, a function that returns it, or a list of them. */
export const secrets: Rule = {
  is: (value) => (Array.isArray(value) ? value.length > 0 && value.every(isKey) : isKey(value)),
  must: 'must be a key of visible ASCII characters, a function, or a list of them: is a variable unset? Omit it if no key is needed.',
  always: true,
}

function isKey(value: unknown): boolean {
  return typeof value === 'function' || secret.is(value)
}

export const flag: Rule = { is: (value) => typeof value === 'boolean', must: 'must be true or false' }

export const count: Rule = {
  is: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  must: 'must be a whole number of at least 1',
}

/** Milliseconds of a timer. */
export const timer: Rule = {
  is: (value) => isNumber(value) && value > 0 && value <= longestTimerMs,
  must: `must be milliseconds, more than 0 and at most ${longestTimerMs}`,
}

/** Milliseconds of a timer, or 0. */
export const delay: Rule = {
  is: (value) => isNumber(value) && value >= 0 && value <= longestTimerMs,
  must: `must be milliseconds, at least 0 and at most ${longestTimerMs}`,
}

/** Milliseconds for which a value is kept. */
export const age: Rule = {
  is: (value) => isNumber(value) && value >= 1 && value <= Number.MAX_SAFE_INTEGER,
  must: 'must be milliseconds, at least 1',
}

export const amount: Rule = { is: (value) => isNumber(value) && value >= 0, must: 'must be a number of at least 0' }

export const callback: Rule = { is: (value) => typeof value === 'function', must: 'must be a function' }

export const object: Rule = { is: isObject, must: 'must be an object' }

export const texts: Rule = {
  is: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  must: 'must be an array of strings',
}

/** Strings by name, such as headers. */
export const textByName: Rule = {
  is: (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'string'),
  must: 'must be an object of strings: is a variable unset?',
}

/** The same, or functions that return the strings. */
export const headersByName: Rule = {
  is: (value) => isObject(value) && Object.values(value).every((each) => ['string', 'function'].includes(typeof each)),
  must: 'must be an object of strings, or of functions that return them: is a variable unset?',
}

export function oneOf(...values: readonly unknown[]): Rule {
  return { is: (value) => values.includes(value), must: `must be one of ${values.join(', ')}` }
}

/** For an option that is validated elsewhere, with a better message. */
export const elsewhere: Rule = { is: () => true, must: '' }

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
