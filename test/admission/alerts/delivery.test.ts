import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createGateway, memoryLedger, type Alert, type Ledger } from '../../../src/index.ts'
import { AlertDelivery, type DeliveryOptions } from '../../../src/admission/alerts/delivery.ts'
import { Observer } from '../../../src/observe/observe.ts'
import { Guard } from '../../../src/records/guard.ts'
import { askChat } from '../../hosted.ts'
import { scene, whole } from '../scene.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** A ledger with its own clock, and what delivers its alerts. */
function world(options: Partial<DeliveryOptions> = {}) {
  const time = { now: Date.parse('2026-11-22T12:00:00Z') }
  const ledger = memoryLedger({ clock: () => time.now })
  const failures: unknown[] = []
  const process = (changes: Partial<DeliveryOptions> = {}) => {
    const made = new AlertDelivery({
      caps: ledger.caps as NonNullable<Ledger['caps']>,
      guard: new Guard({ name: 'the ledger', timeoutMs: 1_000, now: () => performance.now() }),
      hook: undefined,
      webhooks: undefined,
      observer: new Observer({ failure: (failure) => failures.push(failure.error) }),
      now: () => time.now,
      everyMs: 1_000,
      ...options,
      ...changes,
    })
    onTestFinished(() => made.close())
    return made
  }
  const record = (id: string) =>
    ledger.settle({
      id: `req_${id}`,
      account: 'acme',
      amount: 5n,
      balanceThresholds: [{ id, at: 0n, notice: '{"type":"balance.low","level":"0"}' }],
    })
  return { ledger, process, record, failures, pass: (ms: number) => void (time.now += ms) }
}

