import { h } from '../preact.js'
import { named } from '../words.js'

/** @import { ComponentChildren } from '../preact.js' */
/** @typedef {'ok' | 'warn' | 'danger' | 'neutral' | 'accent'} Tone */

/** A state: text with a dot, never a colour alone. @param {{ tone?: Tone, children: ComponentChildren }} properties */
export function Badge({ tone = 'neutral', children }) {
  return h('span', { class: `badge ${tone}` }, children)
}

/** @type {Readonly<Record<string, Tone>>} */
const tones = {
  completed: 'ok',
  active: 'ok',
  succeeded: 'ok',
  closed: 'ok',
  failed: 'danger',
  open: 'danger',
  revoked: 'danger',
  rejected: 'danger',
  cancelled: 'warn',
  aborted: 'warn',
  refused: 'warn',
  expired: 'warn',
  'half-open': 'warn',
  processing: 'accent',
}

/** A state by the name that the API gives it. @param {{ state: string }} properties */
export function StateBadge({ state }) {
  return h(Badge, { tone: tones[state] ?? 'neutral' }, named('state', state))
}
