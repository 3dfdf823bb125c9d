/** Recomputes the balances of a memory ledger. */
import type { LedgerAccount, LedgerAudit, LedgerEntry } from './contract.ts'

interface Sums {
  credits: bigint
  settlements: bigint
}

/** `books`: the accounts, with the sums of entries that are no longer kept. `account`: their state. */
export function auditOf(
  books: readonly (Sums & { readonly id: string })[],
  lines: Iterable<LedgerEntry>,
  account: (id: string) => LedgerAccount,
): LedgerAudit {
  const sums = new Map<string, Sums>()
  for (const { id, credits, settlements } of books) sums.set(id, { credits, settlements })
  for (const line of lines) add(sums.get(line.account), line)
  const total = { credits: 0n, balances: 0n, holds: 0n, settlements: 0n }
  const faults: LedgerAudit['faults'][number][] = []
  for (const [id, { credits, settlements }] of sums) {
    const { balance, held } = account(id)
    const expected = credits - settlements - held
    if (balance !== expected) faults.push({ account: id, balance, expected })
    total.credits += credits
    total.settlements += settlements
    total.balances += balance
    total.holds += held
  }
  return { accounts: books.length, ...total, faults }
}

/** Adds an entry to sums. */
export function add(sum: Sums | undefined, line: LedgerEntry): void {
  if (sum === undefined) return
  if (line.kind === 'credit') sum.credits += line.amount
  else sum.settlements -= line.amount
}
