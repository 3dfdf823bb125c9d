/** Applies the limits and the ledger together: one round trip before a call, and one after it. */
import type { AdmissionStore, AdmissionVerdict, Ledger, LimitStore } from '../index.ts'
import type { Calls } from './calls.ts'

/** The admission store of a schema. `finish` rejects if any of its endings fails, after all have been tried. */
export function postgresAdmission(calls: Calls, limits: LimitStore, ledger: Ledger): AdmissionStore {
  return {
    limits,
    ledger,
    admit: async (claim, hold) => (await calls.admit({ claim, hold })) as AdmissionVerdict,
    async finish(endings) {
      const ended = await Promise.allSettled(endings.map((ending) => calls.end(ending)))
      const failure = ended.find((each) => each.status === 'rejected')
      if (failure !== undefined) throw failure.reason
    },
  }
}
