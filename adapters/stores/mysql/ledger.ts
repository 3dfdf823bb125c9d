/** The ledger: accounts, open holds and entries. Holds are made and ended in the batches of `calls`. */
import {
  capUseMs,
  type CapPeriod,
  type Credit,
  type CreditVerdict,
  type Ledger,
  type LedgerAccount,
  type Sweep,
  takenOf,
} from '../index.ts'
import { batchedHolds } from '../batched-admission.ts'
import { inParts } from '../batches.ts'
import { listIn } from '../unreadable.ts'
import { openingOf, sqlAccounts } from '../sql/accounts.ts'
import { allotmentValues, allotting, lotStateOf, readingLots, sqlLots } from '../sql/lots.ts'
import { noticeSweep, sqlNotices } from '../sql/notices.ts'
import type { Sql, TableRow } from '../sql/sql.ts'
import { sweepOf } from '../sql/sweep.ts'
import type { Calls } from './calls.ts'
import { CapBooks } from './cap-books.ts'
import type { Database } from './database.ts'
import type { Ask } from './transaction.ts'
import { lockRows, marks } from './locks.ts'
import { sqlOverrides } from '../sql/overrides.ts'
import { dialect } from './dialect.ts'

const { now } = dialect

export function mysqlLedger(
  database: Database,
  sql: Sql,
  calls: Calls,
): Ledger & Required<Pick<Ledger, 'caps' | 'close'>> {
  const books = sqlAccounts(sql, (column) => column)
  const holds = batchedHolds(calls)
  const sweeps: readonly Sweep[] = [
    sweepOf(sql, 'cap_use', capUseMs),
    sweepOf(sql, 'cap_charges', capUseMs),
    noticeSweep(sql),
  ]
  return {
    caps: { read: (claims) => calls.states(claims), ...sqlOverrides(sql), ...sqlNotices(sql) },
    lots: sqlLots(sql),
    ...holds,
    hold(hold) {
      if (hold.caps !== undefined) for (const sweep of sweeps) sweep.use()
      return holds.hold(hold)
    },
    async renew(holds, leaseMs) {
      await inParts(holds, (part) => database.transaction((ask) => renewHolds(ask, part, leaseMs)))
    },
    credit: (credit) => database.transaction((ask) => book(ask, credit)),
    ...books,
    async open({ id, name, unlimited }) {
      await database.transaction(async (ask) => {
        await lockRows(ask, 'accounts', 'id', [id])
        const text = 'UPDATE @.accounts SET name = coalesce(?, name), unlimited = coalesce(?, unlimited) WHERE id = ?'
        await ask(text, [name ?? null, unlimited ?? null, id])
      })
      return (await books.account(id)) as LedgerAccount
    },
    compact: (account, before, most) => database.transaction((ask) => compact(ask, account, before, most), 'long'),
    async close() {
      await Promise.all(sweeps.map((sweep) => sweep.close()))
    },
  }
}

async function renewHolds(
  ask: Ask,
  holds: readonly { readonly id: string; readonly account: string }[],
  leaseMs: number,
): Promise<void> {
  const ids = holds.map(({ id }) => id)
  const { rows } = await ask(
    `SELECT DISTINCT c.cap FROM @.cap_holds c JOIN @.holds h ON h.id = c.hold
    WHERE c.hold IN (${marks(ids)}) AND h.ends > ${now} + ?`,
    [...ids, leaseMs],
  )
  const sooner = rows.map(({ cap }) => cap as string)
  if (sooner.length > 0) {
    await lockRows(ask, 'caps', 'cap', sooner)
    const text = `UPDATE @.caps SET soonest = least(coalesce(soonest, ${now} + ?), ${now} + ?) WHERE cap IN (${marks(sooner)})`
    await ask(text, [leaseMs, leaseMs, ...sooner])
  }
  const which = holds.map(() => '(id = ? AND account = ?)').join(' OR ')
  await ask(`UPDATE @.holds SET ends = ${now} + ? WHERE (${which}) AND ends > ${now}`, [
    leaseMs,
    ...holds.flatMap(({ id, account }) => [id, account]),
  ])
}

