import { expect, test } from 'vitest'
import type { IdempotencyClaim, IdempotencyStart, IdempotencyStore } from '../../src/index.ts'
import { memoryIdempotencyStore } from '../../src/index.ts'
import { testIdempotencyStore } from '../../src/testing/index.ts'
import { failuresOf, turn } from './faults.ts'

type Fault = (good: IdempotencyStore, now: () => number) => Partial<IdempotencyStore>

const renamed = (change: (claim: IdempotencyClaim) => Partial<IdempotencyClaim>): Fault => {
  return (good) => ({
    begin: (start) => good.begin({ ...start, ...change(start) }),
    finish: (end) => good.finish({ ...end, ...change(end) }),
    forget: (claim) => good.forget({ ...claim, ...change(claim) }),
  })
}

/** Remembers who holds a record, for faults that act in their name. */
const inNameOfHolder = (
  act: (good: IdempotencyStore, holder: Map<string, string>) => Partial<IdempotencyStore>,
): Fault => {
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

/** Each fault, and the test that must catch it by name. */
const faults: [string, Fault, string][] = [
  [
    'looks first and begins later',
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
    'of many attempts at once exactly one begins',
  ],
  [
    'takes the body for text',
    (good) => ({
      finish: (end) =>
        good.finish({
          ...end,
          ...(end.answer && { answer: { ...end.answer, body: Buffer.from(Buffer.from(end.answer.body).toString()) } }),
        }),
    }),
    'an answer comes back byte for byte, whoever asks',
  ],
  [
    'loses the headers',
    (good) => ({
      finish: (end) => good.finish({ ...end, ...(end.answer && { answer: { ...end.answer, headers: {} } }) }),
    }),
    'an answer comes back byte for byte, whoever asks',
  ],
  [
    'forgets an end without an answer',
    (good) => ({ finish: (end) => (end.answer === undefined ? good.forget(end) : good.finish(end)) }),
    'an attempt may end without an answer',
  ],
  ['does not forget', () => ({ forget: () => undefined }), 'what was forgotten can begin again'],
  [
    'lets anybody forget',
    inNameOfHolder((good, holders) => ({ forget: (claim) => good.forget({ ...claim, ...holderOf(holders, claim) }) })),
    'nobody ends or forgets what another attempt holds',
  ],
  [
    'lets anybody end',
    inNameOfHolder((good, holders) => ({ finish: (end) => good.finish({ ...end, ...holderOf(holders, end) }) })),
    'nobody ends or forgets what another attempt holds',
  ],
  [
    'inserts what is ended without having begun',
    (good) => ({
      async finish(end) {
        await good.begin({ ...end, digest: 'none', leaseMs: 60_000 })
        await good.finish(end)
      },
    }),
    'nobody ends what was never begun',
  ],
  [
    'takes the digest of whoever asks for that of the first',
    (good) => ({
      async begin(start) {
        const verdict = await good.begin(start)
        return verdict.outcome === 'running' ? { ...verdict, digest: start.digest } : verdict
      },
    }),
    'one attempt begins; the next is told what is running',
  ],
  [
    'holds without end',
    (good) => ({ begin: (start) => good.begin({ ...start, leaseMs: 1e9 }) }),
    'a lease that has run out leaves the key to the next attempt, and the last one nothing to end',
  ],
  [
    'takes a sign of life for a stranger',
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
    'a sign of life begins the lease anew',
  ],
  [
    'keeps answers without end',
    (good) => ({ finish: (end) => good.finish({ ...end, keepMs: 1e9 }) }),
    'an answer whose time is over is not given any more',
  ],
  [
    'ignores the case of keys',
    renamed(({ key }) => ({ key: key.toLowerCase() })),
    'account, route and key tell records apart, each by itself and whatever they hold',
  ],
  [
    'joins names without a separator',
    renamed(({ account, route, key }) => ({ account: account + route + key, route: '', key: '' })),
    'account, route and key tell records apart, each by itself and whatever they hold',
  ],
  [
    'cuts long keys',
    renamed(({ key }) => ({ key: key.slice(0, 64) })),
    'account, route and key tell records apart, each by itself and whatever they hold',
  ],
]

test.each(faults)('a store that %s is found out', async (_, fault, caughtBy) => {
  let now = 0
  const failures = await failuresOf((register) =>
    testIdempotencyStore(
      register,
      () => {
        const good = memoryIdempotencyStore({ now: () => now })
        return { ...good, ...fault(good, () => now) }
      },
      { wait: (ms) => void (now += ms) },
    ),
  )
  expect(failures).toContain(`idempotency store: ${caughtBy}`)
})
