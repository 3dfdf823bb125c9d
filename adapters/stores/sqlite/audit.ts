/** The audit of the ledger. It reads slices of a few milliseconds, between which other calls run. */
import type { SQLInputValue } from 'node:sqlite'
import type { LedgerAudit } from '../index.ts'
import { bigintOf, type Database, type Row } from './database.ts'
import { dialect } from './dialect.ts'

/** How many entries and accounts are read at once. */
const [entriesAtOnce, accountsAtOnce] = [2_000, 100]

const sumOf = (kind: string) => `coalesce(sum(CASE kind WHEN '${kind}' THEN amount END), 0)`
const laterOf = (kind: string) => `(SELECT ${sumOf(kind)} FROM modelhatch_entries WHERE account = a.id AND number > ?)`
const holdsOf = (which: string) =>
  `coalesce((SELECT sum(amount) FROM modelhatch_holds WHERE account = a.id AND ends ${which} ${dialect.now}), 0)`

const entries = `SELECT account, CASE kind WHEN 'credit' THEN amount END AS credits,
  CASE kind WHEN 'settle' THEN -amount END AS settlements FROM modelhatch_entries WHERE number > ? AND number <= ? ORDER BY number`
const accounts = `SELECT a.id, a.balance + ${holdsOf('<=')} AS balance, ${holdsOf('>')} AS held,
  ${laterOf('credit')} AS credits, -${laterOf('settle')} AS settlements FROM modelhatch_accounts a`

/**
 * Adds up the entries up to the last one, and then reads those that were added meanwhile together with the balance of their
 * account. An account that does not agree may have been compacted: it is read again at once.
 */
export async function audit(database: Database): Promise<LedgerAudit> {
  const reading = database.reading()
  const read = async (text: string, ...values: SQLInputValue[]) => {
    await new Promise(setImmediate)
    return reading(() => database.all(text, ...values))
  }
  const last = Number((await read('SELECT max(number) AS last FROM modelhatch_entries'))[0]?.['last'])
  const earlier = new Map<unknown, Sums>()
  for (let from = 0; from < last; from += entriesAtOnce) {
    for (const row of await read(entries, from, Math.min(last, from + entriesAtOnce))) {
      const sums = earlier.get(row['account'])
      if (sums === undefined) earlier.set(row['account'], added(row))
      else add(sums, row)
    }
  }
  const all = { ...none }
  let count = 0
  const faults: LedgerAudit['faults'][number][] = []
  let [after, isLast] = ['', false]
  while (!isLast) {
    const rows = await read(`${accounts} WHERE a.id > ? ORDER BY a.id LIMIT ?`, last, last, after, accountsAtOnce)
    for (const row of rows) {
      const account = (after = row['id'] as string)
      let sums = added(row, earlier.get(account))
      if (faultOf(sums) !== 0n) sums = added((await read(`${accounts} WHERE a.id = ?`, 0, 0, account))[0] ?? row)
      add(all, sums)
      count++
      const fault = faultOf(sums)
      if (fault !== 0n) faults.push({ account, balance: sums.balance, expected: sums.balance - fault })
    }
    isLast = rows.length < accountsAtOnce
  }
  const { credits, balance: balances, held: holds, settlements } = all
  return { accounts: count, credits, balances, holds, settlements, faults }
}

const none = { credits: 0n, settlements: 0n, balance: 0n, held: 0n }
type Sums = typeof none
const names = Object.keys(none) as (keyof Sums)[]

function add(sums: Sums, row: Row): void {
  for (const name of names) sums[name] += bigintOf(row[name])
}

/** The sums of a row, with the earlier entries of its account. */
function added(row: Row, earlier: Sums = none): Sums {
  const sums = { ...earlier }
  add(sums, row)
  return sums
}

/** By how much a balance is too high. */
function faultOf({ credits, settlements, balance, held }: Sums): bigint {
  return balance - (credits - settlements - held)
}
