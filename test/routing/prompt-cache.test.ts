/**
 * Cached prompts at a vendor with a prefix cache for each key, in blocks of 128 tokens: several deployments and keys, several
 * processes, each turn at another process. With MODELHATCH_LONG as many conversations as a small service has.
 */
import { openai } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { cachingVendor, converse } from '../bench/routing/caching-vendor.ts'
import { askChat, hostedWith, vendorFor } from '../hosted.ts'
import { long } from '../long.ts'
import { seeded } from '../../src/testing/random.ts'

const [conversations, turns, processes] = long ? [300, 20, 4] : [24, 6, 3]
/** The share of the prompt tokens that were cached. */
async function cachedShare(regions: number, keys: number, affinity: 'auto' | 'none'): Promise<number> {
  const vendors = await Promise.all(
    Array.from({ length: regions }, async (_, index) => {
      const { totals, reply } = cachingVendor(`region-${index}`)
      return { totals, baseURL: (await vendorFor(reply)).baseURL }
    }),
  )
  const random = seeded(7)
  const gateways = await Promise.all(
    Array.from({ length: processes }, () => {
      const route = vendors.map(({ baseURL }, index) => {
        const apiKey = Array.from({ length: keys }, (_, key) => `key-${key}`)
        return { provider: openai({ name: `vendor-${index}`, baseURL, apiKey }), order: 0 }
      })
      return hostedWith({ models: { m: { route } }, affinity, random })
    }),
  )
  await converse({ conversations, turns, concurrency: 8 }, async (messages) => {
    const { url } = gateways[Math.floor(random() * processes)] as (typeof gateways)[number]
    const response = await askChat(url, { messages })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  })
  const sum = (name: 'prompt' | 'cached') => vendors.reduce((total, { totals }) => total + totals[name], 0)
  return sum('cached') / sum('prompt')
}

test('are as many with several deployments and keys as with one, and fewer if each request goes anywhere', async () => {
  const single = await cachedShare(1, 1, 'auto')
  const together = await cachedShare(3, 2, 'auto')
  const anywhere = await cachedShare(3, 1, 'none')
  if (long) console.log({ single, together, anywhere })
  expect(together).toBeGreaterThan(0.95 * single)
  expect(anywhere).toBeLessThan(0.9 * single)
})