/** Books a credit. If another process books one with its reference at the same time, the transaction is repeated. */
async function book(ask: Ask, given: Credit): Promise<CreditVerdict> {
  const { account, amount: wanted, reference, note, refunds, allotment, spentTo } = given
  const text = 'SELECT account, amount FROM @.entries WHERE is_credit = 1 AND reference = ?'
  const [made] = (await ask(text, [reference])).rows
  const verdict = (outcome: CreditVerdict['outcome'], balance: bigint, amount: bigint): CreditVerdict => ({
    outcome,
    balance,
    ...(spentTo !== undefined && { amount }),
  })
  if (made !== undefined) {
    const { rows } = await ask('SELECT balance FROM @.accounts WHERE id = ?', [account])
    const amount = BigInt(made['amount'] as string)
    const same = made['account'] === account && (spentTo !== undefined || amount === wanted)
    return verdict(same ? 'already' : 'conflict', BigInt((rows[0]?.['balance'] ?? 0) as string), amount)
  }
  const locked = await lockRows(ask, 'accounts', 'id', [account])
  const before = BigInt(locked.get(account)?.row['balance'] as string)
  if (allotment !== undefined && (await ask(allotting(), allotmentValues(account, allotment))).changed === 0)
    return verdict('changed', before, 0n)
  const lots = async () => lotStateOf((await ask(readingLots(), [account])).rows[0] as TableRow)
  const amount = spentTo === undefined ? wanted : takenOf(await lots(), wanted, spentTo)
  if (amount !== 0n)
    await ask(
      `INSERT INTO @.entries (account, kind, is_credit, reference, amount, note) VALUES (?, 'credit', true, ?, ?, ?)`,
      [account, reference, amount, note ?? null],
    )
  const adding = 'UPDATE @.accounts SET balance = balance + ?, credited = credited + ? WHERE id = ?'
  await ask(adding, [amount, amount, account])
  if (refunds !== undefined && amount > 0n) await refund(ask, account, amount, refunds)
  return verdict('credited', before + amount, amount)
}

/** Takes a refund off the use of the caps of its settlement. The account is locked, so that there is no other at once. */
async function refund(ask: Ask, account: string, amount: bigint, hold: string): Promise<void> {
  const text = 'SELECT refundable, caps FROM @.cap_charges WHERE hold = ? AND account = ?'
  const [charge] = (await ask(text, [hold, account])).rows
  if (charge === undefined) return
  const refundable = BigInt(charge['refundable'] as string)
  const money = amount < refundable ? amount : refundable
  await ask('UPDATE @.cap_charges SET refundable = ? WHERE hold = ?', [refundable - money, hold])
  const caps = new CapBooks(ask)
  const question = { claims: [], holds: [], periods: (listIn(charge['caps']) ?? []) as CapPeriod[] }
  await caps.read(await caps.lock(question), question)
  caps.refund(question.periods, money)
  caps.write()
}

async function compact(ask: Ask, account: string, before: number, most: number): Promise<number> {
  await ask('SELECT 1 FROM @.accounts WHERE id = ? FOR UPDATE', [account])
  const own = `account = ? AND is_credit = 0`
  const opening = openingOf(account)
  const old = `SELECT number FROM @.entries WHERE ${own} AND reference <> ? AND at < ? ORDER BY number LIMIT ?`
  const { rows } = await ask(`SELECT max(number) AS last FROM (${old}) old`, [account, opening, before, most])
  const last = rows[0]?.['last']
  if (last === null) return 0
  const sums = await ask(
    `SELECT sum(amount) AS amount, sum(overage) AS overage, max(at) AS at, sum(reference <> ?) AS count
    FROM @.entries WHERE ${own} AND number <= ?`,
    [opening, account, BigInt(last as string)],
  )
  const { amount, overage, at, count } = sums.rows[0] as Readonly<Record<string, string>>
  await ask(`DELETE FROM @.entries WHERE ${own} AND number <= ?`, [account, BigInt(last as string)])
  await ask(
    `INSERT INTO @.entries (number, account, kind, is_credit, reference, amount, overage, at)
    VALUES (?, ?, 'settle', false, ?, ?, ?, ?)`,
    [last, account, opening, amount, overage, at],
  )
  return Number(count)
}
