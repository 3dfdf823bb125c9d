/** Limits, and limits and ledger in one step, where one node has the keys of both. */
import type { AdmissionStore, HoldVerdict, Ledger, LimitStore, LimitVerdict } from '../index.ts'
import type { AdmittedPart } from './admit.ts'
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

export function redisAdmission(calls: Calls, limits: LimitStore, ledger: Ledger): AdmissionStore {
  return {
    limits,
    ledger,
    async admit(claim, hold) {
      const admitted = await calls.admit(claim, hold)
      return { limits: limitVerdict(admitted), ...(admitted.hold && { hold: holdVerdict(admitted.hold) }) }
    },
    async finish(endings) {
      const ended = await Promise.allSettled(endings.map(({ returned, end }) => calls.finish(returned, end)))
      const failed = ended.find((result) => result.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    },
  }
}

export function holdVerdict({ outcome, balance, caps }: NonNullable<AdmittedPart['hold']>): HoldVerdict {
  return { outcome: outcome as HoldVerdict['outcome'], balance, ...(caps && { caps }) }
}

function limitVerdict({ admitted, left, free }: AdmittedPart): LimitVerdict {
  return { admitted, left, free }
}
