/** The renewal of a token under load, with a token endpoint over HTTP that can be down. */
import { openai } from '../../../src/providers/index.ts'
import { createGateway } from '../../../src/index.ts'
import { scriptedVendor } from '../../../src/testing/vendor.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { mount } from '../../../adapters/hosts/node.ts'
import { cachingVendor } from './caching-vendor.ts'

/** Tokens are renewed in their last five minutes. */
const [lifeMs, renewedAfterMs] = [3_600_000, 3_310_000]
const concurrency = 500

export interface Renewals {
  readonly first: number
  readonly whileDown: { readonly asked: number; readonly calls: number; readonly seconds: number }
  readonly afterwards: number
  readonly failed: number
}

/** Calls of 500 at once: with a new token, with one that is to be renewed while the endpoint is down, and once it is up again. */
export async function renewals(): Promise<Renewals> {
  let [asked, failed, isDown] = [0, 0, false]
  const endpoint = await scriptedVendor((_, response) => {
    asked++
    response.writeHead(isDown ? 503 : 200).end(isDown ? '' : `token-${asked}`)
  })
  const vendor = await scriptedVendor(cachingVendor('tokens').reply)
  const apiKey = async () => {
    const response = await fetch(endpoint.baseURL, { method: 'POST' })
    const text = await response.text()
    if (!response.ok) throw new Error('the token endpoint is down')
    return { token: text, expiresAt: Date.now() + lifeMs }
  }
  const gateway = createGateway({
    models: { m: openai({ baseURL: vendor.baseURL, apiKey }) },
    keys: { 'sk-bench': {} },
  })
  const server = createServer(mount(gateway))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`
  const burst = async () => {
    const call = async () => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-bench', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
      })
      await response.arrayBuffer()
      if (response.status !== 200) failed++
    }
    await Promise.all(Array.from({ length: concurrency }, call))
  }
  const askedIn = async (work: () => Promise<unknown>) => {
    const before = asked
    await work()
    return asked - before
  }
  const first = await askedIn(burst)
  const clock = Date.now
  Date.now = () => clock() + renewedAfterMs
  isDown = true
  const until = performance.now() + 10_000
  let calls = 0
  const down = await askedIn(async () => {
    for (; performance.now() < until; calls += concurrency) await burst()
  })
  isDown = false
  await wait(1_100)
  const afterwards = await askedIn(burst)
  server.closeAllConnections()
  server.close()
  await Promise.all([gateway.close(), vendor.close(), endpoint.close()])
  return { first, whileDown: { asked: down, calls, seconds: 10 }, afterwards, failed }
}
