import { expect, test } from 'vitest'
import { memoryKeyStore, type KeyRecord, type KeyStore } from '../../src/index.ts'
import { keyRecord } from '../../src/callers/key.ts'
import { demo } from '../../src/providers/index.ts'
import { askChat, hostedWith } from '../hosted.ts'

const known = memoryKeyStore([keyRecord('sk-test', { group: 'default', account: 'acme' }, 0)])

/** A gateway that looks up the key of every request with `find`. */
async function gatewayOver(find: KeyStore['find']) {
  const { url } = await hostedWith({
    keys: {},
    storage: { keys: { find } },
    models: { m: demo() },
    keyCache: { ageMs: 1 },
    timeouts: { authMs: 50 },
  })
  return async () => {
    const response = await askChat(url)
    await response.body?.cancel()
    return response.status
  }
}

test('a key whose look-up times out is looked up again', async () => {
  let hung = true
  const ask = await gatewayOver((hash) => (hung ? new Promise<KeyRecord>(() => undefined) : known.find(hash)))
  expect(await ask()).toBe(503)
  hung = false
  expect(await ask()).toBe(200)
})

test('a failing store is skipped for a while, then called again', async () => {
  let failing = true
  let lookups = 0
  const ask = await gatewayOver((hash) => {
    lookups++
    if (failing) throw new Error('down')
    return known.find(hash)
  })
  for (let index = 0; index < 50; index++) expect(await ask()).toBe(503)
  expect(lookups).toBeLessThan(20)
  failing = false
  await expect.poll(ask, { interval: 20 }).toBe(200)
})
