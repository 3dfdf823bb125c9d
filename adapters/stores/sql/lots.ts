/** Money that expires: columns of the accounts. */
import type { Allotment, LedgerLots, LotState } from '../index.ts'
import type { Dialect, Sql, TableRow } from './sql.ts'

/** What `accounts` has for it: the sum of all credits, and what `Allotment` says. */
export function lotColumns({ types: { integer, int, text, real } }: Dialect): string {
  return `credited ${integer} NOT NULL DEFAULT 0, lots ${text}, lots_version ${int} NOT NULL DEFAULT 0, lots_due ${real}`
}

type Mark = (name: string) => string

/** Stores an allotment, unless it was changed. `mark`: how the statement names its values, in the order of `allotmentValues`. */
export function allotting(mark: Mark = () => '?'): string {
  return `UPDATE @.accounts SET lots = ${mark('lots')}, lots_due = ${mark('due')}, lots_version = ${mark('next')}
    WHERE id = ${mark('account')} AND lots_version = ${mark('was')}`
}

export function allotmentValues(account: string, { lots, due, was }: Allotment): (string | number | null)[] {
  return [lots, due ?? null, was + 1, account, was]
}

/** The row of `lotStateOf`. */
export function readingLots(mark: Mark = () => '?'): string {
  return `SELECT a.balance, a.credited, a.lots, a.lots_version,
    (SELECT coalesce(sum(h.amount), 0) FROM @.holds h WHERE h.account = a.id) AS held
    FROM @.accounts a WHERE a.id = ${mark('account')}`
}

export function lotStateOf(row: TableRow): LotState {
  const number = (name: string) => BigInt(row[name] as bigint | string)
  const [balance, held, lots] = [number('balance'), number('held'), row['lots'] as string | null]
  const settled = number('credited') - balance - held
  return { balance, held, settled, version: Number(row['lots_version']), ...(lots !== null && { lots }) }
}

const named: Mark = (name) => `:${name}`

export function sqlLots({ all, run }: Sql): LedgerLots {
  return {
    read: async (account) => (await all(readingLots(named), { account })).map(lotStateOf)[0],
    async write(account, { was, due, lots }) {
      return (await run(allotting(named), { account, was, next: was + 1, due, lots })) === 1
    },
    async due(before, limit) {
      const text = 'SELECT id FROM @.accounts WHERE lots_due <= :before ORDER BY lots_due LIMIT :most'
      return (await all(text, { before, most: limit })).map(({ id }) => id as string)
    },
  }
}
