import { callback, checkKnown, count as atLeastOne } from '../../records/known-options.ts'
import { LRUCache } from 'lru-cache'
import type { IdempotencyClaim, IdempotencyStore, IdempotentAnswer } from './contract.ts'

/** Options of `memoryIdempotencyStore`. */
export interface MemoryIdempotencyStoreOptions {
  /** Maximum number of stored responses. Default 10,000. */
  readonly count?: number
  /** Maximum bytes of all responses together. Default 64 MiB. */
  readonly bytes?: number
  /** Milliseconds; only differences matter. Default `performance.now`, which no change of the system clock disturbs. */
  readonly clock?: () => number
}

interface Held {
  readonly attempt: string
  readonly digest: string
  readonly until: number
}

interface Ended {
  readonly digest: string
  readonly answer: IdempotentAnswer | undefined
  readonly until: number
}

/** An idempotency store in the memory of this process. Evicts the least recently used; all are lost on restart. */
export function memoryIdempotencyStore(options: MemoryIdempotencyStoreOptions = {}): IdempotencyStore {
  checkKnown('memoryIdempotencyStore', options, { count: atLeastOne, bytes: atLeastOne, clock: callback })
  const { count = 10_000, bytes = 64 * 1024 * 1024, clock: now = () => performance.now() } = options
  /** Records held by open requests, least recently renewed first. */
  const held = new Map<string, Held>()
  // Without `max`, for which it would allocate memory at once.
  const ended = new LRUCache<string, Ended>({ maxSize: bytes, sizeCalculation: sizeOf })

  const holds = (place: string, { attempt }: IdempotencyClaim) => held.get(place)?.attempt === attempt
  const forgetLapsed = () => {
    for (const [place, { until }] of held) {
      if (until > now()) return
      held.delete(place)
    }
  }

  return {
    begin({ leaseMs, digest, ...claim }) {
      const place = placeOf(claim)
      forgetLapsed()
      const before = ended.get(place)
      if (before !== undefined && before.until > now()) {
        const { digest: first, answer } = before
        return { outcome: 'ended', digest: first, ...(answer && { answer }) }
      }
      const holder = held.get(place)
      if (holder !== undefined && holder.until > now() && holder.attempt !== claim.attempt)
        return { outcome: 'running', digest: holder.digest }
      ended.delete(place)
      held.delete(place)
      held.set(place, { attempt: claim.attempt, digest, until: now() + leaseMs })
      return { outcome: 'begun' }
    },
    finish({ answer, keepMs, ...claim }) {
      const place = placeOf(claim)
      const holder = held.get(place)
      if (holder?.attempt !== claim.attempt) return
      held.delete(place)
      ended.set(place, { digest: holder.digest, answer, until: now() + keepMs })
      if (ended.size > count) ended.pop()
    },
    forget(claim) {
      const place = placeOf(claim)
      if (holds(place, claim)) held.delete(place)
    },
    deleteAll(account) {
      const start = `${JSON.stringify([account]).slice(0, -1)},`
      for (const place of Array.from(ended.keys())) if (place.startsWith(start)) ended.delete(place)
      return false
    },
    close() {
      held.clear()
      ended.clear()
    },
  }
}

function placeOf({ account, route, key }: IdempotencyClaim): string {
  return JSON.stringify([account, route, key])
}

/** Key, digest and overhead are estimated. */
function sizeOf({ answer }: Ended, place: string): number {
  return (answer?.body.length ?? 0) + 2 * place.length + 500
}
