/** Applies the limits and the ledger together, for databases that take calls in batches: once before a call, and once after it. */
import type {
  AdmissionEnd,
  AdmissionStore,
  AdmissionVerdict,
  Hold,
  HoldVerdict,
  Ledger,
  LimitClaim,
  LimitStore,
  LimitVerdict,
} from './index.ts'

/** A call to be admitted: limits, money or both. */
export interface AdmissionItem {
  readonly claim?: LimitClaim
  readonly hold?: Hold
}

/** The verdicts on an admission: `limits` if it has a claim, `hold` if it has a hold and the limits admit it. */
export interface AdmissionResult {
  readonly limits?: LimitVerdict
  readonly hold?: HoldVerdict
}

/** The batches of one database. */
interface Calls {
  admit(call: AdmissionItem): Promise<AdmissionResult>
  end(ending: AdmissionEnd): Promise<unknown>
}

/** The admission store of a database. `finish` rejects if any of its endings fails, after all have been tried. */
export function batchedAdmission(calls: Calls, limits: LimitStore, ledger: Ledger): AdmissionStore {
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
