import { describe } from 'vitest'
import { accountOf } from '../../src/money/limits/bucket.ts'
import type { LimitClaim, LimitStore, LimitVerdict } from '../../src/money/limits/contract.ts'
import { memoryLimitStore } from '../../src/money/limits/memory.ts'
import { testLimitStore } from '../../src/testing/limit-store.ts'
import { plant, turn, type Fault } from './faults.ts'

let now = 0
const wait = (ms: number) => void (now += ms)
const good = () => memoryLimitStore({ clock: () => now })

/** Whether the units of a claim are left, without drawing them. */
async function hasUnits(store: LimitStore, claim: LimitClaim): Promise<boolean> {
  const verdict = await store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, cost: 0 })), places: [] })
  return claim.rates.every((rule, index) => (verdict.left[index] ?? 0) >= rule.cost)
}

const faults: Fault<LimitStore>[] = [
  [
    'take reads, waits and then draws',
    (store) => ({
      async take(claim) {
        const enough = await hasUnits(store, claim)
        await turn()
        if (!enough) return store.take(claim)
        await store.give({ id: claim.id, places: [], corrections: claim.rates })
        const verdict = await store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, cost: -1e9 })) })
        await store.give({ id: claim.id, places: [], corrections: claim.rates })
        return { ...verdict, admitted: true }
      },
    }),
    'admits concurrent claims up to the burst and no further',
  ],
  [
    'take admits one too many',
    (store) => ({
      take: (claim) => store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, burst: rule.burst + 1 })) }),
    }),
    'draws from a bucket until it is empty and reports the units left',
  ],
  [
    'take draws one unit, whatever the cost',
    (store) => ({
      take: (claim) =>
        store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, cost: Math.min(rule.cost, 1) })) }),
    }),
    'draws the cost of each claim and rejects it only if too few units are left',
  ],
  [
    'take draws from each bucket until one rejects',
    (store) => ({
      async take(claim) {
        const verdicts: LimitVerdict[] = []
        for (const rule of claim.rates) {
          const verdict = await store.take({ ...claim, rates: [rule], places: [] })
          verdicts.push(verdict)
          if (!verdict.admitted) break
        }
        const rest = await store.take({ ...claim, rates: [] })
        const admitted = rest.admitted && verdicts.every((verdict) => verdict.admitted)
        return { ...rest, admitted, left: claim.rates.map((_, index) => verdicts[index]?.left[0] ?? 0) }
      },
    }),
    'takes a claim in full or not at all',
  ],
  [
    'take holds the slots of a claim whose units are rejected',
    (store) => ({
      async take(claim) {
        const places = await store.take({ ...claim, rates: [] })
        const units = await store.take({ ...claim, places: [] })
        return { admitted: places.admitted && units.admitted, left: units.left, free: places.free }
      },
    }),
    'takes slots and units together or not at all',
  ],
  [
    'take keeps what it drew for an account if a shared bucket rejects the claim',
    (store) => ({
      async take(claim) {
        const isOwn = ({ bucket }: { readonly bucket: string }) => accountOf(bucket) !== undefined
        const own = { ...claim, rates: claim.rates.filter(isOwn), places: claim.places.filter(isOwn) }
        const whole = await store.take(claim)
        if (!whole.admitted && own.rates.length < claim.rates.length) await store.take(own)
        return whole
      },
    }),
    'takes buckets of an account and shared ones together or not at all',
  ],
  [
    'take admits what the account allows before it counts shared buckets',
    (store) => ({
      async take(claim) {
        const shared = claim.rates.filter(({ bucket }) => accountOf(bucket) === undefined)
        if (shared.length === claim.rates.length) return store.take(claim)
        const { left } = await store.take({ ...claim, rates: shared.map((rule) => ({ ...rule, cost: 0 })) })
        await turn()
        const admitted = shared.every((rule, index) => (left[index] as number) >= rule.cost)
        if (!admitted) return store.take(claim)
        await store.give({ id: claim.id, places: [], corrections: claim.rates })
        return { admitted, left: claim.rates.map(() => 0), free: claim.places.map(() => 0) }
      },
    }),
    'concurrent claims of several accounts on a shared bucket are admitted up to its limit and no further',
  ],
  [
    'buckets are fixed windows',
    (store) => {
      const windows = new Map<string, number>()
      return {
        async take(claim) {
          const rates = claim.rates.map((rule) => {
            const begun = windows.get(rule.bucket) ?? now
            windows.set(rule.bucket, begun)
            return { ...rule, limit: now - begun >= 100 ? 1e9 : 1e-9 }
          })
          return store.take({ ...claim, rates })
        },
      }
    },
    'refills evenly, up to the burst',
  ],
  [
    'buckets fill beyond their burst',
    (store) => ({
      async take(claim) {
        const verdict = await store.take(claim)
        return {
          ...verdict,
          left: verdict.left.map((left, index) => (left === claim.rates[index]?.burst ? left + 1 : left)),
        }
      },
    }),
    'refills evenly, up to the burst',
  ],
  [
    'take uses the clock of the process',
    () => {
      const store = memoryLimitStore({ clock: () => Date.now() })
      return {
        take: (claim) => store.take(claim),
        give: (returned) => store.give(returned),
        renew: (...input) => store.renew(...input),
      }
    },
    'does not use the clock of the process',
  ],
  [
    'a changed limit begins with a full bucket',
    (store) => {
      const bursts = new Map<string, number>()
      return {
        take(claim) {
          const rates = claim.rates.map((rule) => {
            const { bucket, burst } = rule
            if (!bursts.has(bucket)) bursts.set(bucket, burst)
            return bursts.get(bucket) === burst ? rule : { ...rule, bucket: `${bucket} ${burst}` }
          })
          return store.take({ ...claim, rates })
        },
      }
    },
    'applies a changed limit to a bucket already in use',
  ],
  [
    'units are kept with single precision',
    (store) => ({
      take: (claim) =>
        store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, cost: Math.fround(rule.cost) })) }),
    }),
    'large limits are exact to the unit',
  ],
  [
    'a repeated claim holds two slots',
    (store) => {
      let count = 0
      return { take: (claim) => store.take({ ...claim, id: `${claim.id} ${++count}` }) }
    },
    'a repeated claim with the same id holds its slot once',
  ],
  [
    'any claim may free a slot',
    (store) => {
      const holders = new Map<string, string>()
      return {
        async take(claim) {
          const verdict = await store.take(claim)
          if (verdict.admitted) for (const { bucket } of claim.places) holders.set(bucket, claim.id)
          return verdict
        },
        give: (returned) => store.give({ ...returned, id: holders.get(returned.places[0] ?? '') ?? returned.id }),
      }
    },
    'give frees only the slots that the claim holds',
  ],
  [
    'slots have no lease',
    (store) => ({ take: (claim) => store.take({ ...claim, leaseMs: 1e12 }) }),
    'frees a slot when its lease expires',
  ],
  [
    'renew does nothing',
    () => ({ renew: () => undefined }),
    'renew extends held slots but does not restore expired ones',
  ],
  [
    'renew takes an expired slot',
    (store) => ({
      async renew(holders, leaseMs) {
        await store.renew(holders, leaseMs)
        for (const { id, places } of holders) {
          await store.take({ id, rates: [], places: places.map((bucket) => ({ bucket, places: 1 })), leaseMs })
        }
      },
    }),
    'renew extends held slots but does not restore expired ones',
  ],
  [
    'corrections stop at an empty bucket',
    (store) => ({
      async give(returned) {
        const corrections = []
        for (const rule of returned.corrections) {
          const { left } = await store.take({ id: '', rates: [{ ...rule, cost: 0 }], places: [], leaseMs: 1 })
          corrections.push({ ...rule, cost: Math.min(rule.cost, left[0] ?? 0) })
        }
        await store.give({ ...returned, corrections })
      },
    }),
    'a positive correction draws more units, below zero if necessary',
  ],
  [
    'corrections fill a bucket beyond its burst',
    (store) => ({
      async take(claim) {
        const verdict = await store.take(claim)
        return {
          ...verdict,
          left: verdict.left.map((left, index) => (left === claim.rates[index]?.burst ? 107 : left)),
        }
      },
    }),
    'a negative correction returns units, up to the burst',
  ],
  [
    'slots are counted per process',
    (store) => {
      let mine = 0
      return {
        take: (claim) =>
          store.take({
            ...claim,
            places:
              mine++ % 2 === 0 ? claim.places : claim.places.map((rule) => ({ ...rule, places: rule.places + 1 })),
          }),
      }
    },
    'grants concurrent claims exactly as many slots as there are',
  ],
]

describe('the suite of the limit store finds that', () => {
  plant((run, factory) => testLimitStore(run, factory, { wait }), good, faults)
})
