/** Stores with one planted fault each, and the test of the suite that must find it. */
import { expect, test } from 'vitest'
import type { TestFunction } from '../../src/testing/runner.ts'

/** What is wrong, the store, and a part of the name of the test that tells. */
export type Fault<Store> = readonly [wrong: string, change: (good: Store) => Partial<Store>, caughtBy: string]

/** A turn of the event loop: the gap in which a store that is not atomic loses. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The methods of a store as an object that can be spread. */
export function opened<Store extends object>(store: Store): Store {
  const names = [...Object.keys(store), ...Object.getOwnPropertyNames(Object.getPrototypeOf(store))]
  const methods = names.map((name) => [name, Reflect.get(store, name) as unknown] as const)
  return Object.fromEntries(
    methods.flatMap(([name, value]) =>
      typeof value === 'function' && name !== 'constructor' ? [[name, value.bind(store) as unknown]] : [],
    ),
  ) as Store
}

/** Runs the tests of a suite whose names hold `part`, and tells which of them failed. */
export async function failuresOf(kit: (test: TestFunction) => void, part = ''): Promise<string[]> {
  return (await failedOf(kit, part)).map(({ name }) => name)
}

/** As `failuresOf`, and tells with what they failed. */
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

/** A suite as it is run against a store of which nothing is known but how to make one. */
export type Kit<Store> = (test: TestFunction, factory: () => Store) => void

export function plant<Store extends object>(kit: Kit<Store>, good: () => Store, faults: readonly Fault<Store>[]): void {
  test('a store without a fault passes', async () => {
    expect(await failuresOf((run) => kit(run, () => opened(good())))).toEqual([])
  })

  test.each(faults)('%s', async (_, change, caughtBy) => {
    const factory = () => {
      const store = opened(good())
      return { ...store, ...change(store) }
    }
    expect(await failuresOf((run) => kit(run, factory), caughtBy)).not.toEqual([])
  })
}
