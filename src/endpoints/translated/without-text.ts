import type { Tally } from '../../money/tally.ts'

/** A tally for an endpoint that counts the text of its answers itself. `watch`: told of complete answers. */
export function withoutText(meter: Tally, watch: Tally['watch']): Tally {
  return {
    textBytes: 0,
    watch,
    get usage() {
      return meter.usage
    },
    set usage(usage) {
      meter.usage = usage
    },
    get serviceTier() {
      return meter.serviceTier
    },
    set serviceTier(tier) {
      meter.serviceTier = tier
    },
    get lastUsed() {
      return meter.lastUsed
    },
    set lastUsed(used) {
      meter.lastUsed = used
    },
    omit: (name) => meter.omit?.(name),
  }
}
