/** Several processes share one store. `npm run test:long` runs the long form. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../adapters/stores/postgres/postgres.ts'
import { memoryLedger, type Ledger } from '../../src/index.ts'
import { fresh } from '../../src/testing/kit.ts'
import { long } from '../long.ts'
import { hasMysql, hasPostgres, hasRedis, ownName } from '../servers.ts'
import { openBundle, type Opened, type Place } from '../bundles.ts'
import type { Drawn } from './worker.ts'
import { places as slicedPlaces, slicedCap, slicedClaim } from './slice-spender.ts'
import { Worker } from './workers.ts'

const rounds = long ? 200 : 1
const kills = long ? 20 : 1
const sliceKills = long ? 100 : 1
const drawMs = long ? 5_000 : 500
/** The resolution of each store's clock, in milliseconds. */
const coarseMs = { SQLite: 1, Postgres: 0, MySQL: 0, Redis: 0 }
const spenders = 500

const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
afterAll(() => rmSync(folder, { recursive: true }))

const places: [Place, boolean][] = [
  [{ kind: 'SQLite', name: join(folder, 'shared.db') }, true],
  [{ kind: 'Postgres', name: ownName() }, hasPostgres],
  [{ kind: 'MySQL', name: ownName() }, hasMysql],
  [{ kind: 'Redis', name: ownName() }, hasRedis],
]

/** A balance and a cost, where the balance is rarely a multiple of the cost. */
function prices(round: number): { balance: bigint; cost: bigint; admitted: number } {
  const cost = BigInt(7 + ((round * 31) % 97))
  const balance = cost * BigInt(50 + ((round * 53) % 400)) + BigInt(round % Number(cost))
  return { balance, cost, admitted: Number(balance / cost) }
}

async function funded(ledger: Ledger, amount: bigint): Promise<string> {
  const account = fresh('account')
  await ledger.credit({ account, amount, reference: fresh('r') })
  return account
}

