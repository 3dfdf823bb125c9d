import { describe } from 'vitest'
import type { LimitClaim, LimitStore, LimitVerdict } from '../../src/limits/contract.ts'
import { memoryLimitStore } from '../../src/limits/memory.ts'
import { testLimitStore } from '../../src/testing/limit-store.ts'
import { plant, turn, type Fault } from './faults.ts'

let now = 0
const wait = (ms: number) => void (now += ms)
const good = () => memoryLimitStore({ now: () => now })

/** What a claim would find, without drawing or holding anything. */
async function look(store: LimitStore, claim: LimitClaim): Promise<boolean> {
  const verdict = await store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, cost: 0 })), places: [] })
  return claim.rates.every((rule, index) => (verdict.left[index] ?? 0) >= rule.cost)
}

const faults: Fault<LimitStore>[] = [
  [
    'take looks, waits and then draws',
    (store) => ({
      async take(claim) {
        const enough = await look(store, claim)
        await turn()
        if (!enough) return store.take(claim)
        await store.give({ id: claim.id, places: [], corrections: claim.rates })
        const verdict = await store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, cost: -1e9 })) })
        await store.give({ id: claim.id, places: [], corrections: claim.rates })
        return { ...verdict, admitted: true }
      },
    }),
    'admits exactly as many as there is room for',
  ],
  [
    'take admits one too many',
    (store) => ({
      take: (claim) => store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, burst: rule.burst + 1 })) }),
    }),
    'draws from a bucket until it is empty',
  ],
  [
    'take costs one, whatever the call costs',
    (store) => ({
      take: (claim) =>
        store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, cost: Math.min(rule.cost, 1) })) }),
    }),
    'draws what a call costs',
  ],
  [
    'take draws rule by rule until one refuses',
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
    'takes all of a claim or nothing of it',
  ],
  [
    'take holds the places of a claim whose units are refused',
    (store) => ({
      async take(claim) {
        const places = await store.take({ ...claim, rates: [] })
        const units = await store.take({ ...claim, places: [] })
        return { admitted: places.admitted && units.admitted, left: units.left, free: places.free }
      },
    }),
    'takes a place and units together or neither',
  ],
  [
    'buckets are windows that begin anew',
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
    'refills evenly',
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
    'refills evenly, up to the burst and no further',
  ],
  [
    'time is the clock of the process',
    () => {
      const store = memoryLimitStore({ now: () => Date.now() })
      return {
        take: (claim) => store.take(claim),
        give: (returned) => store.give(returned),
        renew: (...input) => store.renew(...input),
      }
    },
    'has time of its own',
  ],
  [
    'names are compared without their case',
    (store) => ({
      take: (claim) =>
        store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, bucket: rule.bucket.toLowerCase() })) }),
    }),
    'keeps buckets apart that look alike',
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
    'lets a changed limit take effect',
  ],
  [
    'units are kept with single precision',
    (store) => ({
      take: (claim) =>
        store.take({ ...claim, rates: claim.rates.map((rule) => ({ ...rule, cost: Math.fround(rule.cost) })) }),
    }),
    'counts large limits to the unit',
  ],
  [
    'a call that asks twice holds two places',
    (store) => {
      let asked = 0
      return { take: (claim) => store.take({ ...claim, id: `${claim.id} ${++asked}` }) }
    },
    'gives a call its place once',
  ],
  [
    'anybody may give back a place',
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
    'frees a place that is given back, and no other',
  ],
  [
    'places have no lease',
    (store) => ({ take: (claim) => store.take({ ...claim, leaseMs: 1e12 }) }),
    'frees the place of a call whose lease has run out',
  ],
  ['renew does nothing', () => ({ renew: () => undefined }), 'keeps a place that is renewed'],
  [
    'renew takes a place that was lost',
    (store) => ({
      async renew(holders, leaseMs) {
        await store.renew(holders, leaseMs)
        for (const { id, places } of holders) {
          await store.take({ id, rates: [], places: places.map((bucket) => ({ bucket, places: 1 })), leaseMs })
        }
      },
    }),
    'gives back none that was lost',
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
    'below zero if need be',
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
    'never more than the burst',
  ],
  [
    'corrections are forgotten',
    (store) => ({ give: (returned) => store.give({ ...returned, corrections: [] }) }),
    'gives back what was not used',
  ],
  [
    'places are counted by one process alone',
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
    'gives exactly as many places as there are',
  ],
]

describe('the suite of the limit store finds that', () => {
  plant((run, factory) => testLimitStore(run, factory, { wait }), good, faults)
})
