import {
  capUseMs,
  type Credit,
  type CreditVerdict,
  type Hold,
  type HoldVerdict,
  type Ledger,
  type LedgerAccount,
  type LedgerEntry,
  type SettleVerdict,
  type Settlement,
  takenOf,
} from '../index.ts'
import { audit } from './audit.ts'
import { compact } from './compaction.ts'
import { holdCaps, note, refundCaps, settleCaps, sqliteCaps, statesOfHold } from './caps.ts'
import { bigintOf, type Database, type Row } from './database.ts'
import { sqlAccounts } from '../sql/accounts.ts'
import { allotmentValues, allotting, lotColumns, lotStateOf, readingLots, sqlLots } from '../sql/lots.ts'
import { noticeSweep } from '../sql/notices.ts'
import { sweepOf } from '../sql/sweep.ts'
import { dialect } from './dialect.ts'
import { sqliteSql } from './sql.ts'

/**
 * Ending a hold deletes its row and inserts one entry. The unique index on entries ensures that a hold ends only once.
 */
export const ledgerSchema: string = `
    CREATE TABLE modelhatch_accounts (
      id TEXT PRIMARY KEY,
      balance INTEGER NOT NULL DEFAULT 0,
      unlimited INTEGER NOT NULL DEFAULT 0,
      name TEXT,
      created_at REAL NOT NULL,
      ${lotColumns(dialect)}
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX modelhatch_accounts_due ON modelhatch_accounts (lots_due) WHERE lots_due IS NOT NULL;
    CREATE TABLE modelhatch_holds (
      id TEXT PRIMARY KEY,
      account TEXT NOT NULL REFERENCES modelhatch_accounts,
      amount INTEGER NOT NULL,
      ends REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX modelhatch_holds_of ON modelhatch_holds (account, ends);
    CREATE TABLE modelhatch_entries (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      account TEXT NOT NULL REFERENCES modelhatch_accounts,
      kind TEXT NOT NULL,
      reference TEXT NOT NULL,
      amount INTEGER NOT NULL,
      overage INTEGER NOT NULL DEFAULT 0,
      note TEXT,
      at REAL NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX modelhatch_entries_by ON modelhatch_entries (kind = 'credit', reference);
    CREATE INDEX modelhatch_entries_of ON modelhatch_entries (account, number);
`

export function sqliteLedger(database: Database): Ledger & Required<Pick<Ledger, 'caps' | 'close'>> {
  const sql = sqliteSql(database)
  const books = sqlAccounts(sql, (column) => column)
  const sweeps = [sweepOf(sql, 'cap_use', capUseMs), sweepOf(sql, 'cap_charges', capUseMs), noticeSweep(sql)]
  return {
    caps: sqliteCaps(database, sql, () => returnAllExpired(database)),
    lots: sqlLots(sql),
    hold: (wanted) => {
      if (wanted.caps !== undefined) for (const sweep of sweeps) sweep.use()
      return database.transaction(() => hold(database, wanted))
    },
    settle: (settlement) => database.transaction(() => endHold(database, settlement)),
    release: ({ id, account }) =>
      database.transaction(() => {
        endHold(database, { id, account })
      }),
    renew: (holds, leaseMs) =>
      database.transaction(() => {
        const now = database.now()
        for (const { id, account } of holds) {
          const sql = 'UPDATE modelhatch_holds SET ends = ? WHERE id = ? AND account = ? AND ends > ?'
          database.run(sql, now + leaseMs, id, account, now)
        }
      }),
    credit: (given) => database.transaction(() => credit(database, given)),
    ...books,
    audit: () => audit(database),
    async open({ id, name, unlimited }) {
      await database.transaction(() => {
        ensure(database, id)
        const sql =
          'UPDATE modelhatch_accounts SET name = coalesce(?, name), unlimited = coalesce(?, unlimited) WHERE id = ?'
        database.run(sql, name ?? null, unlimited === undefined ? null : Number(unlimited), id)
      })
      return (await books.account(id)) as LedgerAccount
    },
    compact: (account, before, most) => database.transaction(() => compact(database, account, before, most)),
    async close() {
      await Promise.all(sweeps.map((sweep) => sweep.close()))
    },
  }
}

