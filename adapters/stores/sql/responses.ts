/** Stored responses and conversations, and an index from the items of responses to them. */
import type { ResponseRecord, ResponseStore } from '../index.ts'
import { listIn } from '../unreadable.ts'
import type { Dialect, Sql } from './sql.ts'
import { sweepOf } from './sweep.ts'

export function responsesTables({ types: { name, real, integer, text }, table, keyed, index }: Dialect): string {
  return `
    CREATE TABLE @.responses (
      account ${name} NOT NULL,
      id ${name} NOT NULL,
      ends ${real} NOT NULL,
      items ${text} NOT NULL,
      body ${text} NOT NULL,
      version ${integer},
      PRIMARY KEY (account, id)
    ) ${table};
    CREATE INDEX ${index}responses_ends ON @.responses (ends);
    CREATE TABLE @.response_items (
      account ${name} NOT NULL,
      item ${name} NOT NULL,
      response ${name} NOT NULL,
      PRIMARY KEY (account, item, response)
    ) ${keyed};`
}

/** The response store. Keeps each response for `ageMs` milliseconds. */
export function sqlResponses(sql: Sql, ageMs: number): Required<ResponseStore> {
  const { all, run, insert, batch, part, dialect } = sql
  const { among, each } = dialect
  const sweep = sweepOf(sql, 'responses')
  const kept = `ends > ${dialect.now}`
  const some = dialect.some('responses', `account = :account ORDER BY id LIMIT ${dialect.part}`)
  const adding = `INSERT INTO @.responses (account, id, ends, items, body, version)
    VALUES (:account, :id, ${dialect.now} + :ageMs, :items, :body, :version)`
  const putting = [
    `DELETE FROM @.response_items WHERE account = :account AND response = :id
      AND ${among('item', each('own.items', 'responses', 'own.account = :account AND own.id = :id'))} AND NOT ${among('item', each(':items'))}`,
    `${adding}
      ${dialect.replacing('account, id', ['ends', 'items', 'body', 'version'])}`,
    `INSERT INTO @.response_items (account, item, response) SELECT :account, item, :id
      FROM (${each(':items')}) new WHERE true ${dialect.existing('response')}`,
  ]
  const find = async (text: string, account: string, id: string): Promise<ResponseRecord | undefined> => {
    sweep.use()
    const [row] = await all(text, { account, id })
    if (row === undefined) return undefined
    const { id: own, items, body } = row as Readonly<Record<'id' | 'items' | 'body', string>>
    const version = row['version'] === null ? {} : { version: Number(row['version']) }
    return { account, id: own, items: (listIn(items) ?? []) as string[], body, ...version }
  }
  return {
    put(record) {
      sweep.use()
      return batch(putting, { version: null, ...record, items: JSON.stringify(record.items), ageMs })
    },
    get: (account, id) =>
      find(
        `SELECT id, items, body, version FROM @.responses WHERE account = :account AND id = :id AND ${kept}`,
        account,
        id,
      ),
    replace: async (record) =>
      (record.version === 1 && (await insert(adding, { ...record, items: JSON.stringify(record.items), ageMs }))) ||
      (await run(
        `UPDATE @.responses SET body = :body, version = :version, ends = ${dialect.now} + :ageMs
        WHERE account = :account AND id = :id AND version + 1 = :version AND ${kept}`,
        { ...record, ageMs },
      )) > 0,
    holding: (account, itemId) =>
      find(
        `SELECT id, items, body, version FROM @.response_items i JOIN @.responses r ON r.account = i.account AND r.id = i.response
        WHERE i.account = :account AND i.item = :id AND ${kept} LIMIT 1`,
        account,
        itemId,
      ),
    delete: async (account, id) =>
      (await run(`DELETE FROM @.responses WHERE account = :account AND id = :id AND ${kept}`, { account, id })) > 0,
    deleteAll: (account) => part(`DELETE FROM @.responses WHERE ${some}`, { account }),
    close: () => sweep.close(),
  }
}
