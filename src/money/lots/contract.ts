type Result<T> = Promise<T> | T

/** What a ledger knows of an account whose money expires. */
export interface LotState {
  /** As in `LedgerAccount`. */
  readonly balance: bigint
  /** Sum of the open holds. */
  readonly held: bigint
  /** Sum of all charges: credits less balance and holds. Whatever is drawn but not charged counts as held. */
  readonly settled: bigint
  /** What was stored last. Absent if nothing was. */
  readonly lots?: string
  /** The number of times that it was stored. */
  readonly version: number
}

/** What is stored about the money of an account that expires, and about the entries that were exported. */
export interface Allotment {
  /** `LotState.version`: nothing changes if it is another one. */
  readonly was: number
  /** At most 65,536 characters. The store returns it unchanged. */
  readonly lots: string
  /** When the account is due. Milliseconds since the epoch. Absent: never. */
  readonly due?: number
}

/**
 * A text for each account, from which the gateway knows which money expires. `Credit.allotment` changes it in one step with
 * the balance. All requirements of `Ledger` apply.
 */
export interface LedgerLots {
  /** Required. Undefined if the account is unknown. */
  read(account: string): Result<LotState | undefined>
  /** Required. Stores the text of a known account. Returns whether it did. */
  write(account: string, allotment: Allotment): Result<boolean>
  /** Required. Accounts whose `due` is at most `before`, the earliest first. */
  due(before: number, limit: number): Result<readonly string[]>
}