describe('an alert', () => {
  test('is delivered once if the hook accepts it', async () => {
    const seen: Alert[] = []
    const { process, record, pass } = world({ hook: (alert) => seen.push(alert) })
    await record('evt_1')
    const [one, other] = [process(), process()]
    await Promise.all([one.deliver(), other.deliver(), one.deliver()])
    expect(seen).toEqual([
      {
        id: 'evt_1',
        type: 'balance.low',
        account: 'acme',
        request: 'req_evt_1',
        createdAt: Date.parse('2026-11-22T12:00:00Z'),
        level: '0',
        balance: '-0.000005',
      },
    ])
    pass(3_600_000)
    await other.deliver()
    expect(seen).toHaveLength(1)
  })

  test('is delivered again with the same id if the hook rejects, and given up after six attempts', async () => {
    const seen: string[] = []
    const hook = (alert: Alert) => {
      seen.push(alert.id)
      throw new Error('no')
    }
    const { process, record, failures, pass } = world({ hook })
    await record('evt_1')
    const one = process()
    const counts = []
    for (const pauseMs of [0, 5_000, 60_000, 300_000, 1_800_000, 7_200_000, 86_400_000]) {
      pass(pauseMs - 1)
      await one.deliver()
      pass(1)
      await one.deliver()
      counts.push(seen.length)
    }
    expect(counts).toEqual([1, 2, 3, 4, 5, 6, 6])
    expect(new Set(seen)).toEqual(new Set(['evt_1']))
    expect(failures).toMatchObject([{ message: 'no' }])
  })

  test('is delivered by another process if the first one dies meanwhile', async () => {
    const { ledger, process, record, pass } = world()
    await record('evt_1')
    // Taken by a process that died.
    expect(await ledger.caps?.claimNotices(10, 40_000)).toHaveLength(1)
    const seen: string[] = []
    const other = process({ hook: (alert) => seen.push(alert.id) })
    await other.deliver()
    expect(seen).toEqual([])
    pass(40_000)
    await other.deliver()
    expect(seen).toEqual(['evt_1'])
  })

  test('waits for a process that has somewhere to deliver it to', async () => {
    const { process, record } = world()
    await record('evt_1')
    await process().deliver()
    const seen: string[] = []
    const listener = (message: unknown) => void seen.push((message as Alert).id)
    subscribe('modelhatch:alert', listener)
    onTestFinished(() => void unsubscribe('modelhatch:alert', listener))
    await process().deliver()
    expect(seen).toEqual(['evt_1'])
  })

  test('stays due while the ledger is down', async () => {
    const { ledger, process, record } = world()
    await record('evt_1')
    const seen: string[] = []
    const down = { ...ledger.caps, claimNotices: () => Promise.reject(new Error('down')) } as DeliveryOptions['caps']
    await process({ caps: down, hook: (alert) => seen.push(alert.id) }).deliver()
    await process({ hook: (alert) => seen.push(alert.id) }).deliver()
    expect(seen).toEqual(['evt_1'])
  })

  test('is sent as a signed webhook, again until the endpoint accepts it', async () => {
    const bodies: { headers: Record<string, string>; body: string }[] = []
    const statuses = [500, 200]
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (piece: Buffer) => (body += piece.toString()))
      request.on('end', () => {
        bodies.push({ headers: request.headers as Record<string, string>, body })
        response.writeHead(statuses.shift() ?? 200).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { process, record, pass } = world({
      webhooks: {
        endpoint: ({ account }) => (account === 'acme' ? { url, secret } : undefined),
        allowPrivateNetwork: true,
      },
    })
    await record('evt_1')
    const one = process()
    await one.deliver()
    await one.deliver()
    expect(bodies).toHaveLength(1)
    pass(5_000)
    await one.deliver()
    pass(86_400_000)
    await one.deliver()
    expect(bodies).toHaveLength(2)
    const client = new OpenAI({ apiKey: 'sk-none', webhookSecret: secret })
    for (const { headers, body } of bodies) {
      await client.webhooks.verifySignature(body, headers, secret, 1e12)
      expect(headers['webhook-id']).toBe('evt_1')
    }
    expect(JSON.parse(bodies[0]?.body ?? '')).toEqual({
      id: 'evt_1',
      object: 'event',
      created_at: Date.parse('2026-11-22T12:00:00Z') / 1000,
      type: 'balance.low',
      data: { account: 'acme', request: 'req_evt_1', level: '0', balance: '-0.000005' },
    })
  })

  test('is not sent to a private address', async () => {
    const { process, record, failures, pass } = world({
      webhooks: { endpoint: () => ({ url: 'http://127.0.0.1:9/', secret }) },
    })
    await record('evt_1')
    const one = process()
    for (let count = 0; count < 8; count++) {
      await one.deliver()
      pass(7_200_000)
    }
    expect(failures).toMatchObject([{ message: 'the webhook URL must resolve to a public address' }])
  })
})

describe('a gateway', () => {
  test('reports the thresholds of caps and low balances once each, with the call that reached them', async () => {
    const alerts: Alert[] = []
    let now = Date.parse('2026-11-22T12:00:00Z')
    const ledger = memoryLedger({ clock: () => now })
    await ledger.credit({ account: 'acme', amount: 250n, reference: 'start' })
    const { url, receipt, gateway } = await scene(whole, {
      clock: () => now,
      keys: {
        'sk-test': { account: 'acme', caps: [{ name: 'calls', period: 'day', calls: 4, thresholds: [50, 100] }] },
      },
      billing: {
        currency: 'EUR',
        caps: [{ name: 'monthly', period: 'month', money: '0.0002', thresholds: [20, 30] }],
        lowBalance: ['0.0002'],
      },
      hooks: { alert: (alert) => void alerts.push(alert) },
      storage: { ledger },
    })
    const ids = []
    for (let count = 0; count < 3; count++) {
      expect((await askChat(url, { max_tokens: 20 })).status).toBe(200)
      ids.push((await receipt()).id)
      await expect.poll(async () => (await ledger.account('acme'))?.held).toBe(0n)
      now += 1_000
    }
    await gateway.close({ graceMs: 0 })
    const day = { periodStart: Date.parse('2026-11-22T00:00:00Z'), periodEnd: Date.parse('2026-11-23T00:00:00Z') }
    const month = { periodStart: Date.parse('2026-11-01T00:00:00Z'), periodEnd: Date.parse('2026-12-01T00:00:00Z') }
    const cap = { type: 'cap.threshold', account: 'acme', group: 'default' } as const
    const keyId = alerts.map((alert) => ('key' in alert ? alert.key : undefined)).find((key) => key !== undefined)
    expect(alerts).toMatchObject([
      {
        ...cap,
        request: ids[1],
        cap: 'calls',
        per: 'key',
        key: keyId,
        measure: 'calls',
        percent: 50,
        limit: '4',
        used: '2',
        ...day,
      },
      {
        ...cap,
        request: ids[1],
        cap: 'monthly',
        per: 'account',
        measure: 'money',
        percent: 20,
        limit: '0.0002',
        used: '0.00006',
        ...month,
      },
      {
        ...cap,
        request: ids[1],
        cap: 'monthly',
        per: 'account',
        measure: 'money',
        percent: 30,
        limit: '0.0002',
        used: '0.00006',
        ...month,
      },
      { type: 'balance.low', account: 'acme', request: ids[1], level: '0.0002', balance: '0.00019' },
    ])
    expect(new Set(alerts.map(({ id }) => id)).size).toBe(4)
  })

  test('starts nothing for alerts without a hook or webhooks', async () => {
    const gateway = createGateway({ models: {}, billing: { currency: 'EUR' } })
    await gateway.close()
  })
})
