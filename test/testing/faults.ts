/** Stores with one planted fault each, and the test of the suite that must fail because of it. */
import { expect, test } from 'vitest'
import type { TestFunction } from '../../src/testing/kit.ts'

/** A description of the fault, the methods that have it, and the name (or a part of it) of the test that must fail. */
export type Fault<Store> = readonly [fault: string, change: (good: Store) => Partial<Store>, caughtBy: string]

/** One turn of the event loop, for faults that read, wait and then write. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The bound methods and the other properties of a store, as a plain object that can be spread. */
export function methodsOf<Store extends object>(store: Store): Store {
  const names = [...Object.keys(store), ...Object.getOwnPropertyNames(Object.getPrototypeOf(store))]
  const methods = names.map((name) => [name, Reflect.get(store, name) as unknown] as const)
  return Object.fromEntries(
    methods.flatMap(([name, value]) =>
      name === 'constructor' ? [] : [[name, typeof value === 'function' ? (value.bind(store) as unknown) : value]],
    ),
  ) as Store
}

/** Runs the tests of a suite whose names contain `part` and returns the names of those that failed. */
export async function failuresOf(kit: (test: TestFunction) => void, part = ''): Promise<string[]> {
  return (await failedOf(kit, part)).map(({ name }) => name)
}

/** Like `failuresOf`, but returns the errors. */
export async function errorsOf(kit: (test: TestFunction) => void, part = ''): Promise<Error[]> {
  return (await failedOf(kit, part)).map(({ error }) => error)
}

async function failedOf(kit: (test: TestFunction) => void, part: string): Promise<{ name: string; error: Error }[]> {
  const tests: { name: string; body: () => Promise<void> }[] = []
  kit((name, body) => name.includes(part) && tests.push({ name, body }))
  const failed: { name: string; error: Error }[] = []
  for (const { name, body } of tests) {
    try {
      await body()
    } catch (error) {
      failed.push({ name, error: error as Error })
    }
  }
  return failed
}

/** A test suite for stores. */
export type Kit<Store> = (test: TestFunction, factory: () => Store) => void

export function plant<Store extends object>(kit: Kit<Store>, good: () => Store, faults: readonly Fault<Store>[]): void {
  test('a store without a fault passes', async () => {
    expect(await failuresOf((run) => kit(run, () => methodsOf(good())))).toEqual([])
  })

  test.each(faults)('%s', async (_, change, caughtBy) => {
    const factory = () => {
      const store = methodsOf(good())
      return { ...store, ...change(store) }
    }
    expect(await failuresOf((run) => kit(run, factory), caughtBy)).not.toEqual([])
  })
}
