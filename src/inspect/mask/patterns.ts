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

/** The digits of payment cards end with a check digit (ISO/IEC 7812). */
function isCard(found: string): boolean {
  const digits = found.replaceAll(/\D/g, '')
  if (!/^[2-6]\d{12,18}$/.test(digits)) return false
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    sum += at % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit
  }
  return sum % 10 === 0
}

/** The remainder of an IBAN, with letters as numbers from 10, by 97 is 1 (ISO 13616). */
function isIban(found: string): boolean {
  const plain = found.replaceAll(/[ \u00a0-]/g, '').toUpperCase()
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(plain)) return false
  let remainder = 0
  for (const each of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(each, 36)
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
      /(?:\b|(?<=\\[nrt]))(?:sk-[\w-]{20,}|(?:gsk|xai|r8|hf|pplx|nvapi|csk|fw)[-_][\w-]{20,}|AIza[\w-]{35}|(?:AKIA|ASIA)[A-Z0-9]{16}|gh[opsur]_\w{36,}|github_pat_\w{22,}|glpat-[\w-]{20,}|xox[abeoprs]-[\w-]{10,}|(?:sk|rk|pk)_(?:live|test)_\w{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|npm_\w{36}|dop_v1_[a-f0-9]{64}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----/g,
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
    pattern: /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))[A-Za-z]{2}\d{2}(?:[ \u00a0-]?[A-Za-z0-9]{1,4}){3,9}(?![A-Za-z0-9])/g,
    accepts: isIban,
  },
  /** Numbers of payment cards, whose check digit fits. */
  card: { name: 'CARD', pattern: /(?<!\d)\d(?:[ \u00a0-]?\d){12,}/g, accepts: isCard },
  /** Phone numbers: in international form, and with an area code in parentheses or after a zero. */
  phone: {
    name: 'PHONE',
    pattern: /(?:(?<![\w+.])|(?<=\\[nrt]))(?:(?:\+|00)[1-9]|\(\d{2,5}\)|0[1-9])(?:[ \u00a0./()-]{0,2}\d){5,13}(?!\w)/g,
    accepts: isPhone,
  },
}

/** A place in a text. */
export interface Found {
  readonly start: number
  readonly end: number
}

/** The longest group of words of a number, in characters. */
const longest = 50

/** What a pattern finds. A match that is not accepted may have an accepted group of words in it, as two numbers in a row have. */
export function* findAll(text: string, { pattern, accepts }: MaskPattern): Generator<Found, void, void> {
  for (const { 0: match, index } of text.matchAll(pattern)) {
    if (match === '') continue
    if (accepts === undefined || accepts(match)) yield { start: index, end: index + match.length }
    else yield* groupsIn(match, index, accepts)
  }
}

function* groupsIn(match: string, index: number, accepts: (found: string) => boolean): Generator<Found, void, void> {
  const words = Array.from(match.matchAll(/[^ \u00a0-]+/g), ({ 0: word, index: at }) => ({ at, end: at + word.length }))
  for (let first = 0; first < words.length; first++) {
    const { at } = words[first] as (typeof words)[number]
    let last = words.findLastIndex(({ end }) => end - at <= longest)
    while (last >= first && !accepts(match.slice(at, words[last]?.end))) last--
    if (last < first) continue
    yield { start: index + at, end: index + (words[last]?.end ?? 0) }
    first = last
  }
}
