/** Processes that share caps. `npm run test:long` runs the long form. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGateway, type Ledger } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import { fresh } from '../../src/testing/kit.ts'
import { openBundle, type Opened, type Place } from '../bundles.ts'
import { askChat, hosted, vendorFor } from '../hosted.ts'
import { whole } from '../admission/scene.ts'
import { long } from '../long.ts'
import { hasMysql, hasPostgres, hasRedis, ownName } from '../servers.ts'
import { claimsOf, type CapSpent, type SharedCap } from './cap-spenders.ts'
import { Worker } from './workers.ts'

const rounds = long ? 20 : 1
const kills = long ? 20 : 2
const spenders = 500

const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
afterAll(() => rmSync(folder, { recursive: true }))

const places: [Place, boolean][] = [
  [{ kind: 'SQLite', name: join(folder, 'caps.db') }, true],
  [{ kind: 'Postgres', name: ownName() }, hasPostgres],
  [{ kind: 'MySQL', name: ownName() }, hasMysql],
  [{ kind: 'Redis', name: ownName() }, hasRedis],
]

/** The ledger of a store that must have caps. */
type Capped = Ledger & Required<Pick<Ledger, 'caps'>>

/** Three caps of which each can be the tightest. */
function threeCaps(round: number): SharedCap[] {
  return [
    { name: fresh('money'), measure: 'money', limit: String(2_000 + ((round * 377) % 2_000)) },
    { name: fresh('tokens'), measure: 'tokens', limit: String(1_200 + ((round * 211) % 1_500)) },
    { name: fresh('calls'), measure: 'calls', limit: String(250 + ((round * 97) % 200)) },
  ]
}

describe.each(places)('$kind, shared by two processes', (place, there) => {
  let opened: Opened
  let workers: Worker[] = []
  beforeAll(async () => {
    if (!there) return
    opened = await openBundle(place)
    await opened.storage.ledger.audit()
    workers = await Promise.all([Worker.start(place), Worker.start(place)])
  })
  afterAll(async () => {
    if (!there) return
    await Promise.all(workers.map(async (worker) => worker.end()))
    await opened.clear()
    await opened.close()
  })

  async function accountsOf(count: number): Promise<string[]> {
    const { ledger } = opened.storage
    const accounts = Array.from({ length: count }, () => fresh('account'))
    for (const account of accounts) await ledger.credit({ account, amount: 10_000_000n, reference: fresh('r') })
    return accounts
  }

  test.skipIf(!there)(
    `${spenders} spenders never pass one of three caps, and use up one, ${rounds} times`,
    { timeout: 600_000 },
    async () => {
      const ledger = opened.storage.ledger as Capped
      const accounts = await accountsOf(7)
      for (let round = 0; round < rounds; round++) {
        const caps = threeCaps(round)
        const work = { do: 'spendCapped', round: String(round), accounts, caps, leaseMs: 600_000 } as const
        const spent = await Promise.all(
          workers.map(async (worker) => worker.ask<CapSpent>({ ...work, spenders: spenders / 2, times: 3 })),
        )
        const sum = (part: 'money' | 'tokens' | 'calls') =>
          spent.reduce((total, each) => total + BigInt(each[part]), 0n)
        const used = { money: sum('money'), tokens: sum('tokens'), calls: sum('calls') }
        const states = await ledger.caps.read(claimsOf(caps))
        for (const { settled, held } of states) {
          expect(settled).toEqual(used)
          expect(held).toEqual({ money: 0n, tokens: 0n, calls: 0n })
        }
        for (const { measure, limit } of caps) expect(used[measure]).toBeLessThanOrEqual(BigInt(limit))
        expect(spent.every(({ held, capped }) => held > 0 && capped > 0)).toBe(true)
      }
      expect((await ledger.audit()).faults).toEqual([])
    },
  )

  test.skipIf(!there)(
    `books and caps agree when processes are killed, ${kills} times`,
    { timeout: 300_000 },
    async () => {
      const ledger = opened.storage.ledger as Capped
      const accounts = await accountsOf(4)
      const caps = threeCaps(0).map((cap) => ({ ...cap, limit: '900000000' }))
      const before = (await ledger.audit()).settlements
      for (let killed = 0; killed < kills; killed++) {
        const victim = await Worker.start(place)
        await victim.begin({ do: 'spendCappedOn', accounts, caps, leaseMs: 400 })
        await new Promise((resolve) => setTimeout(resolve, 20 + ((killed * 37) % 80)))
        await victim.kill()
        const { faults, credits, balances, holds, settlements } = await ledger.audit()
        expect(faults).toEqual([])
        expect(credits).toBe(balances + holds + settlements)
        // A database may still be carrying out the last statements of the process.
        const differences = async () => {
          const spent = (await ledger.audit()).settlements - before
          return (await ledger.caps.read(claimsOf(caps))).map(({ settled }) => settled.money - spent)
        }
        await expect.poll(differences).toEqual([0n, 0n, 0n])
      }
      // What the killed processes held no longer counts once their leases have expired.
      const heldNow = async () => (await ledger.caps.read(claimsOf(caps))).map(({ held }) => held)
      await expect.poll(heldNow).toEqual(caps.map(() => ({ money: 0n, tokens: 0n, calls: 0n })))
      expect((await ledger.audit()).faults).toEqual([])
    },
  )

  test.skipIf(!there)('200 parallel callers of two gateways never pass a cap', { timeout: 120_000 }, async () => {
    const [account = ''] = await accountsOf(1)
    const vendor = await vendorFor(whole)
    const caps = [{ name: 'monthly', period: 'month', calls: 60 } as const]
    const other = await openBundle(place)
    const urls = await Promise.all(
      [opened.storage, other.storage].map(({ ledger, admission, limits }) =>
        hosted(
          createGateway({
            keys: { 'sk-test': { account, caps } },
            models: { m: { provider: openai({ baseURL: vendor.baseURL }), price: { input: '1', output: '1' } } },
            billing: { currency: 'EUR' },
            timeouts: { storeMs: 30_000 },
            groups: { default: { models: '*', rate: { requests: '1000000/min' } } },
            storage: { ledger, limits, admission },
          }),
        ),
      ),
    )
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const answer = await askChat(urls[index % 2] as string, { max_tokens: 20 })
        await answer.text()
        return answer.status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(140)
    expect(vendor.requests).toHaveLength(60)
  })
})
