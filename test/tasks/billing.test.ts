/** Billing of videos, over HTTP and the memory ledger. */
import { describe, expect, test } from 'vitest'
import {
  createGateway,
  memoryLedger,
  memoryTaskStore,
  type Alert,
  type GatewayOptions,
  type Receipt,
} from '../../src/index.ts'
import type { Provider, VideoStatus } from '../../src/providers/index.ts'
import { hosted } from '../hosted.ts'

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
  const ask = async (path: string, body?: object, more: Record<string, string> = {}) => {
    const init =
      body === undefined
        ? { headers }
        : { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) }
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

test('the receipt names the session and the agent of the submission', async () => {
  const { ask, receipts, pass } = await served(() => ({ state: 'completed', url: 'https://v.example/1' }))
  const named = { 'session-id': 's-1', 'x-claude-code-agent-id': 'explorer' }
  const { body } = await ask('/v1/videos/generations', { model: 'film', prompt: 'x', duration: 10 }, named)
  pass(6_000)
  await ask(`/v1/videos/generations/${body['id']}`)
  expect(receipts).toMatchObject([{ account: 'a', group: 'half', session: 's-1', agent: 'explorer' }])
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
