/** Keys and the registry of models are watched by one poll. */
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { ChangePoll, registryChange, type Watched } from '../../../adapters/stores/change-poll.ts'
import type { KeyChanges } from '../../../adapters/stores/index.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'

test('one query asks for what is watched, each watcher hears of its own, and the last one ends it', async () => {
  const asked: Watched[] = []
  let next = Promise.withResolvers<KeyChanges>()
  let again = Promise.withResolvers<void>()
  const answer = async (...names: string[]) => {
    next.resolve({ now: '1', changes: names.map((hash) => ({ hash, at: String(asked.length) })) })
    next = Promise.withResolvers()
    again = Promise.withResolvers()
    await again.promise
  }
  const poll = new ChangePoll((_since, watched) => {
    asked.push(watched)
    again.resolve()
    return next.promise
  })
  const heard: string[] = []
  const endKeys = poll.watchKeys((hash) => heard.push(`key ${hash}`))
  expect(asked).toEqual([{ keys: true, registry: false }])
  const endRegistry = poll.watchRegistry(() => heard.push('registry'))
  expect(asked.length).toBe(1)
  await answer('a', registryChange)
  expect(heard).toEqual(['key a', 'registry'])
  expect(asked.at(-1)).toEqual({ keys: true, registry: true })
  endKeys()
  await answer('b', registryChange)
  expect(heard).toEqual(['key a', 'registry', 'registry'])
  expect(asked.at(-1)).toEqual({ keys: false, registry: true })
  endRegistry()
  next.resolve({ now: '2', changes: [{ hash: registryChange, at: '9' }] })
  await next.promise
  expect(heard.length).toBe(3)
})

test('a change is reported that has the same time as one that was reported before', async () => {
  const database = new DatabaseSync(':memory:')
  database.function('unixepoch', { varargs: true }, () => 1_900_000_000)
  const { registry } = sqlite(database)
  let count = 0
  const end = registry.watch?.(() => count++)
  for (const [at, id] of ['a', 'b'].entries()) {
    await registry.put({ kind: 'model', id, version: 1, value: {} })
    await expect.poll(() => count).toBe(at + 1)
  }
  end?.()
  database.close()
})
