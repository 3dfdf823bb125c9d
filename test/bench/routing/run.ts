/**
 * What routing saves and costs: `npm run bench:routing`. Cached prompts with several deployments, keys and processes; shares of
 * deployments; requests that overflow a window; dead keys; the renewal of tokens; the time of a choice. Takes four minutes.
 */
import { scriptedVendor, type ScriptedVendor, type VendorReply } from '../../../src/testing/vendor.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Child } from '../child.ts'
import { cachingVendor, converse } from './caching-vendor.ts'
import { choosingMicros, moves, sharesOff } from './choices.ts'
import type { Started } from './gateway.ts'
import { renewals } from './tokens.ts'

const children = Array.from({ length: 4 }, () => new Child('./routing/gateway.ts'))
const say = (...words: readonly unknown[]) => process.stdout.write(`${words.join(' ')}\n`)
const percent = (part: number, digits = 1) => `${(part * 100).toFixed(digits)} %`

async function start(processes: number, started: Started): Promise<readonly string[]> {
  return Promise.all(children.slice(0, processes).map((child) => child.ask<string>('start', started)))
}

/** Sends the messages to one of the processes, and returns the status. */
async function send(urls: readonly string[], random: () => number, messages: readonly object[]): Promise<number> {
  const response = await fetch(`${urls[Math.floor(random() * urls.length)]}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-bench', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages }),
  })
  await response.arrayBuffer()
  return response.status
}

async function withVendors<T>(
  replies: readonly VendorReply[],
  work: (vendors: readonly ScriptedVendor[]) => Promise<T>,
) {
  const vendors = await Promise.all(replies.map((reply) => scriptedVendor(reply)))
  try {
    return await work(vendors)
  } finally {
    await Promise.all(vendors.map((vendor) => vendor.close()))
  }
}

/** The cached share of the prompt tokens of 300 conversations of 20 turns. */
async function cachedShare(
  places: number,
  keys: number,
  processes: number,
  affinity: 'auto' | 'none',
): Promise<number> {
  const caching = Array.from({ length: places }, (_, index) => cachingVendor(`place ${index}`))
  await withVendors(
    caching.map(({ reply }) => reply),
    async (vendors) => {
      const names = Array.from({ length: keys }, (_, index) => `key-${index}`)
      const deployments = vendors.map(({ baseURL }) => ({ baseURL }))
      const urls = await start(processes, { deployments, keys: names, affinity })
      const random = seeded(7)
      await converse({ conversations: 300, turns: 20, concurrency: 16 }, async (messages) => {
        const status = await send(urls, random, messages)
        if (status !== 200) throw new Error(`status ${status}`)
      })
    },
  )
  const sum = (name: 'prompt' | 'cached') => caching.reduce((total, { totals }) => total + totals[name], 0)
  return sum('cached') / sum('prompt')
}

async function caches(): Promise<void> {
  const single = await cachedShare(1, 1, 1, 'auto')
  say('300 conversations × 20 turns                      cached   of one deployment with one key')
  const row = (name: string, share: number) => say(name.padEnd(50), percent(share), ' ', percent(share / single))
  row('1 deployment, 1 key, 1 process', single)
  row('3 deployments × 2 keys, 4 processes, affinity', await cachedShare(3, 2, 4, 'auto'))
  row('3 deployments × 2 keys, 4 processes, by weight', await cachedShare(3, 2, 4, 'none'))
}

async function overflow(): Promise<void> {
  const refusing: VendorReply = (_, response) => {
    const error = { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  }
  await withVendors([refusing, cachingVendor('large').reply], async ([small, large]) => {
    const [first, second] = [small?.baseURL ?? '', large?.baseURL ?? '']
    // The estimate says that it fits, and the vendor that it does not.
    const deployments = [
      { baseURL: first, contextWindow: 8_000, order: 0 },
      { baseURL: second, contextWindow: 128_000, order: 1 },
    ]
    const urls = await start(1, { deployments, keys: ['key'], affinity: 'auto' })
    let refused = 0
    await converse({ conversations: 1_000, turns: 1, concurrency: 16 }, async (messages) => {
      if ((await send(urls, Math.random, messages)) !== 200) refused++
    })
    say(`1,000 requests too long for the first window: ${refused} refused, ${small?.requests.length} tried there`)
  })
}

async function deadKeys(): Promise<void> {
  const caching = cachingVendor('keys')
  const asked = new Map<string, number>()
  const reply: VendorReply = (request, response) => {
    const key = String(request.headers.authorization).slice(7)
    asked.set(key, (asked.get(key) ?? 0) + 1)
    if (!key.startsWith('dead')) return caching.reply(request, response)
    response.writeHead(key === 'dead-1' ? 401 : 403, { 'content-type': 'application/json' }).end('{"error":{}}')
  }
  await withVendors([reply], async ([vendor]) => {
    const deployments = [{ baseURL: vendor?.baseURL ?? '' }]
    const urls = await start(4, { deployments, keys: ['dead-1', 'live-1', 'dead-2', 'live-2'], affinity: 'auto' })
    let failed = 0
    await converse({ conversations: 250, turns: 4, concurrency: 1 }, async (messages) => {
      if ((await send(urls, Math.random, messages)) !== 200) failed++
    })
    const dead = (asked.get('dead-1') ?? 0) + (asked.get('dead-2') ?? 0)
    say(`1,000 calls with four keys, two of them dead, 4 processes: ${failed} failed, ${dead} attempts with dead keys`)
  })
}

await caches()
const off = sharesOff().map((each) => `${each.toFixed(1)} %`)
say(`shares of 30,000 sessions at weights 5 : 3 : 2, off by ${off.join(', ')}`)
const [leaves, returns] = moves()
say(
  `one leaves: ${leaves?.moved} sessions move, ${leaves?.own} of them its own; it returns: ${returns?.moved}, ${returns?.own}`,
)
await overflow()
await deadKeys()
const { first, whileDown, afterwards, failed } = await renewals()
say(
  `500 calls at once: ${first} token fetched; the endpoint is down for ${whileDown.seconds} s: ${whileDown.asked} attempts, ` +
    `${whileDown.calls} calls; then ${afterwards} fetched; ${failed} calls failed`,
)
for (const prefer of [undefined, 'price', 'latency'] as const)
  say(`a choice of 6 deployments and 4 keys, ${prefer ?? 'by weight'}: ${choosingMicros(prefer).toFixed(1)} µs`)
for (const child of children) child.stop()
