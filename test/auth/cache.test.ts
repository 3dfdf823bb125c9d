import { describe, expect, test } from 'vitest'
import { KeyCache } from '../../src/auth/cache.ts'
import type { KeyRecord, KeyStore } from '../../src/auth/contract.ts'

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

/** A store whose look-ups are answered when the test says so. */
function slowStore() {
  const asked: { hash: string; answer: (found?: KeyRecord) => void; fail: () => void }[] = []
  let changed: (hash: string) => void = () => undefined
  const store: KeyStore = {
    find: (hash) =>
      new Promise((resolve, reject) => asked.push({ hash, answer: resolve, fail: () => reject(new Error('down')) })),
    watch(notice) {
      changed = notice
      return () => undefined
    },
  }
  return { store, asked, change: (hash: string) => changed(hash) }
}

/** Whatever a look-up does, it has done by then. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('what was found of a key', () => {
  test('is not asked for again, and is given at once', async () => {
    const { store, asked } = slowStore()
    const cache = new KeyCache(store)
    const first = cache.find('k')
    await turn()
    asked[0]?.answer(record('k'))
    expect(await first).toMatchObject({ hash: 'k' })
    expect(cache.find('k')).toMatchObject({ hash: 'k' })
    expect(asked).toHaveLength(1)
  })

  test('is asked for once by all who want it meanwhile', async () => {
    const { store, asked } = slowStore()
    const cache = new KeyCache(store)
    const all = Promise.all(Array.from({ length: 50 }, async () => cache.find('k')))
    await turn()
    expect(asked).toHaveLength(1)
    asked[0]?.answer(record('k'))
    expect(new Set(await all).size).toBe(1)
  })

  test('is forgotten when it has changed', async () => {
    const { store, asked, change } = slowStore()
    const cache = new KeyCache(store)
    const first = cache.find('k')
    await turn()
    asked[0]?.answer(record('k'))
    await first
    change('k')
    const second = cache.find('k')
    await turn()
    asked[1]?.answer(record('k', { revokedAt: 5, version: 2 }))
    expect(await second).toMatchObject({ revokedAt: 5 })
    expect(cache.find('k')).toMatchObject({ revokedAt: 5 })
  })

  test('before a change is never remembered after it, in whatever order the answers come', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { store, asked, change } = slowStore()
      const cache = new KeyCache(store)
      const early = cache.find('k')
      await turn()
      change('k')
      const late = cache.find('k')
      await turn()
      expect(asked).toHaveLength(2)
      const answers = [record('k'), record('k', { revokedAt: 5, version: 2 })]
      for (const index of order) {
        asked[index]?.answer(answers[index])
        await turn()
      }
      await Promise.all([early, late])
      expect(cache.find('k')).toMatchObject({ revokedAt: 5, version: 2 })
    }
  })

  test('while it changed on its way is looked up again by the next who asks', async () => {
    const { store, asked, change } = slowStore()
    const cache = new KeyCache(store)
    const early = cache.find('k')
    await turn()
    change('k')
    asked[0]?.answer(record('k'))
    await early
    void cache.find('k')
    await turn()
    expect(asked).toHaveLength(2)
  })

  test('is nothing where the store failed: the next who asks looks again', async () => {
    const { store, asked } = slowStore()
    const cache = new KeyCache(store)
    const first = cache.find('k')
    await turn()
    asked[0]?.fail()
    await expect(first).rejects.toThrow('down')
    void cache.find('k')
    await turn()
    expect(asked).toHaveLength(2)
  })

  test('lives no longer than its age', async () => {
    let looked = 0
    const cache = new KeyCache({ find: (hash) => (looked++, record(hash)) }, { ageMs: 20 })
    await cache.find('k')
    await expect.poll(async () => (await cache.find('k'), looked), { interval: 5 }).toBeGreaterThan(1)
  })
})

describe('keys that nobody has', () => {
  test('are asked for once for a while, and let in as soon as they are made', async () => {
    const { store, asked, change } = slowStore()
    const cache = new KeyCache(store)
    const first = cache.find('k')
    await turn()
    asked[0]?.answer(undefined)
    await first
    expect(cache.find('k')).toBeUndefined()
    change('k')
    const second = cache.find('k')
    await turn()
    asked[1]?.answer(record('k'))
    expect(await second).toMatchObject({ hash: 'k' })
  })

  test('do not push out those that somebody has, however many there are', async () => {
    let looked = 0
    const find = (hash: string) => (looked++, hash === 'good' ? record('good') : undefined)
    const cache = new KeyCache({ find }, { size: 100 })
    await cache.find('good')
    for (let index = 0; index < 5_000; index++) await cache.find(`junk ${index}`)
    looked = 0
    expect(cache.find('good')).toMatchObject({ hash: 'good' })
    expect(looked).toBe(0)
  })

  test('that differ in one letter never share an entry', async () => {
    const cache = new KeyCache({ find: (hash) => record(hash, { account: hash }) })
    const hashes = Array.from({ length: 64 }, (_, index) => 'a'.repeat(index) + 'b' + 'a'.repeat(63 - index))
    for (const hash of hashes) await cache.find(hash)
    for (const hash of hashes) expect(cache.find(hash)).toMatchObject({ hash, account: hash })
  })
})
