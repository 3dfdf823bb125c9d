/** Limits: the places and rates of calls, without money. */
import type { LimitStore, LimitVerdict } from '../index.ts'
import type { Admitted } from './admit.ts'
import type { Calls } from './calls.ts'
import type { Leases } from './leases.ts'

export function redisLimits(calls: Calls, leases: Leases): LimitStore {
  return {
    async take(claim) {
      return limitVerdict(await calls.admit(claim, undefined))
    },
    async give(returned) {
      await calls.finish(returned, undefined)
    },
    renew: (holders, leaseMs) => leases.renewPlaces(holders, leaseMs),
  }
}

export function limitVerdict({ admitted, left, free }: Admitted): LimitVerdict {
  return { admitted, left, free }
}
