import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { KeyCache } from '../../src/callers/cache.ts'
import type { KeyRecord, KeyStore } from '../../src/callers/contract.ts'

const record = (hash: string, changes: Partial<KeyRecord> = {}): KeyRecord => ({
  id: `key_${hash}`,
  hash,
  prefix: 'sk-',
  account: 'a',
  group: 'default',
  createdAt: 1,
  version: 1,
  ...changes,
})

/** A store whose look-ups resolve when the test resolves them. */
function slowStore() {
  const lookups: { hash: string; resolve: (found?: KeyRecord) => void; fail: () => void }[] = []
  let changed: (hash: string) => void = () => undefined
  const store: KeyStore = {
    find: (hash) =>
      new Promise((resolve, reject) => lookups.push({ hash, resolve, fail: () => reject(new Error('down')) })),
    watch(notice) {
      changed = notice
      return () => undefined
    },
  }
  return { store, lookups, change: (hash: string) => changed(hash) }
}

/** One turn of the event loop; pending callbacks have run by then. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a cached key', () => {
  test('is returned synchronously without another look-up', async () => {
    const { store, lookups } = slowStore()
    const cache = new KeyCache(store)
    const first = cache.find('k')
    await turn()
    lookups[0]?.resolve(record('k'))
    expect(await first).toMatchObject({ hash: 'k' })
    expect(cache.find('k')).toMatchObject({ hash: 'k' })
    expect(lookups).toHaveLength(1)
  })

  test('is looked up once for concurrent requests', async () => {
    const { store, lookups } = slowStore()
    const cache = new KeyCache(store)
    const all = Promise.all(Array.from({ length: 50 }, async () => cache.find('k')))
    await turn()
    expect(lookups).toHaveLength(1)
    lookups[0]?.resolve(record('k'))
    expect(new Set(await all).size).toBe(1)
  })

  test('is looked up again after a change', async () => {
    const { store, lookups, change } = slowStore()
    const cache = new KeyCache(store)
    const first = cache.find('k')
    await turn()
    lookups[0]?.resolve(record('k'))
    await first
    change('k')
    const second = cache.find('k')
    await turn()
    lookups[1]?.resolve(record('k', { revokedAt: 5, version: 2 }))
    expect(await second).toMatchObject({ revokedAt: 5 })
    expect(cache.find('k')).toMatchObject({ revokedAt: 5 })
  })

  test('looked up before a change is never cached after it, in whatever order the look-ups resolve', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { store, lookups, change } = slowStore()
      const cache = new KeyCache(store)
      const early = cache.find('k')
      await turn()
      change('k')
      const late = cache.find('k')
      await turn()
      expect(lookups).toHaveLength(2)
      const records = [record('k'), record('k', { revokedAt: 5, version: 2 })]
      for (const index of order) {
        lookups[index]?.resolve(records[index])
        await turn()
      }
      await Promise.all([early, late])
      expect(cache.find('k')).toMatchObject({ revokedAt: 5, version: 2 })
    }
  })

  test('that changed during its look-up is looked up again by the next request', async () => {
    const { store, lookups, change } = slowStore()
    const cache = new KeyCache(store)
    const early = cache.find('k')
    await turn()
    change('k')
    lookups[0]?.resolve(record('k'))
    await early
    void cache.find('k')
    await turn()
    expect(lookups).toHaveLength(2)
  })

  test('is not cached when the look-up fails: the next request looks again', async () => {
    const { store, lookups } = slowStore()
    const cache = new KeyCache(store)
    const first = cache.find('k')
    await turn()
    lookups[0]?.fail()
    await expect(first).rejects.toThrow('down')
    void cache.find('k')
    await turn()
    expect(lookups).toHaveLength(2)
  })

  test('expires after ageMs', async () => {
    let lookups = 0
    const cache = new KeyCache({ find: (hash) => (lookups++, record(hash)) }, { ageMs: 20 })
    await cache.find('k')
    await expect.poll(async () => (await cache.find('k'), lookups), { interval: 5 }).toBeGreaterThan(1)
  })
})

describe('unknown keys', () => {
  test('are cached as unknown, and accepted as soon as they are created', async () => {
    const { store, lookups, change } = slowStore()
    const cache = new KeyCache(store)
    const first = cache.find('k')
    await turn()
    lookups[0]?.resolve(undefined)
    await first
    expect(cache.find('k')).toBeUndefined()
    change('k')
    const second = cache.find('k')
    await turn()
    lookups[1]?.resolve(record('k'))
    expect(await second).toMatchObject({ hash: 'k' })
  })

  test('do not evict known keys, however many there are', async () => {
    let lookups = 0
    const find = (hash: string) => (lookups++, hash === 'good' ? record('good') : undefined)
    const cache = new KeyCache({ find }, { size: 100 })
    await cache.find('good')
    for (let index = 0; index < 5_000; index++) await cache.find(`junk ${index}`)
    lookups = 0
    expect(cache.find('good')).toMatchObject({ hash: 'good' })
    expect(lookups).toBe(0)
  })

  test('that differ in one character never share an entry', async () => {
    const cache = new KeyCache({ find: (hash) => record(hash, { account: hash }) })
    const hashes = Array.from({ length: 64 }, (_, index) => 'a'.repeat(index) + 'b' + 'a'.repeat(63 - index))
    for (const hash of hashes) await cache.find(hash)
    for (const hash of hashes) expect(cache.find(hash)).toMatchObject({ hash, account: hash })
  })
})

describe('the store is watched', () => {
  /** A store with one key that counts its watchers. */
  function watchedStore() {
    const state = { watching: 0, began: 0, lookups: 0, changed: (_hash: string): void => undefined }
    const store: KeyStore = {
      find(hash) {
        state.lookups++
        return Promise.resolve(record(hash))
      },
      watch(changed) {
        state.changed = changed
        state.watching++
        state.began++
        return () => void state.watching--
      },
    }
    return { store, state }
  }

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  test('from the first look-up until no entry can be valid any more', async () => {
    const { store, state } = watchedStore()
    const cache = new KeyCache(store, { ageMs: 10_000 })
    expect(state.watching).toBe(0)
    await cache.find('k')
    expect(state.watching).toBe(1)
    for (let seconds = 0; seconds < 60; seconds += 5) {
      vi.advanceTimersByTime(5_000)
      await cache.find('k')
      expect(state.watching).toBe(1)
    }
    vi.advanceTimersByTime(40_000)
    expect(state.watching).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('again by the first look-up after a pause, which asks the store', async () => {
    const { store, state } = watchedStore()
    const cache = new KeyCache(store, { ageMs: 10_000 })
    await cache.find('k')
    vi.advanceTimersByTime(40_000)
    await cache.find('k')
    expect(state).toMatchObject({ watching: 1, began: 2, lookups: 2 })
    state.changed('k')
    await cache.find('k')
    expect(state.lookups).toBe(3)
  })

  test('no more after the cache was closed', async () => {
    const { store, state } = watchedStore()
    const cache = new KeyCache(store)
    await cache.find('k')
    cache.close()
    await cache.find('k')
    expect(state).toMatchObject({ watching: 0, began: 1 })
    expect(vi.getTimerCount()).toBe(0)
  })
})
