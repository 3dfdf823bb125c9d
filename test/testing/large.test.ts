/** What the suites say of a store that fails because of the size of a value. */
import { expect, test } from 'vitest'
import { memoryIdempotencyStore, memoryTaskStore } from '../../src/index.ts'
import { memoryResponseStore } from '../../src/responses/memory.ts'
import { testIdempotencyStore, testResponseStore, testTaskStore, type TestFunction } from '../../src/testing/index.ts'
import { errorsOf, opened } from './faults.ts'

/** As a driver tells of a packet that its server does not take. */
function closing<Store extends object>(store: Store, most: number): Store {
  const methods = Object.entries(opened(store)) as [string, (...values: unknown[]) => unknown][]
  const closed = methods.map(([name, method]) => {
    const called = (...values: unknown[]) => {
      if (sizeOf(values) > most) throw new Error('read ECONNRESET')
      return method(...values)
    }
    return [name, called] as const
  })
  return Object.fromEntries(closed) as Store
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || ArrayBuffer.isView(value)) return Buffer.from(value as string).length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, each) => sum + sizeOf(each), 0)
}

test.each<[string, (run: TestFunction) => void, string]>([
  ['tasks', (run) => testTaskStore(run, () => closing(memoryTaskStore(), 1e6)), '20 MiB of data'],
  ['responses', (run) => testResponseStore(run, () => closing(memoryResponseStore(), 1e6)), 'a body of 5 MB'],
  [
    'responses with items',
    (run) => testResponseStore(run, () => closing(memoryResponseStore(), 6e3)),
    'a thousand items',
  ],
  ['answers', (run) => testIdempotencyStore(run, () => closing(memoryIdempotencyStore(), 1e6)), 'an answer of 4 MiB'],
])('a store of %s that a large value closes is told of the size', async (_, kit, what) => {
  const errors = await errorsOf(kit)
  expect(errors).toContainEqual(
    expect.objectContaining({
      message: expect.stringContaining(`the store failed with ${what}, which it must take: read ECONNRESET. Raise`),
    }),
  )
  expect(errors.filter(({ message }) => message === 'read ECONNRESET')).toEqual([])
})

test('a value that is cut off is told without printing all of it', async () => {
  const store = opened(memoryResponseStore())
  const cutting = () => ({ ...store, put: (record: never) => store.put(cut(record)) })
  const errors = await errorsOf((run) => testResponseStore(run, cutting), 'byte for byte')
  expect(errors.map(({ message }) => message)).toEqual(['a body of 5 MB came back cut off or changed'])
})

function cut<Stored extends { readonly body: string }>(record: Stored): Stored {
  return { ...record, body: record.body.slice(0, 65_536) }
}
