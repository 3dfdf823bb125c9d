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
  SliceEnds,
  SliceWish,
} from './index.ts'

/** A call to be admitted: limits, money or both. */
export interface AdmissionItem {
  readonly claim?: LimitClaim
  readonly hold?: Hold
  /** As of `AdmissionStore.admit`. */
  readonly slice?: SliceWish | undefined
}

/** The verdicts on an admission: `limits` if it has a claim, `hold` if it has a hold and the limits admit it. */
export interface AdmissionResult {
  readonly limits?: LimitVerdict
  readonly hold?: HoldVerdict
  /** As of `AdmissionVerdict`. */
  readonly ahead?: number
}

/** The batches of one database. */
interface Calls {
  admit(call: AdmissionItem): Promise<AdmissionResult>
  end(ending: AdmissionEnd): Promise<SettleVerdict | undefined>
  /** What is added before an ending takes effect before it. Undefined: slices are not drawn. */
  endSlices?(ends: SliceEnds): Promise<unknown>
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
    drawsSlices: calls.endSlices !== undefined,
    admit: async (claim, hold, slice) => (await calls.admit({ claim, hold, slice })) as AdmissionVerdict,
    async finish(endings, slices) {
      const first = slices === undefined ? [] : [calls.endSlices?.(slices)]
      const ended = await Promise.allSettled([...first, ...endings.map((ending) => calls.end(ending))])
      const failure = ended.find((each) => each.status === 'rejected')
      if (failure !== undefined) throw failure.reason
    },
  }
}
