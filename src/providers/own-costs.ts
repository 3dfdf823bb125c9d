/** What a vendor says of its own costs, in an answer of any wire format or an event of one. */
import { isRecord, type Fields } from '../wire/json.ts'
import { dollarsIn, withoutCosts } from '../wire/own-costs.ts'

/** The objects that have a usage of their own: a response in its last event, a message in its first one. */
const holders = ['response', 'message'] as const

/**
 * Takes it out: customers must not see it. The same object if there is none, so that an answer is then passed on as it came.
 * `told` gets what it says; see `Call.costs`.
 */
export function withoutOwnCosts<T extends object>(answer: T, told?: (dollars: number) => void): T {
  const { usage, copilot_usage: billed } = answer as Fields
  let changed: Fields | undefined
  if (isRecord(usage)) {
    const counts = withoutCosts(usage)
    if (counts !== usage) {
      changed = { ...answer, usage: counts }
      tell(usage, told)
    }
  }
  for (const name of holders) {
    const inner = (answer as Fields)[name]
    if (!isRecord(inner) || !isRecord(inner['usage'])) continue
    const counts = withoutCosts(inner['usage'])
    if (counts === inner['usage']) continue
    changed = { ...(changed ?? answer), [name]: { ...inner, usage: counts } }
    tell(inner['usage'], told)
  }
  // GitHub's has the prices of all kinds of tokens.
  if (billed !== undefined) {
    const { copilot_usage: _, ...rest } = (changed ?? answer) as Fields
    changed = rest
  }
  return (changed ?? answer) as T
}

function tell(usage: Fields, told: ((dollars: number) => void) | undefined): void {
  const dollars = told && dollarsIn(usage)
  if (dollars !== undefined) told?.(dollars)
}
