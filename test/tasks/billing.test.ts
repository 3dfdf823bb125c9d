/** Billing of videos, over HTTP and the memory ledger. */
import { describe, expect, test } from 'vitest'
import {
  createGateway,
  memoryLedger,
  memoryTaskStore,
  type Alert,
  type Cap,
  type GatewayOptions,
  type Receipt,
  type TaskEvent,
} from '../../src/index.ts'
import type { Provider, VideoStatus, VideoVendorOptions } from '../../src/providers/index.ts'
import { openaiVideo, seedanceVideo, xaiVideo } from '../../src/providers/index.ts'
import { hosted, vendorFor } from '../hosted.ts'

const provider = (status: () => VideoStatus): Provider => ({
  name: 'sim',
  video: { submit: 'token', start: async () => ({ id: '1' }), check: async () => status() },
})

async function served(status: () => VideoStatus, rate?: string, changes: Partial<GatewayOptions> = {}) {
  let now = Date.now()
  const clock = () => now
  const receipts: Receipt[] = []
  const ledger = memoryLedger({ clock })
  const gateway = createGateway({
    keys: { 'sk-a': { account: 'a', group: 'half' } },
    groups: {
      half: { models: '*', priceMultiplier: '0.5', ...(rate !== undefined && { rate: { requests: rate as '1/min' } }) },
    },
    models: { film: { provider: provider(status), price: { second: '0.1', request: '1' } } },
    billing: { currency: 'CNY' },
    ...changes,
    storage: { ledger, tasks: memoryTaskStore() },
    hooks: { ...changes.hooks, receipt: (receipt) => receipts.push(receipt) },
    clock,
  })
  await ledger.credit({ account: 'a', amount: 2_000_000n, reference: 'order-1' })
  const url = await hosted(gateway)
  const headers = { authorization: 'Bearer sk-a', 'content-type': 'application/json' }
  const ask = async (path: string, body?: object) => {
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(url + path, init)
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, string>,
    }
  }
  const submit = (duration = 10) => ask('/v1/videos/generations', { model: 'film', prompt: 'x', duration })
  const balance = async () => (await ledger.account('a'))?.balance
  return { ask, submit, url, balance, ledger, receipts, gateway, pass: (ms: number) => void (now += ms) }
}

test('the price is held at submission and settled at completion', async () => {
  const { ask, submit, balance, ledger, receipts, pass } = await served(() => ({
    state: 'completed',
    url: 'https://v.example/1',
  }))
  const { body } = await submit()
  expect(await balance()).toBe(1_000_000n)
  pass(6_000)
  expect((await ask(`/v1/videos/generations/${body['id']}`)).body).toMatchObject({ status: 'completed' })
  expect(await ledger.account('a')).toMatchObject({ balance: 1_000_000n, held: 0n })
  expect(receipts).toMatchObject([
    { id: body['id'], outcome: 'completed', units: { seconds: 10 }, charge: { cost: '1', basis: 'reported' } },
  ])
  expect((await ledger.audit()).faults).toEqual([])
})

test('a video shorter than requested is charged for its actual length', async () => {
  const { ask, submit, balance, pass } = await served(() => ({
    state: 'completed',
    url: 'https://v.example/1',
    seconds: 4,
  }))
  const { body } = await submit()
  pass(6_000)
  await ask(`/v1/videos/generations/${body['id']}`)
  expect(await balance()).toBe(2_000_000n - 700_000n)
})

test('a failed video costs nothing', async () => {
  const { ask, submit, balance, pass } = await served(() => ({ state: 'failed', error: 'No.' }))
  const { body } = await submit()
  pass(6_000)
  expect((await ask(`/v1/videos/generations/${body['id']}`)).body).toMatchObject({ status: 'failed' })
  expect(await balance()).toBe(2_000_000n)
})

test('without balance, rejects with a final 429 insufficient_quota and calls no vendor', async () => {
  const { submit, balance } = await served(() => ({ state: 'processing' }))
  await submit()
  await submit()
  const third = await submit()
  expect([third.status, third.headers.get('x-should-retry')]).toEqual([429, 'false'])
  expect(third.body['error']).toMatchObject({ code: 'insufficient_quota' })
  expect(await balance()).toBe(0n)
})

test('submissions count against the rate limit of the group, polls do not', async () => {
  const { ask, submit } = await served(() => ({ state: 'processing' }), '1/min')
  const { body } = await submit()
  for (let poll = 0; poll < 5; poll++) expect((await ask(`/v1/videos/generations/${body['id']}`)).status).toBe(200)
  const second = await submit()
  expect(second.status).toBe(429)
  expect(second.body['error']).toMatchObject({ code: 'rate_limit_exceeded' })
})

