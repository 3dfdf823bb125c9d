/** Limits and ledger in one step, where one node has the keys of both. */
import type { HoldVerdict, AdmissionStore, Ledger, LimitStore } from '../index.ts'
import type { Admitted } from './admit.ts'
import type { Calls } from './calls.ts'
import { limitVerdict } from './limits.ts'

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

export function holdVerdict({ outcome, balance, caps }: NonNullable<Admitted['hold']>): HoldVerdict {
  return { outcome: outcome as HoldVerdict['outcome'], balance, ...(caps && { caps }) }
}
