/** Requests and answers, encrypted, and apart from them the keys that they are encrypted with. */
import {
  cursorOf,
  pageOf,
  readCursor,
  type ContentKey,
  type ContentKeyStore,
  type ContentRecord,
  type ContentStore,
} from '../index.ts'
import { recordTable } from './record-table.ts'
import type { Dialect, Items, Sql, Values } from './sql.ts'

const owner = { id: 'name', account: 'name', user: 'name', day: 'name' } as const
/** The body is the last column, so that the others can be read without it. */
const contents = recordTable<ContentRecord>({ ...owner, key: 'name', session: 'name?', at: 'real', body: 'bytes' })
const sealedKeys = recordTable<ContentKey>({ ...owner, sealed: 'text' })

export function contentTables(dialect: Dialect): string {
  const { table, index } = dialect
  return `
    CREATE TABLE @.content (${contents.definitions(dialect)}, PRIMARY KEY (id)) ${table};
    CREATE INDEX ${index}content_of ON @.content (account, at);
    CREATE INDEX ${index}content_in ON @.content (account, session, at);
    CREATE INDEX ${index}content_by ON @.content (account, "user");
    CREATE INDEX ${index}content_day ON @.content (day);
    CREATE TABLE @.content_keys (${sealedKeys.definitions(dialect)}, PRIMARY KEY (id)) ${table};
    CREATE INDEX ${index}content_keys_by ON @.content_keys (account, "user");
    CREATE INDEX ${index}content_keys_day ON @.content_keys (day);`
}

export function sqlContent(sql: Sql): ContentStore {
  const { all, many, inserting } = sql
  const { columns, recordOf } = contents
  const append = inserting('content', columns)
  return {
    append: (records) => append(records as readonly (ContentRecord & Values)[]),
    get: async (id) => (await all('SELECT * FROM @.content WHERE id = :id', { id })).map(recordOf)[0],
    async list({ account, session, limit = 100, after }) {
      const [at, id] = after === undefined ? [0, ''] : readCursor(after)
      const within = session === undefined ? '' : 'AND session = :session'
      // The index supports only the first condition on the time.
      const behind = after === undefined ? '' : 'AND at >= :at AND (at > :at OR id > :id)'
      const rows = await many(
        `SELECT * FROM @.content WHERE account = :account ${within} ${behind} ORDER BY at, id LIMIT :most`,
        { account, session, at, id, most: limit + 1 },
      )
      return pageOf(rows.map(recordOf), limit, (last) => cursorOf(last.at, last.id))
    },
    ...deleting(sql, 'content'),
  }
}

export function sqlContentKeys(sql: Sql): ContentKeyStore {
  const { many, ofEach, run, inserting } = sql
  const { columns, recordOf } = sealedKeys
  const append = inserting('content_keys', columns)
  const find = async (ids: readonly string[]): Promise<ContentKey[]> =>
    ids.length === 0 ? [] : (await ofEach('SELECT * FROM @.content_keys WHERE id = :id', idsOf(ids), {})).map(recordOf)
  return {
    async claim(keys) {
      // A key that is deleted between the two steps is made again.
      for (let attempt = 0; attempt < 5; attempt++) {
        await append(keys as readonly (ContentKey & Values)[])
        const found = new Map((await find(keys.map(({ id }) => id))).map((key) => [key.id, key]))
        const claimed = keys.map(({ id }) => found.get(id)).filter((key) => key !== undefined)
        if (claimed.length === keys.length) return claimed
      }
      throw new Error('a key of content could neither be inserted nor found')
    },
    find,
    page: async (after = '', limit) =>
      (await many('SELECT * FROM @.content_keys WHERE id > :after ORDER BY id LIMIT :limit', { after, limit })).map(
        recordOf,
      ),
    reseal: async ({ id, sealed }, before) =>
      (await run('UPDATE @.content_keys SET sealed = :sealed WHERE id = :id AND sealed = :before', {
        id,
        sealed,
        before,
      })) > 0,
    ...deleting(sql, 'content_keys'),
  }
}

function idsOf(ids: readonly string[]): Items {
  return { columns: [['id', 'name']], rows: ids.map((id) => ({ id })) }
}

/** What both tables have in common. */
function deleting({ dialect, part, run }: Sql, table: string): Pick<ContentStore, 'erase' | 'removeBefore'> {
  const deleted = (which: string) => `DELETE FROM @.${table} WHERE ${dialect.some(table, which)}`
  const ofAccount = deleted(`account = :account ORDER BY "user" LIMIT ${dialect.part}`)
  const ofUser = deleted(`account = :account AND "user" = :user ORDER BY "user" LIMIT ${dialect.part}`)
  return {
    erase: (account, user) => part(user === undefined ? ofAccount : ofUser, { account, user }),
    removeBefore: (day, most) => run(deleted(`day < :day ORDER BY day LIMIT ${Math.trunc(most)}`), { day }),
  }
}
