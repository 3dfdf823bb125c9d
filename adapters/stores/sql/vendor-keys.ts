/** Accounts' own keys at vendors, sealed. */
import type { VendorKeyRecord, VendorKeyStore } from '../index.ts'
import { recordTable } from './record-table.ts'
import { columnOf, type Dialect, type Sql } from './sql.ts'

const { columns, definitions, inserting, recordOf } = recordTable<VendorKeyRecord>({
  account: 'name',
  provider: 'name',
  sealed: 'text',
  hint: 'name',
  createdAt: 'real',
  by: 'name?',
})

export function vendorKeysTables(dialect: Dialect): string {
  const { types, table, keyed } = dialect
  return `
    CREATE TABLE @.vendor_keys (${definitions(dialect)}, PRIMARY KEY (account, provider)) ${table};
    CREATE TABLE @.vendor_key_changes (
      id ${types.int} PRIMARY KEY,
      number ${types.integer} NOT NULL
    ) ${keyed};`
}

export function sqlVendorKeys({ dialect, all, many, run, batch }: Sql): VendorKeyStore {
  const read = 'SELECT * FROM @.vendor_keys'
  const order = 'ORDER BY account, provider LIMIT :limit'
  // The only row says how often keys have changed: in the same transaction, so that no reader sees one without the other.
  const counting = dialect.adding('vendor_key_changes', ['id'], ['number'], 'VALUES (1, 1)')
  const replaced = columns.slice(2).map(([name]) => columnOf(name))
  const putting = `${inserting('vendor_keys')} ${dialect.replacing('account, provider', replaced)}`
  return {
    put: (record) => batch([putting, counting], { ...record }),
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
