/** The ledger: accounts, open holds and entries. */
import { type CreditVerdict, type Hold, type Ledger, type LedgerAccount } from '../index.ts'
import { batchedHolds } from '../batched-admission.ts'
import { inParts } from '../batches.ts'
import { sqlAccounts } from '../sql/accounts.ts'
import { sqlLots } from '../sql/lots.ts'
import type { Calls } from './calls.ts'
import { postgresCaps } from './caps.ts'
import type { Database } from './database.ts'

/** A value as the schema returns it, with amounts as text. */
type Raw<T> = { readonly [K in keyof T]: T[K] extends bigint | undefined ? string : T[K] }

/** The ledger of a schema. Holds are made and ended in the batches of `calls`. */
export function postgresLedger(database: Database, calls: Calls): Ledger & Required<Pick<Ledger, 'caps' | 'close'>> {
  const { sql } = calls
  const books = sqlAccounts(sql, (column) => `extract(epoch FROM ${column})::float8 * 1000`)
  return {
    caps: postgresCaps(database, sql),
    lots: sqlLots(sql),
    ...batchedHolds(calls),
    async renew(holds: readonly Pick<Hold, 'id' | 'account'>[], leaseMs) {
      const named = holds.map(({ id, account }) => ({ id, account }))
      await inParts(named, async (part) => database.call('renew_holds', JSON.stringify(part), leaseMs))
    },
    async credit({ account, amount, reference, note, refunds, allotment, spentTo }) {
      const values = [account, String(amount), reference, note ?? null]
      const { lots, was, due } = allotment ?? {}
      const rest = [lots, was, due, spentTo === undefined ? null : String(spentTo)].map((value) => value ?? null)
      const raw = await (refunds === undefined
        ? database.call<Raw<CreditVerdict>>('credit', ...values, ...rest)
        : database.call<Raw<CreditVerdict>>('refund', ...values, refunds))
      const booked = spentTo !== undefined && { amount: BigInt(raw.amount ?? 0) }
      return { outcome: raw.outcome, balance: BigInt(raw.balance), ...booked }
    },
    ...books,
    async open({ id, name, unlimited }) {
      await database.call('open_account', id, name ?? null, unlimited ?? null)
      return (await books.account(id)) as LedgerAccount
    },
    compact: (account, before, most) => database.call<number>('compact_entries', account, before, most),
    close: () => calls.close(),
  }
}
