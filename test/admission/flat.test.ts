/** The cost of a request in the memory stores does not grow with thousands of open ones. Counts steps, not time. */
import { describe, expect, test } from 'vitest'
import { memoryIdempotencyStore } from '../../src/admission/idempotency/memory.ts'
import { memoryLedger, memoryLimitStore } from '../../src/index.ts'

const leaseMs = 60_000
const open = 5_000

const { prototype } = Map
const walks = ['entries', 'keys', 'values', 'forEach', Symbol.iterator] as const

/** Entries of maps that `act` iterates over. */
function steps(act: () => void): number {
  let count = 0
  const originals = walks.map((name) => [name, prototype[name]] as const)
  for (const [name, original] of originals) {
    prototype[name] = function (this: Map<unknown, unknown>, ...given: never[]): never {
      const walk = original.apply(this, given as never) as Iterator<unknown> | undefined
      if (walk === undefined) count += this.size
      else {
        const next = walk.next.bind(walk)
        walk.next = () => {
          count++
          return next()
        }
      }
      return walk as never
    }
  }
  try {
    act()
  } finally {
    for (const [name, original] of originals) prototype[name] = original as never
  }
  return count
}

/** Starts requests while the others are open; each time the oldest one ends. */
function turnover(begin: (id: string) => void, end: (id: string) => void): void {
  for (let made = 0; made < 100; made++) {
    begin(`new ${made}`)
    end(`open ${made}`)
  }
}

describe(`with ${open} open requests, another one takes a few steps:`, () => {
  test('limits', () => {
    let now = 0
    const store = memoryLimitStore({ clock: () => now })
    const rates = [{ bucket: 'rate', cost: 1, limit: 1e9, periodMs: 1_000, burst: 1e9 }]
    const begin = (id: string) => {
      now += 0.1
      void store.take({ id, rates, places: [{ bucket: 'slots', places: 9_999 }], leaseMs })
    }
    for (let made = 0; made < open; made++) begin(`open ${made}`)
    const end = (id: string) => void store.give({ id, places: ['slots'], corrections: rates })
    expect(steps(() => turnover(begin, end))).toBeLessThan(500)
    // Returned concurrency slots are free, and the other leases still expire on time.
    const take = (id: string) => store.take({ id, rates, places: [{ bucket: 'slots', places: 9_999 }], leaseMs: 1 })
    expect(take('one more')).toMatchObject({ free: [9_999 - open - 1] })
    now = 100 * 0.1 + leaseMs + 100
    expect(take('last')).toMatchObject({ free: [9_999 - (open - 1_000) - 1] })
  })

  test('the ledger', async () => {
    const ledger = memoryLedger()
    await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
    const begin = (id: string) => void ledger.hold({ id, account: 'acme', amount: 1n, leaseMs })
    for (let made = 0; made < open; made++) begin(`open ${made}`)
    const end = (id: string) => void ledger.settle({ id, account: 'acme', amount: 1n })
    expect(steps(() => turnover(begin, end))).toBeLessThan(500)
  })

  test('idempotency keys', () => {
    const store = memoryIdempotencyStore()
    const claim = (key: string) => ({ account: 'acme', route: 'chat', key, attempt: key, digest: 'd', leaseMs })
    const begin = (key: string) => void store.begin(claim(key))
    for (let made = 0; made < open; made++) begin(`open ${made}`)
    expect(steps(() => turnover(begin, (key) => void store.forget(claim(key))))).toBeLessThan(500)
  })
})
