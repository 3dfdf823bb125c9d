/** The ledger: accounts, open holds, and the books. */
import {
  pageOf,
  readNumberCursor,
  type CreditVerdict,
  type Hold,
  type HoldVerdict,
  type Ledger,
  type LedgerAccount,
  type LedgerAudit,
  type LedgerEntry,
  type SettleVerdict,
} from '../index.ts'
import type { Calls } from './calls.ts'
import type { Database } from './database.ts'

/** As the schema gives it: amounts are text. */
type Told<T> = { readonly [K in keyof T]: T[K] extends bigint ? string : T[K] }

interface AccountRow {
  readonly account: unknown
}

const accountsSql = 'SELECT @.account_json(a) AS account FROM @.accounts a'

export function postgresLedger(database: Database, calls: Calls): Ledger {
  return {
    hold: async (hold) => (await calls.admit({ hold })).hold as HoldVerdict,
    settle: async (end) => (await calls.end({ end })) as SettleVerdict,
    async release({ id, account }) {
      await calls.end({ end: { id, account } })
    },
    async renew(holds: readonly Pick<Hold, 'id' | 'account'>[], leaseMs) {
      await database.call('renew_holds', JSON.stringify(holds.map(({ id, account }) => ({ id, account }))), leaseMs)
    },
    async credit({ account, amount, reference, note }) {
      const told = await database.call<Told<CreditVerdict>>('credit', account, String(amount), reference, note ?? null)
      return { outcome: told.outcome, balance: BigInt(told.balance) }
    },
    async open({ id, name, unlimited }) {
      return accountOf(await database.call('open_account', id, name ?? null, unlimited ?? null))
    },
    async account(id) {
      const [row] = await database.rows<AccountRow>(`${accountsSql} WHERE id = $1`, [id])
      return row && accountOf(parsed(row.account) as Told<LedgerAccount>)
    },
    async accounts({ limit = 100, after = '' }) {
      const sql = `${accountsSql} WHERE id > $1 ORDER BY id LIMIT $2`
      const rows = await database.manyRows<AccountRow>(sql, [after, limit + 1])
      const found = rows.map(({ account }) => accountOf(parsed(account) as Told<LedgerAccount>))
      return pageOf(found, limit, (last) => last.id)
    },
    async entries(account, { limit = 100, after }) {
      const found = await database.manyRows<{ entry: unknown }>(
        `SELECT jsonb_strip_nulls(jsonb_build_object(
          'number', number, 'account', account, 'kind', kind, 'reference', reference, 'amount', amount::text,
          'overage', overage::text, 'note', note, 'at', floor(extract(epoch FROM at) * 1000))) AS entry
        FROM @.entries WHERE account = $1 AND number < $2 ORDER BY number DESC LIMIT $3`,
        [account, String(readNumberCursor(after ?? '9223372036854775807')), limit + 1],
      )
      const entries = found.map(({ entry }): LedgerEntry => {
        const told = parsed(entry) as Told<LedgerEntry>
        return { ...told, amount: BigInt(told.amount), overage: BigInt(told.overage) }
      })
      return pageOf(entries, limit, (last) => String(last.number))
    },
    async audit() {
      const [row] = await database.manyRows<{ audit: unknown }>('SELECT @.audit() AS audit', [])
      const told = parsed(row?.audit) as Told<LedgerAudit>
      const faults = told.faults as unknown as readonly Told<LedgerAudit['faults'][number]>[]
      return {
        accounts: told.accounts,
        credits: BigInt(told.credits),
        balances: BigInt(told.balances),
        holds: BigInt(told.holds),
        settlements: BigInt(told.settlements),
        faults: faults.map(({ account, balance, expected }) => ({
          account,
          balance: BigInt(balance),
          expected: BigInt(expected),
        })),
      }
    },
  }
}

function accountOf(told: Told<LedgerAccount>): LedgerAccount {
  return { ...told, balance: BigInt(told.balance), held: BigInt(told.held) }
}

function parsed(json: unknown): unknown {
  return typeof json === 'string' ? JSON.parse(json) : json
}
