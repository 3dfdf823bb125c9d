/** Notices of alerts: what settlements have recorded, until it is delivered, and for `noticeMs`. */
import { noticeMs, pageOf, readNumberCursor, type LedgerCaps, type Notice, type Sweep } from '../index.ts'
import { where, type Dialect, type Sql, type TableRow } from './sql.ts'
import { sweepOf } from './sweep.ts'

/** Number of notices that are deleted at once. */
const batch = 100

type Methods = Required<Pick<LedgerCaps, 'claimNotices' | 'endNotice' | 'listNotices' | 'deleteNotices'>>

export function noticesTable({
  types: { numbered, name, integer, real, int, text },
  table,
  index,
  now,
}: Dialect): string {
  return `
    CREATE TABLE @.notices (
      number ${numbered},
      id ${name} NOT NULL UNIQUE,
      notice ${text} NOT NULL,
      settlement ${name} NOT NULL,
      account ${name} NOT NULL,
      value ${integer} NOT NULL,
      ends ${real} NOT NULL DEFAULT ${now},
      attempts ${int} NOT NULL DEFAULT 0,
      due ${real} DEFAULT ${now}
    ) ${table};
    CREATE INDEX ${index}notices_due ON @.notices (due) WHERE due IS NOT NULL;
    CREATE INDEX ${index}notices_ends ON @.notices (ends);
    -- The notices of an account, in the order in which they are listed.
    CREATE INDEX ${index}notices_of ON @.notices (account, number);`
}

export function sqlNotices({ dialect, many, run, change }: Sql): Methods {
  const { now, some } = dialect
  const due = some('notices', `due <= ${now} ORDER BY due LIMIT :limit`, { skips: true })
  const own = some('notices', `account = :account LIMIT ${batch}`)
  return {
    async claimNotices(limit, leaseMs) {
      const set = `due = ${now} + :leaseMs, attempts = attempts + 1`
      const taken = await change('notices', set, due, { key: 'number', limit, leaseMs })
      return taken.toSorted((left, right) => Number(left['number']) - Number(right['number'])).map(noticeOf)
    },
    endNotice: async (id, retryMs) =>
      void (await run(`UPDATE @.notices SET due = ${now} + :retryMs WHERE id = :id`, { id, retryMs })),
    async listNotices({ account, limit = 100, after }) {
      const number = after === undefined ? undefined : readNumberCursor(after)
      const filter = where([account !== undefined && 'account = :account', after !== undefined && 'number < :number'])
      const text = `SELECT * FROM @.notices ${filter} ORDER BY number DESC LIMIT :most`
      const rows = await many(text, { account, number, most: limit + 1 })
      const { items, ...rest } = pageOf(rows, limit, (last) => String(last['number']))
      return { ...rest, items: items.map(noticeOf) }
    },
    deleteNotices: async (account) => (await run(`DELETE FROM @.notices WHERE ${own}`, { account })) === batch,
  }
}

export function noticeSweep(sql: Sql): Sweep {
  return sweepOf(sql, 'notices', noticeMs)
}

function noticeOf(row: TableRow): Notice {
  return {
    id: row['id'] as string,
    notice: row['notice'] as string,
    settlement: row['settlement'] as string,
    account: row['account'] as string,
    value: BigInt(row['value'] as bigint | string),
    at: Math.floor(Number(row['ends'])),
    attempts: Number(row['attempts']),
  }
}
