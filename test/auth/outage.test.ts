import { expect, test } from 'vitest'
import { memoryKeyStore, type KeyRecord, type KeyStore } from '../../src/index.ts'
import { recordOf } from '../../src/auth/key.ts'
import { demo } from '../../src/providers/index.ts'
import { askChat, hostedWith } from '../hosted.ts'

const known = memoryKeyStore([recordOf('sk-test', { group: 'default', account: 'acme' }, 0)])

/** A gateway whose keys are looked up anew for every request, as `find` tells. */
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

test('a key whose look-up is never answered is looked up again', async () => {
  let hung = true
  const ask = await gatewayOver((hash) => (hung ? new Promise<KeyRecord>(() => undefined) : known.find(hash)))
  expect(await ask()).toBe(503)
  hung = false
  expect(await ask()).toBe(200)
})

test('a store that fails is left alone for a while, then asked again', async () => {
  let failing = true
  let asked = 0
  const ask = await gatewayOver((hash) => {
    asked++
    if (failing) throw new Error('away')
    return known.find(hash)
  })
  for (let index = 0; index < 50; index++) expect(await ask()).toBe(503)
  expect(asked).toBeLessThan(20)
  failing = false
  await expect.poll(ask, { interval: 20 }).toBe(200)
})
