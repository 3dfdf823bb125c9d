/** What changes rows of a bundle behind its back. */
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { mysqlPool, postgresPool, redisConnection } from '../../servers.ts'

interface Row {
  readonly table: string
  readonly column: string
  /** Whether the column has a type for JSON, where there is one. */
  readonly isJson?: boolean
  readonly where: string
}

/** Where Redis has the same: the end of the key's name, and the field of a hash or the place in a list. */
type Place = readonly [name: string, field?: string]

/** No JSON. */
export const broken = '{"broken'

export interface Raw {
  readonly run: (text: string) => Promise<unknown>
  /** Makes a value unreadable. */
  readonly damage: (row: Row, place: Place) => Promise<void>
  readonly close: () => unknown
}

/** Statements beside the store. `@` precedes the names of tables. */
export async function rawOf(kind: string, name: string): Promise<Raw> {
  if (kind === 'Redis') {
    const { send, close } = await redisConnection()
    const damage = async (_: Row, [key, field = '']: Place) => {
      const found = (await send('KEYS', `{${name}:*}:${key}`)) as string[]
      expect(found).toHaveLength(1)
      const type = String(await send('TYPE', found[0] as string))
      const words = { string: ['SET'], hash: ['HSET', field], list: ['LSET', field] }[type] ?? []
      await send(words[0] as string, found[0] as string, ...words.slice(1), broken)
    }
    return { run: async () => undefined, damage, close }
  }
  const { send, close } = statementsOf(kind, name)
  const run = async (text: string) => send(text)
  const damage = async ({ table, column, where, isJson }: Row) => {
    const value = isJson === true && kind === 'Postgres' ? '"broken"' : broken
    await run(`UPDATE @${table} SET ${column} = '${value}' WHERE ${where}`)
  }
  return { run, damage, close }
}

function statementsOf(kind: string, name: string): { send: (text: string) => unknown; close: () => unknown } {
  if (kind === 'SQLite') {
    const database = new DatabaseSync(name)
    return { send: (text) => database.exec(text.replace('@', 'modelhatch_')), close: () => database.close() }
  }
  if (kind === 'Postgres') {
    const pool = postgresPool(1)
    return { send: (text) => pool.query(text.replace('@', `${name}.`)), close: () => pool.end() }
  }
  const pool = mysqlPool(1)
  const send = (text: string) => pool.query(text.replace('@', `${name}_`).replaceAll(/"(user|lines)"/g, '`$1`'))
  return { send, close: () => pool.end() }
}
