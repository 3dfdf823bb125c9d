import { expect, test } from 'vitest'
import { combinedKeyStore } from '../../src/callers/combined-key-store.ts'
import { memoryKeyStore } from '../../src/callers/memory.ts'
import { testKeyStore } from '../../src/testing/key-store.ts'

testKeyStore(test, () => combinedKeyStore(memoryKeyStore(), memoryKeyStore()))

test('lists the keys of an account newest first, across both stores', async () => {
  const stores = [memoryKeyStore(), memoryKeyStore()] as const
  const own = { account: 'acme', group: 'free', prefix: 'sk-', version: 1 }
  const times = [2, 4, 1, 3]
  for (const [index, createdAt] of times.entries()) {
    const id = `key_${createdAt}`
    await stores[index < 2 ? 0 : 1].insert?.({ ...own, id, hash: id, createdAt })
  }
  const listed = await combinedKeyStore(...stores).list?.('acme')
  expect(listed?.map((key) => key.createdAt)).toEqual([4, 3, 2, 1])
})

test('lists and finds keys only if the store of the host does', () => {
  const plain = { find: () => undefined }
  const combined = combinedKeyStore(memoryKeyStore(), plain)
  expect(Object.keys(combined)).not.toContain('list')
  expect(Object.keys(combined)).not.toContain('search')
})
