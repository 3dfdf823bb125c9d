/** Accounts' own keys at vendors, sealed. */
import type { VendorKeyRecord, VendorKeyStore } from '../index.ts'
import type { Dialect, Sql, TableRow } from './sql.ts'

export function vendorKeysTables({ types: { name, real, integer, int, text }, table, keyed }: Dialect): string {
  return `
    CREATE TABLE @.vendor_keys (
      account ${name} NOT NULL,
      provider ${name} NOT NULL,
      sealed ${text} NOT NULL,
      hint ${name} NOT NULL,
      created_at ${real} NOT NULL,
      created_by ${name},
      PRIMARY KEY (account, provider)
    ) ${table};
    CREATE TABLE @.vendor_key_changes (
      id ${int} PRIMARY KEY,
      number ${integer} NOT NULL
    ) ${keyed};`
}

const columns = ['sealed', 'hint', 'created_at', 'created_by'] as const

export function sqlVendorKeys({ dialect, all, many, run, batch }: Sql): VendorKeyStore {
  const read = `SELECT account, provider, ${columns.join(', ')} FROM @.vendor_keys`
  const order = 'ORDER BY account, provider LIMIT :limit'
  // The only row says how often keys have changed: in the same transaction, so that no reader sees one without the other.
  const counting = dialect.adding('vendor_key_changes', ['id'], ['number'], 'VALUES (1, 1)')
  const putting = `INSERT INTO @.vendor_keys (account, provider, ${columns.join(', ')})
    VALUES (:account, :provider, :sealed, :hint, :createdAt, :by) ${dialect.replacing('account, provider', columns)}`
  return {
    put: (record) => batch([putting, counting], { by: null, ...record }),
    reseal: async (record, before) =>
      (await run(
        `UPDATE @.vendor_keys SET sealed = :sealed WHERE account = :account AND provider = :provider AND sealed = :before`,
        { ...record, before },
      )) > 0,
    list: async (account) => (await all(`${read} WHERE account = :account`, { account })).map(recordOf),
    async page(after, limit) {
      const behind =
        after === undefined ? '' : 'WHERE account >= :account AND (account, provider) > (:account, :provider)'
      return (await many(`${read} ${behind} ${order}`, { ...after, limit })).map(recordOf)
    },
    delete: (name) =>
      batch([`DELETE FROM @.vendor_keys WHERE account = :account AND provider = :provider`, counting], { ...name }),
    deleteAll: (account) => batch([`DELETE FROM @.vendor_keys WHERE account = :account`, counting], { account }),
    async revision() {
      const [row] = await all('SELECT number FROM @.vendor_key_changes WHERE id = 1')
      return String(Number(row?.['number'] ?? 0))
    },
  }
}

function recordOf({ created_at: createdAt, created_by: by, ...texts }: TableRow): VendorKeyRecord {
  const record = { ...texts, createdAt: Number(createdAt), ...(by !== null && { by }) }
  return record as unknown as VendorKeyRecord
}