describe('50 videos that are deleted as soon as the vendor has them', () => {
  const price = { second: '0.1', request: '1' }
  type Vendor = readonly [name: string, make: (options: VideoVendorOptions) => Provider, cancelled: number]
  const vendors: readonly Vendor[] = [
    ['xAI, which cannot cancel', xaiVideo, 404],
    ['a vendor that refuses to cancel', openaiVideo, 409],
    ['a vendor that deletes the job', openaiVideo, 200],
  ]
  const confirming: Vendor = ['a vendor that confirms that it made nothing', seedanceVideo, 200]

  async function deletedAtOnce([, make, status]: Vendor, caps?: readonly Cap[]) {
    let jobs = 0
    let isOver = false
    const gone = new Set<string>()
    const vendor = await vendorFor(({ method, url }, response) => {
      const id = url.split('/').at(-1) ?? ''
      if (method === 'DELETE' && status === 200) gone.add(id)
      const known = { status: isOver ? 'succeeded' : 'running', video_url: 'https://v.example/1' }
      const job = { ...known, video: { url: known.video_url }, content: known }
      const state = make === seedanceVideo && gone.has(id) ? { status: 'cancelled' } : job
      const found = method === 'DELETE' ? status : make === openaiVideo && gone.has(id) ? 404 : 200
      if (method === 'POST') jobs++
      const started = { id: `job${jobs}`, request_id: `job${jobs}` }
      response.writeHead(found, { 'content-type': 'application/json' })
      response.end(JSON.stringify(method === 'POST' ? started : state))
    })
    const ended: TaskEvent[] = []
    const { promise: allEnded, resolve } = Promise.withResolvers<void>()
    const { submit, url, ledger, gateway, receipts, pass } = await served(() => ({ state: 'processing' }), undefined, {
      models: { film: { provider: make({ baseURL: vendor.baseURL, apiKey: 'sk-vendor' }), price } },
      keys: { 'sk-a': { account: 'a', group: 'half', ...(caps && { caps }) } },
      tasks: { sweepMs: 10 },
      hooks: { task: (event) => void (event.type === 'failed' && ended.push(event) === jobs && resolve()) },
    })
    for (let at = 0; at < 50; at++) {
      const { status: answered, body } = await submit()
      if (answered >= 300) continue
      const headers = { authorization: 'Bearer sk-a' }
      expect((await fetch(`${url}/v1/videos/${body['id']}`, { method: 'DELETE', headers })).status).toBe(200)
    }
    isOver = true
    const clock = setInterval(() => pass(6_000), 10)
    await allEnded
    clearInterval(clock)
    await gateway.close()
    const account = await ledger.account('a')
    expect(account?.held).toBe(0n)
    expect(receipts.every(({ outcome }) => outcome !== 'completed')).toBe(true)
    return { jobs, charged: 2_000_000n - (account?.balance ?? 0n) }
  }

  test.each(vendors)('are charged, and end with the balance: %s', async (...vendor) => {
    expect(await deletedAtOnce(vendor)).toEqual({ jobs: 2, charged: 2_000_000n })
  })

  test.each(vendors)('count in caps: %s', async (...vendor) => {
    const caps = [{ name: 'daily', period: 'day', money: '1.5' }] as const
    expect(await deletedAtOnce(vendor, caps)).toEqual({ jobs: 1, charged: 1_000_000n })
  })

  test('cost nothing at a vendor that confirms it', async () => {
    const { jobs, charged } = await deletedAtOnce(confirming)
    expect(jobs).toBeGreaterThanOrEqual(2)
    expect(charged).toBe(0n)
  })
})

describe('caps of videos', () => {
  const caps = [{ name: 'daily', period: 'day', money: '1.5', calls: 9, thresholds: [60] } as const]
  const key = { account: 'a', group: 'half', caps }

  test('count the price of a video in the period of its submission, and refuse the one that would pass them', async () => {
    const alerts: Alert[] = []
    const { ask, submit, balance, gateway, pass } = await served(
      () => ({ state: 'completed', url: 'https://v.example/1' }),
      undefined,
      { keys: { 'sk-a': key }, hooks: { alert: (alert) => void alerts.push(alert) }, tasks: { sweepMs: 3_600_000 } },
    )
    const { body } = await submit()
    const [view] = await gateway.admin.caps.list({
      account: 'a',
      key: (await gateway.admin.keys.list('a'))[0]?.id ?? '',
    })
    expect(view).toMatchObject({ held: { money: '1', calls: 1 }, used: { money: '0', calls: 0 } })
    const second = await submit()
    expect(second.status).toBe(429)
    expect(second.body['error']).toMatchObject({ code: 'insufficient_quota' })
    expect(second.body['error']).toMatchObject({
      message: expect.stringContaining('0 CNY used and 1 CNY held for open requests, of 1.5 CNY') as string,
    })
    expect(await balance()).toBe(1_000_000n)
    // The next day.
    pass(24 * 3_600_000 - 60_000)
    expect((await ask(`/v1/videos/generations/${body['id']}`)).status).toBe(200)
    await gateway.close({ graceMs: 0 })
    expect(alerts).toMatchObject([
      { type: 'cap.threshold', percent: 60, measure: 'money', used: '1', request: expect.any(String) as string },
    ])
    const [{ periodStart = 0, createdAt = 0 } = {}] = alerts as { periodStart?: number; createdAt?: number }[]
    expect(createdAt).toBeGreaterThan(periodStart)
  })

  test('a failed video counts nothing', async () => {
    const { ask, submit, gateway, pass } = await served(() => ({ state: 'failed', error: 'No.' }), undefined, {
      keys: { 'sk-a': key },
    })
    const { body } = await submit()
    pass(6_000)
    await ask(`/v1/videos/generations/${body['id']}`)
    const [view] = await gateway.admin.caps.list({
      account: 'a',
      key: (await gateway.admin.keys.list('a'))[0]?.id ?? '',
    })
    expect(view).toMatchObject({ held: { money: '0', calls: 0 }, used: { money: '0', calls: 0 } })
  })

  test('free videos count as calls', async () => {
    const { submit } = await served(() => ({ state: 'processing' }), undefined, {
      keys: { 'sk-a': { ...key, account: 'new', caps: [{ name: 'c', period: 'day', calls: 1 }] } },
      groups: { half: { models: '*', priceMultiplier: '0' } },
    })
    expect((await submit()).status).toBeLessThan(300)
    expect((await submit()).status).toBe(429)
  })
})
