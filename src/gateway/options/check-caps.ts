import type { Cap } from '../../records/cap.ts'
import { mistake } from '../../records/rules.ts'
import type { GatewayOptions } from './options.ts'

/** Rejects caps, alerts and exports that could not be kept, and names that would be ambiguous. */
export function checkCaps({ billing, groups = {}, keys = {}, storage }: GatewayOptions): void {
  const forAll = billing?.caps ?? []
  let used =
    forAll.length > 0 ? 'billing.caps' : (billing?.lowBalance ?? []).length > 0 ? 'billing.lowBalance' : undefined
  for (const [name, { caps = [] }] of Object.entries(groups)) {
    if (caps.length > 0) used ??= `groups.${name}.caps`
    requireDistinct(`groups.${name}.caps`, caps, forAll)
  }
  // Messages never contain a key, because keys are secrets.
  for (const { caps = [], group = 'default' } of Object.values(keys)) {
    if (caps.length > 0) used ??= 'keys[…].caps'
    requireDistinct('keys[…].caps', caps, [...forAll, ...(groups[group]?.caps ?? [])])
  }
  const { ledger } = storage ?? {}
  if (billing?.export !== undefined && ledger !== undefined && !(ledger.lots && ledger.entriesAfter))
    throw mistake(
      'billing.export',
      'requires a ledger with lots and entriesAfter, which the one in "storage" does not have',
    )
  if (used === undefined) return
  if (billing === undefined) throw mistake(used, "requires the option billing, such as { currency: 'EUR' }")
  if (ledger !== undefined && ledger.caps === undefined) {
    throw mistake(used, 'requires a ledger with caps, which the one in "storage" does not have')
  }
}

function requireDistinct(place: string, caps: readonly Cap[], others: readonly Cap[]): void {
  const twice = caps.find(({ name }) => others.some((other) => other.name === name))
  if (twice !== undefined) throw mistake(place, `the name "${twice.name}" is used by another cap of the same callers`)
}
