/** What a process knows of the keys: how often it asks the store, and how soon it learns of a change. */
import { expect, test } from 'vitest'
import { KnownVendorKeys } from '../../../src/models/vendor-keys/known-keys.ts'
import { memoryVendorKeyStore } from '../../../src/models/vendor-keys/memory.ts'
import type { VendorKeyStore } from '../../../src/index.ts'
import { Guard } from '../../../src/records/guard.ts'
import { Sealing } from '../../../src/records/sealing.ts'

const sealing = new Sealing(['a secret of at least 32 characters'], { use: 'vendor keys', option: 'ownKeys.secrets' })
const ada = { account: 'ada', provider: 'openai' }

function recordOf(key: string, name = ada) {
  return { ...name, sealed: sealing.seal(key, [name.account, name.provider]), hint: '', createdAt: 1 }
}

function process(given: VendorKeyStore = memoryVendorKeyStore()) {
  const asked = { revision: 0, list: 0 }
  const time = { now: 0 }
  const store: VendorKeyStore = {
    ...given,
    async revision() {
      asked.revision++
      return given.revision()
    },
    async list(account) {
      asked.list++
      return given.list(account)
    },
  }
  const guard = new Guard({ name: 'the store', timeoutMs: 1_000, now: () => time.now })
  return { asked, time, store, known: new KnownVendorKeys(store, guard, sealing, () => time.now) }
}

test('a busy process asks for the revision about twice a second, and for the keys of an account once', async () => {
  const { asked, time, store, known } = process()
  await store.put(recordOf('key-of-ada'))
  const accounts = ['ada', 'bob', 'eve']
  let waits = 0
  for (; time.now < 10_000; time.now += 10) {
    for (const account of accounts) {
      const found = known.find({ ...ada, account })
      if (found instanceof Promise) waits++
      expect(await found).toBe(account === 'ada' ? 'key-of-ada' : undefined)
    }
  }
  expect(asked.list).toBe(3)
  expect(asked.revision).toBeLessThanOrEqual(26)
  // The first question, and the first of each account: later ones run in the background.
  expect(waits).toBe(3)
})

test('concurrent calls share the questions', async () => {
  const { asked, store, known } = process()
  await store.put(recordOf('key-of-ada'))
  const found = await Promise.all(Array.from({ length: 500 }, async () => known.find(ada)))
  expect(new Set(found)).toEqual(new Set(['key-of-ada']))
  expect(asked).toEqual({ revision: 1, list: 1 })
})

test('a key that was replaced or deleted elsewhere is not used a second later, however seldom calls come', async () => {
  for (const everyMs of [1, 100, 399, 401, 899, 901, 5_000]) {
    const { time, store, known } = process()
    /** When the last call used it. */
    const usedUntil = async (key: string) => {
      const changedAt = time.now
      for (;;) {
        time.now += everyMs
        if ((await known.find(ada)) !== key) return time.now - everyMs - changedAt
        // So that a question in the background has its answer.
        await new Promise(setImmediate)
      }
    }
    await store.put(recordOf('first'))
    expect(await known.find(ada)).toBe('first')
    await store.put(recordOf('second'))
    expect(await usedUntil('first')).toBeLessThan(1_000)
    expect(await known.find(ada)).toBe('second')
    await store.deleteAll('ada')
    expect(await usedUntil('second')).toBeLessThan(1_000)
    expect(await known.find(ada)).toBeUndefined()
  }
})

test('a question that began too long ago does not count for a call that came later', async () => {
  const kept = memoryVendorKeyStore()
  const { time, store, known } = process(kept)
  await store.put(recordOf('first'))
  let answer: ((revision: string) => void) | undefined
  store.revision = () => new Promise<string>((resolve) => (answer = resolve))
  const early = known.find(ada)
  const answerFirst = answer
  time.now = 2_000
  const late = known.find(ada)
  await store.delete(ada)
  store.revision = () => kept.revision()
  answerFirst?.('0')
  await early
  expect(await late).toBeUndefined()
})

test('the result of a read that a change overtook is not kept', async () => {
  const given = memoryVendorKeyStore()
  const { store, known } = process(given)
  await store.put(recordOf('first'))
  await known.find({ ...ada, account: 'other' })
  const list = (account: string) => given.list(account)
  let release: (() => void) | undefined
  store.list = async (account) => {
    const read = await list(account)
    await new Promise<void>((resolve) => (release = resolve))
    return read
  }
  const reading = known.find(ada)
  await expect.poll(() => release).toBeDefined()
  await store.delete(ada)
  known.forget()
  store.list = list
  release?.()
  expect(await reading).toBe('first')
  expect(await known.find(ada)).toBeUndefined()
})

test('while the store fails, keys are not used for longer than a second', async () => {
  const { time, store, known } = process()
  await store.put(recordOf('first'))
  expect(await known.find(ada)).toBe('first')
  store.revision = () => Promise.reject(new Error('connection refused'))
  time.now = 800
  expect(await known.find(ada)).toBe('first')
  time.now = 1_000
  await expect(known.find(ada)).rejects.toMatchObject({ status: 503 })
})

test('a key that does not open fails alone, and says why', async () => {
  const { store, known } = process()
  await store.put(recordOf('key-of-ada'))
  await store.put({ ...recordOf('key-of-eve', { account: 'eve', provider: 'openai' }), ...ada, provider: 'moved' })
  expect(await known.find(ada)).toBe('key-of-ada')
  await expect((async () => known.find({ ...ada, provider: 'moved' }))()).rejects.toThrow(/moved from elsewhere/)
})