/** Places a hold. Must run in a transaction, like all functions below. */
export function hold(database: Database, wanted: Hold): HoldVerdict {
  const { id, account, amount, leaseMs, caps = [] } = wanted
  let row = database.get('SELECT balance, unlimited FROM modelhatch_accounts WHERE id = ?', account)
  if (endOf(database, id) !== undefined) return { outcome: 'ended', balance: bigintOf(row?.['balance']) }
  const isFree = amount === 0n && caps.length > 0
  if (row === undefined && !isFree) return { outcome: 'insufficient', balance: 0n }
  const now = database.now()
  let known = database.get('SELECT ends FROM modelhatch_holds WHERE id = ?', id)
  if (bigintOf(row?.['balance']) < amount || (known !== undefined && Number(known['ends']) <= now)) {
    returnExpired(database, account, now)
    row = database.get('SELECT balance, unlimited FROM modelhatch_accounts WHERE id = ?', account)
    known = database.get('SELECT ends FROM modelhatch_holds WHERE id = ?', id)
  }
  const balance = bigintOf(row?.['balance'])
  if (known !== undefined) {
    return { outcome: 'held', balance, ...(caps.length > 0 && { caps: statesOfHold(database, id, caps) }) }
  }
  if (balance < amount && row?.['unlimited'] === 0n && !isFree) return { outcome: 'insufficient', balance }
  const capped = caps.length === 0 ? undefined : holdCaps(database, wanted, () => returnAllExpired(database))
  if (capped?.fits === false) return { outcome: 'capped', balance: balanceOf(database, account), caps: capped.states }
  ensure(database, account)
  database.run('INSERT INTO modelhatch_holds VALUES (?, ?, ?, ?)', id, account, amount, now + leaseMs)
  change(database, account, -amount)
  return { outcome: 'held', balance: balanceOf(database, account), ...(capped && { caps: capped.states }) }
}

/** Settles a hold, or releases it if there is no amount. */
export function endHold(database: Database, ending: Pick<Hold, 'id' | 'account'> & Partial<Settlement>): SettleVerdict {
  const { id, account, amount } = ending
  const ended = endOf(database, id)
  if (ended !== undefined) {
    const outcome = ended['kind'] === 'settle' ? 'already' : 'released'
    return { outcome, charged: -bigintOf(ended['amount']), overage: bigintOf(ended['overage']) }
  }
  ensure(database, account)
  returnExpired(database, account, database.now())
  const row = database.get('DELETE FROM modelhatch_holds WHERE id = ? AND account = ? RETURNING amount', id, account)
  const held = bigintOf(row?.['amount'])
  const charged = amount ?? 0n
  const overage = charged > held ? charged - held : 0n
  write(database, {
    account,
    kind: amount === undefined ? 'release' : 'settle',
    reference: id,
    amount: -charged,
    overage,
  })
  change(database, account, held - charged)
  if (amount !== undefined) {
    settleCaps(database, { ...ending, amount })
    if (ending.balanceThresholds !== undefined) markBalance(database, { ...ending, amount })
  }
  return { outcome: 'settled', charged, overage }
}

/** Records the notices of the levels below which a settlement took its account. */
function markBalance(database: Database, settlement: Settlement): void {
  const row = database.get('SELECT * FROM modelhatch_accounts WHERE id = ?', settlement.account) as Row
  const thresholds = settlement.balanceThresholds?.filter(({ at }) => bigintOf(row['balance']) < at) ?? []
  if (row['unlimited'] === 1n || thresholds.length === 0) return
  const holds = database.all('SELECT amount FROM modelhatch_holds WHERE account = ?', settlement.account)
  const left = holds.reduce((sum, { amount }) => sum + bigintOf(amount), bigintOf(row['balance']))
  for (const threshold of thresholds) {
    if (left < threshold.at && left + settlement.amount >= threshold.at) note(database, threshold, settlement, left)
  }
}

