/** Processes of gateways on one database. */
import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { createGateway, type Gateway, type StorageBundle } from '../../src/index.ts'
import { postgres } from '../../adapters/stores/postgres/postgres.ts'
import { mysql } from '../../adapters/stores/mysql/mysql.ts'
import { openai } from '../../src/providers/index.ts'
import { vendorFor } from '../hosted.ts'
import { dropTables, hasMysql, hasPostgres, mysqlPool, ownName, postgresPool } from '../servers.ts'
import { whole } from './scene.ts'

export interface Database {
  readonly open: () => StorageBundle
  readonly clear: () => Promise<void>
}

export const databases: readonly [string, boolean, () => Database][] = [
  [
    'Postgres',
    hasPostgres,
    () => {
      const [pool, schema] = [postgresPool(8), ownName()]
      return {
        open: () => postgres(pool, { schema }),
        clear: async () => {
          await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
          await pool.end()
        },
      }
    },
  ],
  [
    'MySQL',
    hasMysql,
    () => {
      const [pool, prefix] = [mysqlPool(8), ownName()]
      return {
        open: () => mysql(pool, { prefix }),
        clear: async () => {
          await dropTables(pool, prefix)
          await pool.end()
        },
      }
    },
  ],
]

/** The micro-units that a call holds. It costs 30. */
export const most: number = 176

/** The processes, a call through one of them, and the state of the account. */
export async function fleet(open: () => Database, journalMs: number, { concurrent = 100, processes = 2 } = {}) {
  const vendor = await vendorFor(whole)
  const { open: storage, clear } = open()
  const gateways = Array.from({ length: processes }, () =>
    createGateway({
      keys: { 'sk-test': { account: 'acme' } },
      groups: { default: { models: '*', rate: { concurrent } } },
      models: { m: { provider: openai({ baseURL: vendor.baseURL }), price: { input: '1', output: '1' } } },
      billing: { currency: 'EUR', minimumTopUp: '0.000001', journalMs },
      timeouts: { storeMs: 20_000 },
      storage: storage(),
    }),
  ) as [Gateway, Gateway, ...Gateway[]]
  onTestFinished(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()))
    await clear()
  })
  const { accounts } = gateways[0].admin
  const fund = (micros: number) =>
    accounts.adjust({ account: 'acme', amount: (micros / 1e6).toFixed(6), reference: randomUUID() })
  const { ledger } = storage()
  const account = async () => {
    const { balance = 0n, held = 0n } = (await ledger?.account('acme')) ?? {}
    return { balance: Number(balance), held: Number(held) }
  }
  const call = async (gateway: Gateway) => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 }
    const { status } = await gateway.handle({
      method: 'POST',
      target: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: { state: 'text', text: JSON.stringify(body) },
      signal: new AbortController().signal,
    })
    return status
  }
  return { gateways, fund, account, call }
}
