/** Shared by the test suites of all stores. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Page, PageRequest } from '../records/page.ts'

/** Options of the store suites, such as `testTaskStore`. All are optional. */
export interface StoreKitOptions<Store> {
  /**
   * Opens a second handle on the same data, as another process would. Without it, the concurrency tests run on the one
   * handle alone and cannot find faults between processes.
   */
  readonly reopen?: (store: Store) => Promise<Store> | Store
  /** Called after each test with every store it opened. Default: calls the store's `close`, if it has one. */
  readonly dispose?: (store: Store) => Promise<void> | void
  /** Lets `ms` milliseconds pass on the store's clock. Default: waits in real time. Set it if the store uses a fake clock. */
  readonly wait?: (ms: number) => Promise<void> | void
}

export interface Suite<Store> {
  /** Registers one test. `other` is the handle from `reopen`, or `store` itself without one. */
  readonly it: (name: string, body: (store: Store, other: Store) => Promise<void>) => void
  readonly wait: (ms: number) => Promise<void>
  /**
   * Runs the part of a test that uses a short lease. On a slow machine the lease can expire too early, so a failed run
   * that took more than half the lease is repeated with a longer lease. `expire` waits until the lease has expired.
   */
  readonly withLease: (body: (leaseMs: number, expire: () => Promise<void>) => Promise<void>) => Promise<void>
}

const [shortestLeaseMs, longestLeaseMs] = [150, 10_000]

export function suiteOf<Store extends { close?(): Promise<void> | void }>(
  kind: string,
  test: TestFunction,
  factory: () => Promise<Store> | Store,
  options: StoreKitOptions<Store>,
): Suite<Store> {
  const { reopen, dispose = (store) => store.close?.(), wait = pause } = options
  return {
    it(name, body) {
      test(`${kind}: ${name}`, async () => {
        const store = await factory()
        const other = (await reopen?.(store)) ?? store
        try {
          await body(store, other)
        } finally {
          for (const each of new Set([store, other])) await dispose(each)
        }
      })
    },
    wait: async (ms) => wait(ms),
    async withLease(body) {
      for (let leaseMs = shortestLeaseMs; ; leaseMs *= 4) {
        const began = performance.now()
        let waitedMs = 0
        const expire = async () => {
          const from = performance.now()
          await wait(leaseMs * 1.5)
          waitedMs += performance.now() - from
        }
        try {
          return await body(leaseMs, expire)
        } catch (error) {
          const workedMs = performance.now() - began - waitedMs
          if (workedMs < leaseMs / 2 || leaseMs > longestLeaseMs) throw error
        }
      }
    },
  }
}

/**
 * Whether `happened` becomes true within one second. The time that the store needs for `read` is not counted, so that a busy
 * machine does not make a store look late.
 */
export async function withinOneSecond(happened: () => boolean, read: () => Promise<unknown>): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < 1_000 && !happened(); waitedMs += 50) {
    await pause(50)
    await read()
  }
  return happened()
}

/** A unique name. */
export function fresh(kind: string): string {
  return `${kind} ${randomUUID()}`
}

/** Names that a store must keep unchanged. */
export const oddNames: readonly string[] = [
  `'; DROP TABLE accounts; --`,
  'back\\slash "quoted" %s $1 ?',
  '{curly} *star* [0-9]',
  'naïve 🎈 中文 \u2028',
  'UPPER lower',
  'upper LOWER',
]

/**
 * Variants of a name that some databases treat as equal to it because they ignore case, accents or surrounding spaces. A
 * store must not: accounts, ids, keys and references are compared byte for byte.
 */
export function similarNames(name: string): readonly string[] {
  const accented = name.replace(/[aeiou]/, (vowel) => `${vowel}\u0301`.normalize())
  return [name.toUpperCase(), `${name} `, ` ${name}`, accented, `${name}\t`].filter((each) => each !== name)
}

/**
 * Checks that a large value comes back unchanged. Many drivers report a value over the size limit only as a closed
 * connection, so the error names the size as the likely cause.
 * `tries`: for values that take longer than a store waits where the machine is busy.
 */
export async function assertStoresLarge<T>(
  what: string,
  expected: T,
  storeAndRead: () => Promise<T>,
  tries = 1,
): Promise<void> {
  let stored: T
  try {
    stored = await storeAndRead()
  } catch (error) {
    if (tries > 1) return assertStoresLarge(what, expected, storeAndRead, tries - 1)
    throw new Error(
      `the store failed on ${what}, which it must accept: ${(error as Error).message}. ` +
        'Raise its limit on the size of a value, row or packet (such as max_allowed_packet), or its timeout.',
      { cause: error },
    )
  }
  assert.ok(isDeepStrictEqual(stored, expected), `${what} came back truncated or changed`)
}

/** Makes `count` calls at once, alternating between the two handles. */
export function race<Store, T>(
  count: number,
  [left, right]: readonly [Store, Store],
  act: (store: Store, index: number) => Promise<T> | T,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, async (_, index) => act(index % 2 === 0 ? left : right, index)))
}

/** The items of a list, page by page. `between`: called after each page. */
export async function allPages<T>(
  limit: number,
  pageAt: (page: PageRequest) => Promise<Page<T>> | Page<T> | undefined,
  between?: () => unknown,
): Promise<T[]> {
  const found: T[] = []
  let after: string | undefined
  do {
    const page = await pageAt({ limit, ...(after !== undefined && { after }) })
    assert.ok((page?.items.length ?? 0) <= limit, 'a page is longer than its limit')
    found.push(...(page?.items ?? []))
    await between?.()
    after = page?.next
  } while (after !== undefined)
  return found
}

/** Calls a method that works in steps until it returns false. */
export async function untilDone(step: () => Promise<boolean> | boolean | undefined): Promise<void> {
  for (let steps = 0; (await step()) === true; steps++) {
    assert.ok(steps < 1_000, 'the method still asks to be called again after 1,000 calls')
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Registers a test: the `test` of vitest, node:test or jest, or mocha's `it`. */
export type TestFunction = (name: string, body: () => Promise<void>) => unknown
