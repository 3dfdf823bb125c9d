import { expect, test } from 'vitest'
import type { IdempotencyClaim, IdempotencyStart } from '../../adapters/stores/index.ts'
import type { IdempotencyStore } from '../../src/index.ts'
import { memoryIdempotencyStore } from '../../src/index.ts'
import { testIdempotencyStore } from '../../src/testing/index.ts'
import { failuresOf, turn } from './faults.ts'

type Fault = (good: IdempotencyStore, now: () => number) => Partial<IdempotencyStore>

const changedKeys = (change: (claim: IdempotencyClaim) => Partial<IdempotencyClaim>): Fault => {
  return (good) => ({
    begin: (start) => good.begin({ ...start, ...change(start) }),
    finish: (end) => good.finish({ ...end, ...change(end) }),
    forget: (claim) => good.forget({ ...claim, ...change(claim) }),
  })
}

/** Remembers which attempt holds each record, for faults that ignore the attempt. */
const asHolder = (act: (good: IdempotencyStore, holder: Map<string, string>) => Partial<IdempotencyStore>): Fault => {
  return (good) => {
    const holders = new Map<string, string>()
    const begin = async (start: IdempotencyStart) => {
      const verdict = await good.begin(start)
      if (verdict.outcome === 'begun') holders.set(start.account + start.key, start.attempt)
      return verdict
    }
    return { begin, ...act(good, holders) }
  }
}
const holderOf = (holders: Map<string, string>, claim: IdempotencyClaim) => {
  return { attempt: holders.get(claim.account + claim.key) ?? claim.attempt }
}

/** A description of the fault, the methods that have it, and the name of the test that must fail. */
const faults: [string, Fault, string][] = [
  [
    'reads, waits and then begins',
    (good) => ({
      async begin(start) {
        const probe = await good.begin({ ...start, attempt: 'probe' })
        if (probe.outcome !== 'begun') return probe
        await good.forget({ ...start, attempt: 'probe' })
        await turn()
        await good.begin(start)
        return probe
      },
    }),
    'exactly one of many concurrent attempts begins',
  ],
  [
    'treats the body as text',
    (good) => ({
      finish: (end) =>
        good.finish({
          ...end,
          ...(end.answer && { answer: { ...end.answer, body: Buffer.from(Buffer.from(end.answer.body).toString()) } }),
        }),
    }),
    'a stored response is returned byte for byte, through every handle',
  ],
  [
    'loses the headers',
    (good) => ({
      finish: (end) => good.finish({ ...end, ...(end.answer && { answer: { ...end.answer, headers: {} } }) }),
    }),
    'a stored response is returned byte for byte, through every handle',
  ],
  [
    'forgets a record that finishes without a response',
    (good) => ({ finish: (end) => (end.answer === undefined ? good.forget(end) : good.finish(end)) }),
    'an attempt may finish without a response',
  ],
  ['does not forget', () => ({ forget: () => undefined }), 'a forgotten record can begin again'],
  [
    'lets any attempt forget a record',
    asHolder((good, holders) => ({ forget: (claim) => good.forget({ ...claim, ...holderOf(holders, claim) }) })),
    'an attempt cannot finish or forget a record that another attempt holds',
  ],
  [
    'inserts a record that finishes without having begun',
    (good) => ({
      async finish(end) {
        await good.begin({ ...end, digest: 'none', leaseMs: 60_000 })
        await good.finish(end)
      },
    }),
    'finishing a record that never began has no effect',
  ],
  [
    'returns the digest of the new attempt instead of the first',
    (good) => ({
      async begin(start) {
        const verdict = await good.begin(start)
        return verdict.outcome === 'running' ? { ...verdict, digest: start.digest } : verdict
      },
    }),
    'the first attempt begins; others see it running, with its digest',
  ],
  [
    'never lets a lease expire',
    (good) => ({ begin: (start) => good.begin({ ...start, leaseMs: 1e9 }) }),
    'after a lease expires the next attempt can begin, and the previous one can no longer finish',
  ],
  [
    'does not renew a lease',
    (good, now) => {
      const first = new Map<string, number>()
      return {
        begin(start) {
          const until = first.get(start.attempt) ?? now() + start.leaseMs
          first.set(start.attempt, until)
          return good.begin({ ...start, leaseMs: until - now() })
        },
      }
    },
    'beginning again with the same attempt renews its lease',
  ],
  [
    'deletes some stored responses of an account and says that it was all',
    (good) => ({
      async deleteAll(account) {
        const kept = { account, route: 'chat.completions', key: 'key 149', attempt: 'a', digest: 'd', leaseMs: 1_000 }
        const before = await good.begin(kept)
        await good.deleteAll?.(account)
        if (before.outcome !== 'ended') return false
        await good.begin(kept)
        await good.finish({ ...kept, keepMs: 1_000 })
        return false
      },
    }),
    'deleteAll deletes every stored response of an account, and none of others',
  ],
  [
    'deletes records that an attempt holds with those of the account',
    (good) => {
      const held: IdempotencyStart[] = []
      return {
        begin: (start) => (held.push(start), good.begin(start)),
        async deleteAll(account) {
          for (const start of held) if (start.account === account) await good.forget(start)
          return (await good.deleteAll?.(account)) ?? false
        },
      }
    },
    'deleteAll leaves a record that an attempt holds, also one that had ended before',
  ],
  [
    'never lets a response expire',
    (good) => ({ finish: (end) => good.finish({ ...end, keepMs: 1e9 }) }),
    'a stored response expires after keepMs',
  ],
  [
    'joins names without a separator',
    changedKeys(({ account, route, key }) => ({ account: account + route + key, route: '', key: '' })),
    'records with different accounts, routes or keys are separate, whatever characters these contain',
  ],
]

test.each(faults)('finds a store that %s', async (_, fault, caughtBy) => {
  let now = 0
  const failures = await failuresOf((register) =>
    testIdempotencyStore(
      register,
      () => {
        const good = memoryIdempotencyStore({ clock: () => now })
        return { ...good, ...fault(good, () => now) }
      },
      { wait: (ms) => void (now += ms) },
    ),
  )
  expect(failures).toContain(`idempotency store: ${caughtBy}`)
})
