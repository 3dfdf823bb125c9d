import type { Cap } from '../../records/cap.ts'
import { factorWarning, type ConfigWarning } from '../../records/warning.ts'
import { isRegistry, type GatewayOptions } from '../options/options.ts'

/** Money that is charged otherwise than it seems: the currency, factors, thresholds, and where balances are kept. */
export function moneyWarnings(options: GatewayOptions): ConfigWarning[] {
  const { billing, storage, groups = {}, keys = {} } = options
  const factors = Object.entries(groups).flatMap(([name, { priceMultiplier }]) =>
    priceMultiplier === undefined ? [] : factorWarning(`groups.${name}.priceMultiplier`, priceMultiplier),
  )
  const thresholds = [
    ...belowOne(billing?.caps, 'billing.caps'),
    ...Object.entries(groups).flatMap(([name, { caps }]) => belowOne(caps, `groups.${name}.caps`)),
    // Messages never contain a key, because keys are secrets.
    ...belowOne(
      Object.values(keys).flatMap(({ caps = [] }) => caps),
      'keys[…].caps',
    ),
  ]
  if (billing === undefined) return [...withoutBilling(options), ...factors, ...thresholds]
  const found: ConfigWarning[] = [...currencyWarning(billing.currency), ...factors, ...thresholds]
  if (storage !== undefined && storage.ledger === undefined) {
    const message = 'has no ledger, so balances are lost when the process ends. Add "ledger" of the same database.'
    found.push({ code: 'balances_in_memory', where: 'storage', message })
  } else if (storage !== undefined && storage.usage === undefined && options.usage?.record !== false) {
    const message =
      'has no usage store (that of Redis has none), so each process knows only its own requests, until it ends, in statistics and invoices. Add "usage" of another database.'
    found.push({ code: 'usage_in_memory', where: 'storage', message })
  }
  return found
}

function withoutBilling({ models, groups = {} }: GatewayOptions): ConfigWarning[] {
  const priced = isRegistry(models)
    ? []
    : Object.entries(models).flatMap(([id, entry]) =>
        'price' in entry && entry.price !== undefined && entry.prefer !== 'price' ? [`models["${id}"].price`] : [],
      )
  const factors = Object.entries(groups).flatMap(([name, group]) =>
    (['priceMultiplier', 'prices'] as const).filter((field) => group[field]).map((field) => `groups.${name}.${field}`),
  )
  const [where, ...others] = [...priced, ...factors]
  if (where === undefined) return []
  const more = others.length === 0 ? '' : `, like ${others.length} other prices`
  const message = `charges nothing${more}, because there is no "billing". Add billing: { currency: 'EUR' }, or remove the price.`
  return [{ code: 'price_without_billing', where, message }]
}

function belowOne(caps: readonly Cap[] = [], where: string): ConfigWarning[] {
  return caps
    .filter(({ thresholds = [] }) => thresholds.some((each) => each < 1))
    .map(({ name, thresholds = [] }) => ({
      code: 'threshold_below_one',
      where,
      message: `the thresholds of the cap "${name}" are percentages, so ${thresholds.join(', ')} is less than one percent. For 80 % write 80.`,
    }))
}

/** A name of the host's own, such as `credits`, is no mistake. */
function currencyWarning(currency: string): ConfigWarning[] {
  const codes = Intl.supportedValuesOf('currency')
  if (codes.includes(currency)) return []
  const given = currency.trim().toLowerCase()
  const names = new Intl.DisplayNames('en', { type: 'currency' })
  const isNamed = (code: string) => names.of(code)?.toLowerCase().split(' ').includes(given.replace(/s$/, ''))
  if (given.length > 3 && !codes.some(isNamed)) return []
  const code = codes.find((each) => each.toLowerCase() === given) ?? 'EUR'
  const message = `is '${currency}', which is no currency. Write its ISO 4217 code, such as '${code}'.`
  return [{ code: 'unknown_currency', where: 'billing.currency', message }]
}
