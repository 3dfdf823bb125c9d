import type { AuditEntry, AuditFilter } from './contract.ts'

/** Whether a filter selects an entry, for stores that cannot ask their database. */
export function auditMatches(
  entry: AuditEntry,
  { account, actor, action, from = 0, to = Infinity }: AuditFilter,
): boolean {
  const isThen = entry.at >= from && entry.at < to
  return isThen && isSame(account, entry.account) && isSame(actor, entry.actor) && isSame(action, entry.action)
}

/** The entry without its content, and with a pseudonym in the place of an account that is erased. */
export function erasedEntry(entry: AuditEntry, account: string, as: string): AuditEntry {
  return {
    ...entry,
    content: '',
    ...(entry.account === account && { account: as }),
    ...(entry.actor === account && { actor: as }),
  }
}

function isSame(asked: string | undefined, value: string | undefined): boolean {
  return asked === undefined || asked === value
}
