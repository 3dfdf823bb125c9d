/** The ledger: accounts, open holds and entries. */
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
import { postgresCaps } from './caps.ts'
import { withKind } from './compaction.ts'
import { inParts, type Database } from './database.ts'

/** A value as the schema returns it, with amounts as text. */
type Raw<T> = { readonly [K in keyof T]: T[K] extends bigint ? string : T[K] }

interface AccountRow {
  readonly account: unknown
}

const accountsSql = 'SELECT @.account_json(a) AS account FROM @.accounts a'

/** The ledger of a schema. Holds are made and ended in the batches of `calls`. */
export function postgresLedger(database: Database, calls: Calls): Ledger & Required<Pick<Ledger, 'caps' | 'close'>> {
  return {
    caps: postgresCaps(database),
    hold: async (hold) => (await calls.admit({ hold })).hold as HoldVerdict,
    settle: async (end) => (await calls.end({ end })) as SettleVerdict,
    async release({ id, account }) {
      await calls.end({ end: { id, account } })
    },
    async renew(holds: readonly Pick<Hold, 'id' | 'account'>[], leaseMs) {
      const named = holds.map(({ id, account }) => ({ id, account }))
      await inParts(named, async (part) => database.call('renew_holds', JSON.stringify(part), leaseMs))
    },
    async credit({ account, amount, reference, note, refunds }) {
      const values = [account, String(amount), reference, note ?? null]
      const raw = await (refunds === undefined
        ? database.call<Raw<CreditVerdict>>('credit', ...values)
        : database.call<Raw<CreditVerdict>>('refund', ...values, refunds))
      return { outcome: raw.outcome, balance: BigInt(raw.balance) }
    },
    async open({ id, name, unlimited }) {
      return accountOf(await database.call('open_account', id, name ?? null, unlimited ?? null))
    },
    async account(id) {
      const [row] = await database.rows<AccountRow>(`${accountsSql} WHERE id = $1`, [id])
      return row && accountOf(parsed(row.account) as Raw<LedgerAccount>)
    },
    async accounts({ limit = 100, after = '' }) {
      const sql = `${accountsSql} WHERE id > $1 ORDER BY id LIMIT $2`
      const rows = await database.manyRows<AccountRow>(sql, [after, limit + 1])
      const found = rows.map(({ account }) => accountOf(parsed(account) as Raw<LedgerAccount>))
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
        const raw = parsed(entry) as Raw<LedgerEntry>
        return withKind({ ...raw, amount: BigInt(raw.amount), overage: BigInt(raw.overage) })
      })
      return pageOf(entries, limit, (last) => String(last.number))
    },
    compact: (account, before, most) => database.call<number>('compact_entries', account, before, most),
    async audit() {
      const [row] = await database.manyRows<{ audit: unknown }>('SELECT @.audit() AS audit', [])
      const raw = parsed(row?.audit) as Raw<LedgerAudit>
      const faults = raw.faults as unknown as readonly Raw<LedgerAudit['faults'][number]>[]
      return {
        accounts: raw.accounts,
        credits: BigInt(raw.credits),
        balances: BigInt(raw.balances),
        holds: BigInt(raw.holds),
        settlements: BigInt(raw.settlements),
        faults: faults.map(({ account, balance, expected }) => ({
          account,
          balance: BigInt(balance),
          expected: BigInt(expected),
        })),
      }
    },
    close: () => calls.close(),
  }
}

function accountOf(raw: Raw<LedgerAccount>): LedgerAccount {
  return { ...raw, balance: BigInt(raw.balance), held: BigInt(raw.held) }
}

function parsed(json: unknown): unknown {
  return typeof json === 'string' ? JSON.parse(json) : json
}
