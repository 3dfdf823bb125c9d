/** The errors of the suites for stores that fail on large values. */
import { expect, test } from 'vitest'
import { memoryIdempotencyStore, memoryTaskStore } from '../../src/index.ts'
import { memoryResponseStore } from '../../src/responses/memory.ts'
import { testIdempotencyStore, testResponseStore, testTaskStore, type TestFunction } from '../../src/testing/index.ts'
import { errorsOf, methodsOf } from './faults.ts'

/** A store that fails on values of more than `maxBytes`, as drivers do when the server closes the connection. */
function limited<Store extends object>(store: Store, maxBytes: number): Store {
  const methods = Object.entries(methodsOf(store)) as [string, (...values: unknown[]) => unknown][]
  const wrapped = methods.map(([name, method]) => {
    const call = (...values: unknown[]) => {
      if (sizeOf(values) > maxBytes) throw new Error('read ECONNRESET')
      return method(...values)
    }
    return [name, call] as const
  })
  return Object.fromEntries(wrapped) as Store
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || ArrayBuffer.isView(value)) return Buffer.from(value as string).length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, each) => sum + sizeOf(each), 0)
}

test.each<[string, (run: TestFunction) => void, string]>([
  ['tasks', (run) => testTaskStore(run, () => limited(memoryTaskStore(), 1e6)), '20 MiB of data'],
  ['responses', (run) => testResponseStore(run, () => limited(memoryResponseStore(), 1e6)), 'a body of 5 MB'],
  [
    'responses with items',
    (run) => testResponseStore(run, () => limited(memoryResponseStore(), 6e3)),
    'a thousand items',
  ],
  [
    'idempotency',
    (run) => testIdempotencyStore(run, () => limited(memoryIdempotencyStore(), 1e6)),
    'a response of 4 MiB',
  ],
])('the error for a closed connection names the size (%s)', async (_, kit, what) => {
  const errors = await errorsOf(kit)
  expect(errors).toContainEqual(
    expect.objectContaining({
      message: expect.stringContaining(`the store failed on ${what}, which it must accept: read ECONNRESET. Raise`),
    }),
  )
  expect(errors.filter(({ message }) => message === 'read ECONNRESET')).toEqual([])
})

test('the error for a truncated value does not print the value', async () => {
  const store = methodsOf(memoryResponseStore())
  const truncating = () => ({ ...store, put: (record: never) => store.put(truncated(record)) })
  const errors = await errorsOf((run) => testResponseStore(run, truncating), 'returned byte for byte')
  expect(errors.map(({ message }) => message)).toEqual(['a body of 5 MB came back truncated or changed'])
})

function truncated<Stored extends { readonly body: string }>(record: Stored): Stored {
  return { ...record, body: record.body.slice(0, 65_536) }
}
