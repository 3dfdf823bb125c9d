import { h } from '../preact.js'
import { money } from '../format.js'
import { useSession } from '../session.js'

const digits = 6

/** An amount in a column: as wide as if it had all digits, so that the points are below each other. @param {{ value: string }} properties */
export function Amount({ value }) {
  const { currency } = useSession()
  const shown = money(value, currency)
  const missing = digits - (/\.(\d+)/.exec(shown)?.[1]?.length ?? 0)
  return [shown, missing > 0 && h('span', { class: 'blank', 'aria-hidden': true }, '0'.repeat(missing))]
}
