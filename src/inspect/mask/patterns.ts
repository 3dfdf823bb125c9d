/** What is masked in texts. */

/** A kind of text that vendors do not get. */
export interface MaskPattern {
  /** In place of it the vendor gets this name and a code, such as `EMAIL_KQJZXWVA`: 1 to 20 capital letters. */
  readonly name: string
  /** Finds it; with the flag `g`. */
  readonly pattern: RegExp
  /** Whether what was found is it. Default: it is. */
  readonly accepts?: (found: string) => boolean
}

/** Payment cards have 13 to 19 digits, of which the last one is a check digit (ISO/IEC 7812). */
function isCard(found: string): boolean {
  let digits = 0
  let sum = 0
  let first = 0
  for (let at = found.length - 1; at >= 0; at--) {
    const digit = found.charCodeAt(at) - zero
    if (digit < 0 || digit > 9) continue
    sum += digits++ % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit
    first = digit
  }
  return digits >= 13 && digits <= 19 && first >= 2 && first <= 6 && sum % 10 === 0
}

const zero = 0x30

/**
 * The remainder of an IBAN by 97 is 1, with its first four characters at the end and letters as numbers from 10 (ISO 13616). It has 15 to
 * 34 characters.
 */
function isIban(found: string): boolean {
  const values: number[] = []
  for (let at = 0; at < found.length; at++) {
    const code = found.charCodeAt(at)
    if (code >= zero && code <= zero + 9) values.push(code - zero)
    // Letters in either case; what is between words is below them.
    else if (code >= 0x41 && code < 0x7b) values.push((code & 0x1f) + 9)
  }
  const { length } = values
  if (length < 15 || length > 34) return false
  let remainder = 0
  for (let at = 4; at < length + 4; at++) {
    const value = values[at % length] as number
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}

/** Numbers of phones have 8 to 15 digits (ITU-T E.164). */
function isPhone(found: string): boolean {
  const { length } = found.replaceAll(/\D/g, '')
  return length >= 8 && length <= 15
}

/** A pattern that `mask` knows. */
export type MaskName = 'key' | 'email' | 'iban' | 'card' | 'phone'

/** The patterns that `mask` knows by name. They also begin after an escaped line break or tab, as in JSON within a text. */
export const maskPatterns: Readonly<Record<MaskName, MaskPattern>> = {
  /** Keys of vendors: AI services, clouds, code hosts, payment and messaging services; tokens (JWT), and private keys in PEM. */
  key: {
    name: 'KEY',
    pattern:
      /(?:\b|(?<=\\[nrt]))(?:sk-[\w-]{20,}|(?:gsk|xai|r8|hf|pplx|nvapi|csk|fw)[-_][\w-]{20,}|AIza[\w-]{35}|(?:AKIA|ASIA)[A-Z0-9]{16}|gh[opsur]_\w{36,}|github_pat_\w{22,}|glpat-[\w-]{20,}|xox[abeoprs]-[\w-]{10,}|(?:sk|rk|pk)_(?:live|test)_\w{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|npm_\w{36}|dop_v1_[a-f0-9]{64})|(?:(?<![\w-])|(?<=\\[nrt]))eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----/g,
  },
  /** E-mail addresses. */
  email: {
    name: 'EMAIL',
    pattern:
      /(?<![\p{L}\p{N}._%+'-])[\p{L}\p{N}._%+'-]+@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+(?:\p{L}{2,24}|xn--[a-z0-9-]+)(?![\p{L}\p{N}])/gu,
  },
  /** International bank account numbers, whose check digits fit. */
  iban: {
    name: 'IBAN',
    pattern: /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))[A-Za-z]{2}\d{2}(?:[ \u00a0-]?[A-Za-z0-9]){11,40}(?![A-Za-z0-9])/g,
    accepts: isIban,
  },
  /** Numbers of payment cards, whose check digit fits. */
  card: {
    name: 'CARD',
    pattern: /(?<!\d)\d{2,19}(?:[ \u00a0-]\d{2,19}){0,9}(?:[ \u00a0-]\d)?(?!\d)/g,
    accepts: isCard,
  },
  /** Phone numbers: in international form, and with an area code in parentheses or after a zero. */
  phone: {
    name: 'PHONE',
    pattern: /(?:(?<![\w+.])|(?<=\\[nrt]))(?:(?:\+|00)[1-9]|\(\d{2,5}\)|0[1-9])(?:[ \u00a0./()-]{0,2}\d){5,13}(?!\w)/g,
    accepts: isPhone,
  },
}

/** A pattern by its name, or as it is. `by`: what needs it. Throws a `TypeError` for one that is unknown or invalid. */
export function patternOf(given: MaskName | MaskPattern, by: string): MaskPattern {
  if (typeof given === 'string' && !Object.hasOwn(maskPatterns, given))
    throw new TypeError(
      `${by}: there is no pattern "${given}". The patterns are ${Object.keys(maskPatterns).join(', ')}.`,
    )
  const found = typeof given === 'string' ? maskPatterns[given] : given
  if (!/^[A-Z]{1,20}$/.test(found.name))
    throw new TypeError(`${by}: a pattern needs a name of 1 to 20 capital letters.`)
  if (!found.pattern.global) throw new TypeError(`${by}: the pattern "${found.name}" needs the flag "g".`)
  return found
}

/** A place in a text. */
export interface Found {
  readonly start: number
  readonly end: number
}

/**
 * What a pattern finds. A match that is not accepted may begin with words that are, or have some behind the first one: two numbers
 * in a row look like one.
 */
export function* findAll(text: string, { pattern, accepts }: MaskPattern): Generator<Found, void, void> {
  const finder = new RegExp(pattern)
  for (let match = finder.exec(text); match !== null; match = finder.exec(text)) {
    const [found] = match
    const { index: start } = match
    const length = accepts === undefined ? found.length : acceptedIn(found, accepts)
    if (length > 0) yield { start, end: start + length }
    // Else from the next word on.
    finder.lastIndex = start + (length > 0 ? length : Math.max(1, nextBreak(found)))
  }
}

/** The length of the longest beginning of a match that is accepted and ends with a word; 0 if none is. */
function acceptedIn(found: string, accepts: (found: string) => boolean): number {
  for (let end = found.length; end > 0; end--)
    if ((end === found.length || isBreak(found, end)) && accepts(found.slice(0, end))) return end
  return 0
}

function nextBreak(found: string): number {
  let at = 0
  while (at < found.length && !isBreak(found, at)) at++
  return at
}

function isBreak(found: string, at: number): boolean {
  const code = found.charCodeAt(at)
  return code === 0x20 || code === 0x2d || code === 0xa0
}
