/** What is read of the ledger: accounts, their entries, and the audit. */
import { pageOf, readNumberCursor, slicePrefix, type Ledger, type LedgerAccount, type LedgerEntry } from '../index.ts'
import type { Sql, TableRow } from './sql.ts'

/** `time`: the milliseconds since the epoch of a column with a time. */
export function sqlAccounts(
  { all, many, dialect: { now } }: Sql,
  time: (column: string) => string,
): Required<Pick<Ledger, 'account' | 'accounts' | 'entries' | 'entriesAfter' | 'audit'>> {
  const sumOfHolds = (which: string, some: string = '') =>
    `(SELECT coalesce(sum(h.amount), 0) FROM @.holds h WHERE h.account = a.id AND ${time('h.ends')} ${which} ${now} ${some})`
  const accounts = `SELECT a.id, a.balance, a.name, a.unlimited, ${time('a.created_at')} AS created_at,
    ${sumOfHolds('>')} AS held, ${sumOfHolds('>', `AND h.id LIKE '${slicePrefix}%'`)} AS ahead, ${sumOfHolds('<=')} AS expired FROM @.accounts a`
  const audit = `WITH standing AS (
      SELECT a.id, a.balance + coalesce(h.expired, 0) AS balance, coalesce(h.held, 0) AS held,
        coalesce(e.credits, 0) AS credits, coalesce(e.settlements, 0) AS settlements
      FROM @.accounts a LEFT JOIN (
        SELECT ${unindexed} AS account, ${total(`kind = 'credit'`)} AS credits, -${total(`kind = 'settle'`)} AS settlements
        FROM @.entries GROUP BY ${unindexed}
      ) e ON e.account = a.id LEFT JOIN (
        SELECT account, ${total(`${time('ends')} > ${now}`)} AS held, ${total(`${time('ends')} <= ${now}`)} AS expired
        FROM @.holds GROUP BY account
      ) h ON h.account = a.id
    )
    SELECT NULL AS id, count(*) AS accounts, sum(balance) AS balance, sum(held) AS held, sum(credits) AS credits,
      sum(settlements) AS settlements FROM standing
    UNION ALL SELECT id, 1, balance, held, credits, settlements FROM standing
    WHERE balance <> credits - settlements - held`
  const entries = (
    which: string,
  ) => `SELECT number, account, kind, reference, amount, overage, note, ${time('at')} AS at
    FROM @.entries WHERE account = :account AND number ${which} LIMIT :most`
  return {
    account: async (id) => (await all(`${accounts} WHERE a.id = :id`, { id })).map(accountOf)[0],
    async accounts({ limit = 100, after = '' }) {
      const rows = await many(`${accounts} WHERE a.id > :after ORDER BY a.id LIMIT :most`, { after, most: limit + 1 })
      return pageOf(rows.map(accountOf), limit, (last) => last.id)
    },
    async entries(account, { limit = 100, after = '9223372036854775807' }) {
      const given = { account, number: readNumberCursor(after), most: limit + 1 }
      const rows = await many(entries('< :number ORDER BY number DESC'), given)
      return pageOf(rows.map(entryOf), limit, (last) => String(last.number))
    },
    async entriesAfter(account, after, most) {
      const rows = await many(entries('> :number ORDER BY number'), { account, number: BigInt(after), most })
      return rows.map(entryOf)
    },
    async audit() {
      const rows = await many(audit)
      const sums = rows.filter(({ id }) => id === null)[0] as TableRow
      const faults = rows.filter(({ id }) => id !== null)
      return {
        accounts: Number(sums['accounts']),
        credits: amountOf(sums['credits']),
        balances: amountOf(sums['balance']),
        holds: amountOf(sums['held']),
        settlements: amountOf(sums['settlements']),
        faults: faults.map(({ id, balance, credits, settlements, held }) => ({
          account: id as string,
          balance: amountOf(balance),
          expected: amountOf(credits) - amountOf(settlements) - amountOf(held),
        })),
      }
    },
  }
}

/** So that no index on accounts is used, which would look up every entry separately. */
const unindexed = `coalesce(account, '')`

function total(condition: string): string {
  return `sum(CASE WHEN ${condition} THEN amount ELSE 0 END)`
}

/** Clients return sums of integers as bigint, text, or null. */
function amountOf(value: unknown): bigint {
  return BigInt((value ?? 0) as bigint | string)
}

function accountOf(row: TableRow): LedgerAccount {
  const ahead = amountOf(row['ahead'])
  return {
    id: row['id'] as string,
    balance: amountOf(row['balance']) + amountOf(row['expired']),
    held: amountOf(row['held']),
    ...(ahead > 0n && { ahead }),
    unlimited: Number(row['unlimited']) === 1,
    ...(row['name'] !== null && { name: row['name'] as string }),
    createdAt: Math.floor(Number(row['created_at'])),
  }
}

function entryOf(row: TableRow): LedgerEntry {
  const account = row['account'] as string
  // The sum of compacted charges is stored as a charge, so that the audit of every version includes it.
  const isOpening = row['kind'] === 'settle' && row['reference'] === openingOf(account)
  return {
    number: Number(row['number']),
    account,
    kind: isOpening ? 'opening' : (row['kind'] as LedgerEntry['kind']),
    reference: isOpening ? 'opening' : (row['reference'] as string),
    amount: amountOf(row['amount']),
    overage: amountOf(row['overage']),
    ...(row['note'] !== null && { note: row['note'] as string }),
    at: Math.floor(Number(row['at'])),
  }
}

/** The reference of the sum of compacted charges of an account, which no hold has. */
export function openingOf(account: string): string {
  return `opening ${account}`
}
