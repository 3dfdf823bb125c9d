/** Keys, by hash. */
import { cursorOf, keySearched, pageOf, readCursor, type KeyRecord, type KeyStore } from '../index.ts'
import type { ChangePoll } from '../change-poll.ts'
import { keyIn } from '../unreadable.ts'
import { where, type Dialect, type Sql, type TableRow } from './sql.ts'

export function keysTable({ types: { name, json, integer, real }, keyed, index }: Dialect): string {
  return `
    CREATE TABLE @.keys (
      id ${name} PRIMARY KEY,
      hash ${name} NOT NULL UNIQUE,
      account ${name} NOT NULL,
      created_at ${real} NOT NULL,
      version ${integer} NOT NULL,
      record ${json} NOT NULL,
      changed ${real} NOT NULL
    ) ${keyed};
    CREATE INDEX ${index}keys_of ON @.keys (account, created_at);
    CREATE INDEX ${index}keys_at ON @.keys (created_at, id);
    CREATE INDEX ${index}keys_changed ON @.keys (changed);`
}

const newest = 'ORDER BY created_at DESC, id DESC'

export function sqlKeys({ dialect, all, many, insert, run }: Sql, changes: ChangePoll): KeyStore {
  const read = `SELECT id, hash, account, created_at, version, CAST(record AS text) AS record FROM @.keys`
  const { now, contains, lower, has, field, types } = dialect
  const expires = `CAST(${field('record', 'expiresAt')} AS ${types.real})`
  const revoked = field('record', 'revokedAt')
  const states = {
    active: `${revoked} IS NULL AND coalesce(${expires} > :now, true)`,
    expired: `${revoked} IS NULL AND ${expires} <= :now`,
    revoked: `${revoked} IS NOT NULL`,
  }
  const texts = keySearched.map((name) => contains(lower(field('record', name)), lower('CAST(:text AS text)')))
  const matching = `(${texts.join(' OR ')})`
  return {
    find: async (hash) => (await all(`${read} WHERE hash = :hash`, { hash })).map((row) => keyOf(row, true))[0],
    insert: (record) =>
      insert(
        `INSERT INTO @.keys (id, hash, account, created_at, version, record, changed)
        VALUES (:id, :hash, :account, :createdAt, :version, :record, ${now})`,
        { ...record, record: textOf(record) },
      ),
    update: async (record) =>
      (await run(
        `UPDATE @.keys SET account = :account, created_at = :createdAt, version = :version, record = :record,
          changed = ${now} WHERE id = :id AND version + 1 = :version`,
        { ...record, record: textOf(record) },
      )) > 0,
    list: async (account) =>
      (await all(`${read} WHERE account = :account ${newest}`, { account })).map((row) => keyOf(row)),
    async search(question) {
      const { account, group, user, tag, text, state, limit = 100, after } = question
      const [at, last] = after === undefined ? [] : readCursor(after, Number.isSafeInteger)
      const filter = where([
        account !== undefined && 'account = :account',
        group !== undefined && `${field('record', 'group')} = :group`,
        user !== undefined && `${field('record', 'user')} = :user`,
        tag !== undefined && has(dialect.list('record', 'tags'), ':tag'),
        state !== undefined && states[state],
        text !== undefined && matching,
        after !== undefined && 'created_at <= :at AND (created_at, id) < (:at, :last)',
      ])
      const rows = await many(`${read} ${filter} ${newest} LIMIT :most`, { ...question, at, last, most: limit + 1 })
      return pageOf(
        rows.map((row) => keyOf(row)),
        limit,
        ({ createdAt, id }) => cursorOf(createdAt, id),
      )
    },
    watch: (changed) => changes.watchKeys(changed),
  }
}

/** A key without its hash, which has its own column and never changes. */
function textOf(record: KeyRecord): string {
  return JSON.stringify({ ...record, hash: undefined })
}

/** `isAlone`: throws if the record cannot be read. */
function keyOf(row: TableRow, isAlone = false): KeyRecord {
  const { id, hash, account } = row as Readonly<Record<'id' | 'hash' | 'account', string>>
  const known = { id, hash, account, createdAt: Number(row['created_at']), version: Number(row['version']) }
  return keyIn(row['record'], known, isAlone)
}
