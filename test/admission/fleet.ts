/** Processes of gateways on one database. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { createGateway, type Gateway } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import { vendorFor } from '../hosted.ts'
import type { PooledDatabase } from '../pooled-databases.ts'
import { whole } from './scene.ts'
import { storeTimeouts } from '../patience.ts'

/** The micro-units that a call holds. It costs 30. */
export const most: number = 176

/** No slice is drawn shortly before the end of a period: this one seldom ends. */
function monthly(money: string) {
  return { name: 'month', period: 'month', money } as const
}

/** The processes, a call through one of them, and the state of the account. `cap`: the most that it may spend in a month. */
export async function fleet(
  connect: () => PooledDatabase,
  journalMs: number,
  {
    concurrent = 100,
    processes = 2,
    durability = 'relaxed',
    cap,
  }: { concurrent?: number; processes?: number; durability?: 'full' | 'relaxed'; cap?: string } = {},
) {
  const vendor = await vendorFor(whole)
  const { open: storage, clear } = connect()
  const gateways = Array.from({ length: processes }, () =>
    createGateway({
      keys: { 'sk-test': { account: 'acme' } },
      groups: { default: { models: '*', rate: { concurrent }, ...(cap !== undefined && { caps: [monthly(cap)] }) } },
      models: { m: { provider: openai({ baseURL: vendor.baseURL }), price: { input: '1', output: '1' } } },
      billing: { currency: 'EUR', minimumTopUp: '0.000001', journalMs, durability },
      timeouts: storeTimeouts,
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
    const { balance = 0n, held = 0n } = (await ledger.account('acme')) ?? {}
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
  /**
   * 24 callers at once spend `funds`, or as much of them as `limit`, through all processes: every call that these suffice for is
   * served, and none more.
   */
  const spend = async (funds: number, limit: number = funds) => {
    await fund(funds)
    let served = 0
    const caller = async (index: number) => {
      for (let refused = 0; refused < 2;) {
        const status = await call(gateways[index % gateways.length] as Gateway)
        expect([200, 429]).toContain(status)
        if (status === 200) served++
        else refused++
      }
    }
    await Promise.all(Array.from({ length: 24 }, (_, index) => caller(index)))
    // Callers have given up while others were served. Now each call that could be paid is alone.
    while ((await call(gateways[served % gateways.length] as Gateway)) === 200) served++
    await Promise.all(gateways.map((gateway) => gateway.close()))
    const { balance, held } = await account()
    expect({ balance, held }).toEqual({ balance: funds - 30 * served, held: 0 })
    expect(limit - 30 * served).toBeGreaterThanOrEqual(0)
    expect(limit - 30 * served).toBeLessThan(most)
  }
  return { gateways, fund, account, call, spend }
}
