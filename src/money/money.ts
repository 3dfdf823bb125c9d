/**
 * Amounts of money are bigints in micro-units of the currency internally, and decimal strings in the API. Floating-point
 * numbers cannot represent most decimal amounts exactly.
 */
const microDigits = 6

/** The largest amount, 9,007,199,254.740991 units: every store can represent it exactly, also as a double. */
export const mostMicros: bigint = BigInt(Number.MAX_SAFE_INTEGER)

/** `'12.5'` → 12,500,000n. Throws a `TypeError` for anything but a decimal number with at most six digits after the point. */
export function parseMoney(text: string): bigint {
  const micros = parseDecimal(text, microDigits)
  if (micros > mostMicros || micros < -mostMicros) {
    throw new TypeError(`the amount "${text}" is larger than ${formatMoney(mostMicros)}`)
  }
  return micros
}

/** 12,500,000n → `'12.5'`. */
export function formatMoney(micros: bigint): string {
  return micros === 0n ? '0' : decimal(micros, microDigits)
}

/** A scaled integer as a decimal string without trailing zeros. */
export function decimal(value: bigint, digits: number): string {
  const text = String(value < 0n ? -value : value).padStart(digits + 1, '0')
  const fraction = text.slice(-digits).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${text.slice(0, -digits)}${fraction === '' ? '' : `.${fraction}`}`
}

const decimalForm = /^(-?)(\d{1,15})(?:\.(\d+))?$/

/** A decimal number as an integer, scaled by 10^`digits`. Throws a `TypeError` if it has more decimal places. */
export function parseDecimal(text: unknown, digits: number): bigint {
  const match = typeof text === 'string' ? decimalForm.exec(text) : null
  if (match === null) {
    const given = typeof text === 'string' ? `"${text}"` : String(text)
    throw new TypeError(`${given} is not a decimal number in a string, such as "12.5"`)
  }
  const [, sign, whole = '', fraction = ''] = match
  if (fraction.length > digits) throw new TypeError(`"${match[0]}" has more than ${digits} decimal places`)
  const value = BigInt(whole + fraction.padEnd(digits, '0'))
  return sign === '-' ? -value : value
}