const [allotLots, readLots] = [allotting(), readingLots()].map((text) => text.replaceAll('@.', 'modelhatch_')) as [
  string,
  string,
]

function credit(database: Database, given: Credit): CreditVerdict {
  const { account, amount: wanted, reference, note, refunds, allotment, spentTo } = given
  const sql = `SELECT account, amount FROM modelhatch_entries WHERE (kind = 'credit') = 1 AND reference = ?`
  const made = database.get(sql, reference)
  const verdict = (outcome: CreditVerdict['outcome'], amount: bigint): CreditVerdict => ({
    outcome,
    balance: balanceOf(database, account),
    ...(spentTo !== undefined && { amount }),
  })
  if (made !== undefined) {
    const same = made['account'] === account && (spentTo !== undefined || made['amount'] === wanted)
    return verdict(same ? 'already' : 'conflict', bigintOf(made['amount']))
  }
  ensure(database, account)
  if (allotment !== undefined && database.run(allotLots, ...allotmentValues(account, allotment)) === 0)
    return verdict('changed', 0n)
  const amount =
    spentTo === undefined ? wanted : takenOf(lotStateOf(database.get(readLots, account) as Row), wanted, spentTo)
  const adding = 'UPDATE modelhatch_accounts SET balance = balance + ?, credited = credited + ? WHERE id = ?'
  database.run(adding, amount, amount, account)
  if (amount !== 0n)
    write(database, { account, kind: 'credit', reference, amount, overage: 0n, ...(note !== undefined && { note }) })
  if (refunds !== undefined && amount > 0n) refundCaps(database, refunds, account, amount)
  return verdict('credited', amount)
}

/** The entry that ended a hold. */
function endOf(database: Database, id: string): Row | undefined {
  const sql = `SELECT kind, amount, overage FROM modelhatch_entries WHERE (kind = 'credit') = 0 AND reference = ?`
  return database.get(sql, id)
}

function balanceOf(database: Database, account: string): bigint {
  return bigintOf(database.get('SELECT balance FROM modelhatch_accounts WHERE id = ?', account)?.['balance'])
}

function ensure(database: Database, account: string): void {
  const sql = 'INSERT OR IGNORE INTO modelhatch_accounts (id, created_at) VALUES (?, ?)'
  database.run(sql, account, database.now())
}

function change(database: Database, account: string, by: bigint): void {
  database.run('UPDATE modelhatch_accounts SET balance = balance + ? WHERE id = ?', by, account)
}

function returnExpired(database: Database, account: string, now: number): void {
  const sql = 'DELETE FROM modelhatch_holds WHERE account = ? AND ends <= ? RETURNING amount'
  const expired = database.all(sql, account, now)
  if (expired.length > 0)
    change(
      database,
      account,
      expired.reduce((sum, row) => sum + bigintOf(row['amount']), 0n),
    )
}

/** Its cost is that of the expired holds. With DISTINCT, SQLite would read all holds. */
function returnAllExpired(database: Database): void {
  const now = database.now()
  const expired = database.all('SELECT account FROM modelhatch_holds WHERE ends <= ?', now)
  for (const account of new Set(expired.map((row) => row['account'] as string))) returnExpired(database, account, now)
}

function write(database: Database, line: Omit<LedgerEntry, 'number' | 'at'>): void {
  const { account, kind, reference, amount, overage, note = null } = line
  const sql = `INSERT INTO modelhatch_entries (account, kind, reference, amount, overage, note, at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`
  database.run(sql, account, kind, reference, amount, overage, note, database.now())
}
