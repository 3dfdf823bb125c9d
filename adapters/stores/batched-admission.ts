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
  SettleVerdict,
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
  end(ending: AdmissionEnd): Promise<SettleVerdict | undefined>
}

/** The limit store of a database. */
export function batchedLimits(calls: Calls, renew: LimitStore['renew']): LimitStore {
  return {
    take: async (claim) => (await calls.admit({ claim })).limits as LimitVerdict,
    async give(returned) {
      await calls.end({ returned })
    },
    renew,
  }
}

/** What a ledger does with holds. */
export function batchedHolds(calls: Calls): Pick<Ledger, 'hold' | 'settle' | 'release'> {
  return {
    hold: async (hold) => (await calls.admit({ hold })).hold as HoldVerdict,
    settle: async (end) => (await calls.end({ end })) as SettleVerdict,
    async release({ id, account }) {
      await calls.end({ end: { id, account } })
    },
  }
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
