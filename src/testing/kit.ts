/** What the suites of the stores have in common. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { TestFunction } from './runner.ts'

export interface StoreKitOptions<Store> {
  /**
   * A second handle on the same data, as another process would have it. Without one, promises between processes are only
   * tested within one handle.
   */
  readonly reopen?: (store: Store) => Promise<Store> | Store
  /** Called with every store that was made, after its test. Default: the store's own `close`. */
  readonly dispose?: (store: Store) => Promise<void> | void
  /** Lets so many milliseconds pass for the store. Default: waits for them. Give it where the store's clock is yours. */
  readonly wait?: (ms: number) => Promise<void> | void
}

export interface Suite<Store> {
  /** One test: `other` is the second handle, or the first where there is only one. */
  readonly it: (name: string, body: (store: Store, other: Store) => Promise<void>) => void
  readonly wait: (ms: number) => Promise<void>
}

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
  }
}

/** A name that nobody has used before. */
export function fresh(kind: string): string {
  return `${kind} ${randomUUID()}`
}

/** Names that a store must take as they are. */
export const oddNames: readonly string[] = [
  `'; DROP TABLE accounts; --`,
  'back\\slash "quoted" %s $1 ?',
  '{curly} *star* [0-9]',
  'naïve 🎈 中文 \u2028',
  'UPPER lower',
  'upper LOWER',
]

/**
 * Names that are this one for a database that compares without regard to case, to accents or to spaces at the end, and
 * that are not it: accounts, ids, keys and references are compared byte for byte.
 */
export function lookalikes(name: string): readonly string[] {
  return [name.toUpperCase(), `${name} `, ` ${name}`, name.replace('a', 'á'), `${name}\t`].filter(
    (each) => each !== name,
  )
}

/**
 * Keeps something large and gives back what the store made of it. A failure says that it came of the size, for all that
 * a driver tells of it is often that the connection was closed.
 */
export async function keptLarge<T>(what: string, expected: T, keep: () => Promise<T>): Promise<void> {
  let kept: T
  try {
    kept = await keep()
  } catch (error) {
    throw new Error(
      `the store failed with ${what}, which it must take: ${(error as Error).message}. ` +
        'Raise its limit on the size of a value, a row or a packet (such as max_allowed_packet), or its deadline.',
      { cause: error },
    )
  }
  assert.ok(isDeepStrictEqual(kept, expected), `${what} came back cut off or changed`)
}

/** Calls of both handles in turn, all under way at once. */
export function race<Store, T>(
  count: number,
  [left, right]: readonly [Store, Store],
  act: (store: Store, index: number) => Promise<T> | T,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, async (_, index) => act(index % 2 === 0 ? left : right, index)))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
