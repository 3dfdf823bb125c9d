/** A call that is alone in its batch is admitted by a short form of the function for batches: both decide alike. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import type { AdmissionEnd, AdmissionVerdict, Hold, LimitClaim } from '../../../adapters/stores/index.ts'
import { seeded } from '../../../src/testing/random.ts'
import { hasPostgres, ownName, postgresPool } from '../../servers.ts'
import { statementMs } from '../../patience.ts'

const accounts = ['plenty', 'little', 'unlimited', 'unknown']
const rateOf = (bucket: string, cost: number) => ({ bucket, cost, limit: 1, periodMs: 1e12, burst: 40 })

async function opened() {
  const [pool, schema] = [postgresPool(4), ownName()]
  const storage = postgres(pool, { schema, statementMs })
  onTestFinished(async () => {
    await storage.close()
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })
  for (const [account, amount] of [
    ['plenty', 10_000n],
    ['little', 30n],
    ['other', 1_000_000n],
  ] as const)
    await storage.ledger.credit({ account, amount, reference: account })
  await storage.ledger.open({ id: 'unlimited', unlimited: true })
  return storage
}

const otherClaim = (id: string): LimitClaim => ({
  id,
  rates: [],
  places: [{ bucket: 'other', places: 1e6 }],
  leaseMs: 60_000,
})
const otherHold = (id: string): Hold => ({ id, account: 'other', amount: 1n, leaseMs: 60_000 })

/** The same with a call of another account in the same batch. */
async function together<T>(act: () => Promise<T>, other: () => Promise<unknown>): Promise<T> {
  return (await Promise.all([act(), other()]))[0]
}

function madeBy(random: (below: number) => number, ids: string[]) {
  const isRepeated = ids.length > 0 && random(6) === 0
  const id = isRepeated ? (ids[random(ids.length)] as string) : `call ${ids.length}`
  if (!isRepeated) ids.push(id)
  const account = accounts[random(accounts.length)] as string
  const leaseMs = random(5) === 0 ? 1 : 60_000
  const rates = ['a', 'b', 'c'].slice(random(4)).map((bucket) => rateOf(`${account} ${bucket}`, random(12)))
  const places =
    leaseMs === 1 ? [] : ['x', 'y'].slice(random(3)).map((bucket) => ({ bucket: `${account} ${bucket}`, places: 4 }))
  const claim: LimitClaim = { id, rates, places, leaseMs }
  const hold: Hold = { id, account, amount: BigInt(random(20)), leaseMs }
  return { claim, hold }
}

function endOf({ claim, hold }: ReturnType<typeof madeBy>, random: (below: number) => number): AdmissionEnd {
  const { id, account } = hold
  const corrections = claim.rates.map((rate) => ({ ...rate, cost: random(20) - 12 }))
  const returned = { id, places: claim.places.map(({ bucket }) => bucket), corrections }
  return { returned, end: { id, account, ...(random(3) > 0 && { amount: BigInt(random(25)) }) } }
}

function comparable({ limits, hold }: AdmissionVerdict) {
  // Refilled meanwhile.
  return { ...limits, left: limits.left.map(Math.round), hold }
}

describe.skipIf(!hasPostgres)('in Postgres, a call alone', () => {
  test.each([1, 2])('is admitted and ended as in a batch; random calls %i', async (seed) => {
    const random = seeded(seed)
    const below = (most: number) => Math.floor(random() * most)
    const [alone, batched] = await Promise.all([opened(), opened()])
    const ids: string[] = []
    const open: ReturnType<typeof madeBy>[] = []
    const outcomes = new Set<string | undefined>()
    for (let step = 0; step < 150; step++) {
      if (open.length > 0 && below(5) < 2) {
        const end = endOf(open.splice(below(open.length), 1)[0] as (typeof open)[0], below)
        await alone.admission.finish([end])
        await batched.admission.finish([end, { end: { id: `other ${step}`, account: 'other' } }])
      } else {
        const call = madeBy(below, ids)
        const one = await alone.admission.admit(call.claim, call.hold)
        const other = async () => batched.admission.admit(otherClaim(`other ${step}`), otherHold(`other ${step}`))
        const same = await together(async () => batched.admission.admit(call.claim, call.hold), other)
        expect(comparable(one)).toEqual(comparable(same))
        outcomes.add(one.hold?.outcome)
        if (one.hold?.outcome === 'held' && !open.some(({ hold }) => hold.id === call.hold.id)) open.push(call)
        if (call.hold.leaseMs === 1) await pause(3)
      }
    }
    expect(outcomes).toEqual(new Set(['ended', 'held', 'insufficient', undefined]))
    for (const account of accounts)
      expect(balanceOf(await alone.ledger.account(account))).toEqual(balanceOf(await batched.ledger.account(account)))
    expect((await alone.ledger.audit()).faults).toEqual([])
  })
})

function balanceOf(account: { readonly balance: bigint; readonly held: bigint } | undefined) {
  return account && { balance: account.balance, held: account.held }
}
