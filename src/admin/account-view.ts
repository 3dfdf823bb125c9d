import type { LedgerAccount, LedgerEntry } from '../money/ledger/contract.ts'
import { formatMoney } from '../money/money.ts'
import { picked } from '../records/picked.ts'

/** An account, with amounts as decimal strings. */
export interface AccountView extends Omit<LedgerAccount, 'balance' | 'held' | 'ahead'> {
  /** Amount available, such as `'12.5'`. */
  readonly balance: string
  /** Amount held for open requests and tasks; not included in `balance`. */
  readonly held: string
}

/** A ledger entry, with amounts as decimal strings. */
export interface EntryView extends Omit<LedgerEntry, 'amount' | 'overage'> {
  /** Change of the account, as a decimal string. */
  readonly amount: string
  /** Of a settlement: the part that exceeded the hold, as a decimal string. */
  readonly overage: string
}

/** The entry as hosts and customers see it. */
export function entryView(entry: LedgerEntry): EntryView {
  const fields = picked(entry, ['number', 'account', 'kind', 'reference', 'note', 'at'])
  return { ...fields, amount: formatMoney(entry.amount), overage: formatMoney(entry.overage) }
}

/** The account as hosts and customers see it. */
export function view(account: LedgerAccount): AccountView {
  const fields = picked(account, ['id', 'name', 'unlimited', 'createdAt'])
  return { ...fields, balance: formatMoney(account.balance), held: formatMoney(account.held) }
}
