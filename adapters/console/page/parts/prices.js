import { money } from '../format.js'
import { named, t } from '../words.js'

/** @import { Price } from '../shapes.d.ts' */

/** Prices that are not per million tokens. */
const others = ['request', 'image', 'second', 'hour', 'characters', 'tools', 'serviceTiers']

/** A price in lines to read. Tiers show their lowest and highest price. @param {Price} price @param {string | undefined} currency */
export function priceLines(price, currency) {
  const lines = Object.entries(price).flatMap(([name, value]) => {
    const shown = rangeOf(value, currency)
    if (shown === undefined) return []
    const unit = others.includes(name) ? '' : ` ${t('perMillion')}`
    return [{ name: named('price', name), value: `${shown}${unit}` }]
  })
  return lines
}

/** @param {unknown} value @param {string | undefined} currency */
function rangeOf(value, currency) {
  if (typeof value === 'string') return money(value, currency)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const amounts = Object.values(value).filter((each) => typeof each === 'string')
  if (amounts.length === 0) return undefined
  const ordered = amounts.toSorted((left, right) => Number(left) - Number(right))
  const [low, high] = [ordered[0] ?? '0', ordered.at(-1) ?? '0']
  return low === high ? money(low, currency) : `${money(low, currency)} – ${money(high, currency)}`
}
