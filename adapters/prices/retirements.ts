/** Models that their vendors are about to end. */
import type { ServedModel } from '../../src/money/prices/price-table.ts'
import type { ConfigWarning } from '../../src/records/warning.ts'

/** How long before. */
const noticeMs = 30 * 86_400_000

/** `days`: by vendor and model. Wildcards serve whatever the vendor has, so they need no change. */
export function retiring(
  served: readonly ServedModel[],
  vendorOf: (provider: string) => string,
  days: Readonly<Record<string, string>> = {},
): ConfigWarning[] {
  const names = new Set(
    served.flatMap(({ provider, model }) => (model === undefined ? [] : `${vendorOf(provider)}/${model}`)),
  )
  return [...names].flatMap((name) => {
    const day = Object.hasOwn(days, name) ? (days[name] as string) : undefined
    if (day === undefined || Date.parse(day) - Date.now() > noticeMs) return []
    const message = `${name} is ended by its vendor on ${day}. Give the models that it serves another deployment.`
    return [{ code: 'model_retires', where: `prices.retirements["${name}"]`, message }]
  })
}

/** Throws a `TypeError` that names the entry which is no day. */
export function requireDays(days: Readonly<Record<string, string>>): void {
  for (const [name, day] of Object.entries(days)) {
    if (/^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day))) continue
    throw new TypeError(`prices: retirements["${name}"] must be a day such as '2026-12-31'.`)
  }
}
