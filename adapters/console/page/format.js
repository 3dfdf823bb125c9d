/** Numbers, amounts and times as the reader's language writes them. */
import { language } from './words.js'

/** @param {number} value */
export const whole = (value) => new Intl.NumberFormat(language()).format(value)

/** Such as 12.4K. @param {number} value */
export const compact = (value) =>
  new Intl.NumberFormat(language(), { notation: 'compact', maximumFractionDigits: value < 10_000 ? 1 : 2 }).format(
    value,
  )

/** @param {number} part */
export const percent = (part) =>
  new Intl.NumberFormat(language(), { style: 'percent', maximumFractionDigits: part < 0.1 ? 1 : 0 }).format(part)

/** @param {string} currency */
const styleOf = (currency) => /** @type {const} */ ({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' })

/** Whether a currency may be one that the browser knows. @param {string} currency */
const isCode = (currency) => /^[A-Z]{3}$/.test(currency)

/** Digits after the point that amounts of a currency have: 2 for EUR, 0 for JPY, 3 for KWD. @param {string} [currency] */
function minorDigits(currency = '') {
  if (!isCode(currency)) return 2
  return new Intl.NumberFormat('en', styleOf(currency)).resolvedOptions().minimumFractionDigits ?? 2
}

/**
 * A decimal string, exactly. `digits`: at most this many after the point; `least`: at least this many, by default those of the currency.
 * @param {string} amount @param {string | undefined} currency @param {number} [digits] @param {number} [least]
 */
export function money(amount, currency, digits = 6, least = minorDigits(currency)) {
  const value = /** @type {Intl.StringNumericLiteral} */ (amount)
  const decimals = { minimumFractionDigits: least, maximumFractionDigits: digits }
  if (currency !== undefined && isCode(currency))
    return new Intl.NumberFormat(language(), { ...styleOf(currency), ...decimals }).format(value)
  const number = new Intl.NumberFormat(language(), decimals).format(value)
  return currency === undefined ? number : `${number} ${currency}`
}

/** Rounded for overviews: to the digits of the currency, more only for the smallest amounts. @param {string} amount @param {string | undefined} currency */
export function roundMoney(amount, currency) {
  const value = Math.abs(Number(amount))
  const digits = minorDigits(currency)
  return money(amount, currency, value === 0 || value >= 1 ? digits : value >= 0.01 ? digits + 2 : 6)
}

/** Three digits, of which whole seconds need none after the point. @param {number} ms */
export function duration(ms) {
  const rounded = Math.round(ms)
  if (rounded < 1_000) return `${rounded} ms`
  if (rounded < 59_950) {
    const digits = rounded % 1_000 === 0 ? 1 : 3
    const format = { minimumSignificantDigits: digits, maximumSignificantDigits: 3 }
    return `${new Intl.NumberFormat(language(), format).format(rounded / 1_000)} s`
  }
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** @param {Intl.DateTimeFormatOptions} options @returns {(at: number) => string} */
const timeAs = (options) => (at) => new Intl.DateTimeFormat(language(), options).format(at)

export const date = timeAs({ dateStyle: 'medium' })
export const dateTime = timeAs({ dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
export const exactTime = timeAs({ dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' })

/** Month, day and time to the second, for rows. */
export const rowTime = timeAs({
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** How long from now, such as "in 3 days". @param {number} at @param {number} now */
export function relative(at, now) {
  const format = new Intl.RelativeTimeFormat(language(), { numeric: 'auto' })
  const ms = at - now
  const size = Math.abs(ms)
  if (size < 90_000) return format.format(Math.round(ms / 1_000), 'second')
  if (size < 5_400_000) return format.format(Math.round(ms / 60_000), 'minute')
  if (size < 129_600_000) return format.format(Math.round(ms / 3_600_000), 'hour')
  if (size < 5_184_000_000) return format.format(Math.round(ms / 86_400_000), 'day')
  return format.format(Math.round(ms / 2_592_000_000), 'month')
}