describe.each(places)('$kind, shared by processes', (place, there) => {
  let opened: Opened
  let workers: Worker[] = []
  beforeAll(async () => {
    if (!there) return
    opened = await openBundle(place)
    await opened.storage.ledger.audit()
    // Their clocks are ten minutes slow, correct, and ten minutes fast.
    workers = await Promise.all([-600_000, 0, 600_000].map(async (clockMs) => Worker.start(place, clockMs)))
  })
  afterAll(async () => {
    if (!there) return
    await Promise.all(workers.map(async (worker) => worker.end()))
    await opened.clear()
    await opened.close()
  })

  test.skipIf(!there)(
    `${spenders} concurrent holds of two processes are granted exactly up to the balance, ${rounds} times`,
    { timeout: 600_000 },
    async () => {
      const { ledger } = opened.storage
      for (let round = 0; round < rounds; round++) {
        const { balance, cost, admitted } = prices(round)
        const account = await funded(ledger, balance)
        const work = { do: 'hold', round: String(round), account, spenders: spenders / 2, cost: String(cost) } as const
        const held = await Promise.all(workers.slice(0, 2).map(async (worker) => worker.ask<number>(work)))
        expect((held[0] ?? 0) + (held[1] ?? 0)).toBe(admitted)
        const left = balance - BigInt(admitted) * cost
        expect(await ledger.account(account)).toMatchObject({ balance: left, held: balance - left })
      }
      expect((await ledger.audit()).faults).toEqual([])
    },
  )

  test.skipIf(!there)(
    'a limit is never exceeded in any time span and fully usable, though the clocks differ by twenty minutes',
    { timeout: 60_000 },
    async () => {
      const [limit, burst] = [80, 80]
      // Each of its draws waits for the disk.
      const ms = place.kind === 'MySQL' ? 5_000 : drawMs
      const work = { do: 'draw', bucket: fresh('bucket'), limit, burst, ms } as const
      const drawn = await Promise.all(workers.map(async (worker) => worker.ask<Drawn>(work)))
      const times = drawn.flatMap((each) => each.times)
      const begun = Math.min(...times.map(([from]) => from))
      const ended = Math.max(...times.map(([, to]) => to))
      // A unit requested after one moment and granted before another was drawn between the two.
      const froms = times.map(([from]) => from).sort((left, right) => left - right)
      for (const from of froms) {
        const inside = times
          .filter((each) => each[0] >= from)
          .map(([, to]) => to)
          .sort((left, right) => left - right)
        inside.forEach((to, index) => {
          if (index + 1 > burst + (limit * (to - from + coarseMs[place.kind])) / 1_000 + 1e-6) {
            throw new Error(`${index + 1} units within ${to - from} ms`)
          }
        })
      }
      const allowed = burst + (limit * (ended - begun)) / 1_000
      expect(times.length / allowed).toBeGreaterThan(long ? 0.99 : 0.8)
    },
  )

  test.skipIf(!there || place.kind === 'SQLite')(
    `the books stay balanced when processes with slices are killed, ${sliceKills} times`,
    { timeout: 600_000 },
    async () => {
      const { ledger, limits } = opened.storage
      const leaseMs = 1_000
      const accounts = await Promise.all(Array.from({ length: 3 }, async () => funded(ledger, 10_000_000n)))
      const accountsNow = async () => Promise.all(accounts.map(async (account) => ledger.account(account)))
      const capsNow = async () => (await ledger.caps?.read(accounts.map(slicedCap))) ?? []
      const before = await ledger.audit()
      let settled = before.settlements
      let out = 0
      for (let killed = 0; killed < sliceKills; killed++) {
        const victim = await Worker.start(place)
        await victim.begin({ do: 'spendSliced', accounts, leaseMs })
        await new Promise((resolve) => setTimeout(resolve, (killed * 37) % 180))
        await victim.kill()
        if ((await accountsNow()).some((each) => (each?.ahead ?? 0n) > 0n)) out++
        const { faults, credits, balances, holds, settlements } = await ledger.audit()
        expect(faults).toEqual([])
        expect(credits).toBe(before.credits)
        expect(credits).toBe(balances + holds + settlements)
        expect(settlements).toBeGreaterThan(settled)
        settled = settlements
        // A database may still be carrying out the last statements of the process.
        const differences = async () => {
          const spent = (await ledger.audit()).settlements - before.settlements
          return (await capsNow()).reduce((left, each) => left - each.settled.money, spent)
        }
        await expect.poll(differences).toBe(0n)
      }
      expect(out).toBeGreaterThanOrEqual(Math.floor(sliceKills / 4))
      // Slices, holds and places go back with their leases.
      await expect.poll(async () => (await accountsNow()).map((each) => each?.held)).toEqual(accounts.map(() => 0n))
      const nothing = { money: 0n, tokens: 0n, calls: 0n }
      expect((await capsNow()).map(({ held }) => held)).toEqual(accounts.map(() => nothing))
      const freeOf = async (account: string) => {
        const claim = slicedClaim(account, fresh('look'), leaseMs)
        const { free } = await limits.take({ ...claim, rates: [] })
        await limits.give({ id: claim.id, places: claim.places.map(({ bucket }) => bucket), corrections: [] })
        return free
      }
      await expect
        .poll(async () => Promise.all(accounts.map(freeOf)), { timeout: 5_000 })
        .toEqual(accounts.map(() => [slicedPlaces - 1]))
      expect((await ledger.audit()).faults).toEqual([])
    },
  )

  test.skipIf(!there)(
    `the books stay balanced when processes are killed, ${kills} times`,
    { timeout: 120_000 },
    async () => {
      const { ledger } = opened.storage
      const leaseMs = 400
      const accounts = await Promise.all(Array.from({ length: 8 }, async () => funded(ledger, 100_000n)))
      const before = await ledger.audit()
      for (let killed = 0; killed < kills; killed++) {
        const victim = await Worker.start(place)
        await victim.begin({ do: 'spend', accounts, leaseMs })
        await new Promise((resolve) => setTimeout(resolve, 20 + ((killed * 37) % 80)))
        await victim.kill()
        const { faults, credits, balances, holds, settlements } = await ledger.audit()
        expect(faults).toEqual([])
        expect(credits).toBe(before.credits)
        expect(credits).toBe(balances + holds + settlements)
        expect(settlements).toBeGreaterThan(before.settlements)
      }
      // Their holds return to the balance when the leases expire.
      const heldOf = async () => Promise.all(accounts.map(async (account) => (await ledger.account(account))?.held))
      await expect.poll(heldOf).toEqual(accounts.map(() => 0n))
      expect((await ledger.audit()).faults).toEqual([])
    },
  )
})

describe('in one process', () => {
  test.each(long ? ['memory', 'PGlite'] : ['memory'])(
    `${spenders} concurrent holds are granted exactly up to the balance: %s`,
    { timeout: 600_000 },
    async (kind) => {
      const database = kind === 'PGlite' ? await PGlite.create() : undefined
      const ledger = database === undefined ? memoryLedger() : postgres(database).ledger
      for (let round = 0; round < rounds; round++) {
        const { balance, cost, admitted } = prices(round)
        const account = await funded(ledger, balance)
        const holds = Array.from({ length: spenders }, async () =>
          ledger.hold({ id: fresh('h'), account, amount: cost, leaseMs: 600_000 }),
        )
        const held = (await Promise.all(holds)).filter(({ outcome }) => outcome === 'held')
        expect(held).toHaveLength(admitted)
      }
      expect((await ledger.audit()).faults).toEqual([])
      await database?.close()
    },
  )
})
