/**
 * Compares the table of outages in the guide to storage with a gateway: for each row a store fails, for each column a
 * request is sent. A cell is `served` or the status of the error.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { keyRecord } from '../../../src/callers/key.ts'
import {
  memoryAuditStore,
  memoryContentKeyStore,
  memoryContentStore,
  memoryRegistryStore,
  memoryIdempotencyStore,
  memoryKeyStore,
  memoryLedger,
  memoryLimitStore,
  memoryResponseStore,
  memoryTaskStore,
  memoryUsageStore,
  memoryVendorKeyStore,
  type GatewayOptions,
  type Ledger,
  type StorageBundle,
} from '../../../src/index.ts'
import { demo, type Provider } from '../../../src/providers/index.ts'
import { hostedWith } from '../../hosted.ts'

const readme = readFileSync(new URL('../../../adapters/stores/README.md', import.meta.url), 'utf8')
const [, table = ''] = /<!-- outages -->\n([\s\S]*?)\n<!-- \/outages -->/.exec(readme) ?? []
const [header = [], , ...rows] = table.split('\n').map((line) =>
  line
    .split('|')
    .map((cell) => cell.trim())
    .slice(1, -1),
)

/** A request for each column. */
const requests: Readonly<Record<string, (ask: Ask) => Promise<Answered>>> = {
  'free, without limits': (ask) => ask('free', '/chat/completions', { model: 'free', messages }),
  'with limits': (ask) => ask('limited', '/chat/completions', { model: 'free', messages }),
  paid: (ask) => ask('free', '/chat/completions', { model: 'paid', messages }),
  'a response continued': async (ask) => {
    const first = await ask('free', '/responses', { model: 'free', input: 'Hi' })
    if (first.status !== 200) return first
    const { id = 'resp_none' } = first.body as { id?: string }
    return ask('free', '/responses', { model: 'free', input: 'Go on', previous_response_id: id })
  },
  'with `Idempotency-Key`': (ask) =>
    ask('free', '/chat/completions', { model: 'free', messages }, { 'idempotency-key': crypto.randomUUID() }),
  'a video': (ask) => ask('free', '/videos/generations', { model: 'film', prompt: 'A hatch opens', duration: 5 }),
}
const messages = [{ role: 'user', content: 'Hi' }]

interface Answered {
  readonly status: number
  readonly body: object
}

type Ask = (key: string, path: string, body: object, headers?: Record<string, string>) => Promise<Answered>

interface Outage {
  /** The store that fails. */
  readonly store: keyof StorageBundle
  readonly options?: Partial<GatewayOptions>
}

/** A provider that takes keys of accounts. */
const ownable: Provider = { ...demo({ paceMs: 0 }), withKey: () => ownable }

const keeping = { content: { encryptionKey: 'a secret of at least 32 characters' } }

/** The outage for the first cell of each row. */
const outages: Readonly<Record<string, Outage>> = {
  '`keys`': { store: 'keys' },
  '`limits`': { store: 'limits' },
  "`limits`, with `whenDown: 'local'`": { store: 'limits', options: { limits: { whenDown: 'local' } } },
  '`ledger`': { store: 'ledger' },
  '`usage`': { store: 'usage' },
  '`responses`': { store: 'responses' },
  '`idempotency`': { store: 'idempotency' },
  '`tasks`': { store: 'tasks' },
  '`background`': { store: 'background' },
  '`audit`': { store: 'audit' },
  '`content`, with the option `content`': { store: 'content', options: keeping },
  '`contentKeys`, with the option `content`': { store: 'contentKeys', options: keeping },
  '`vendorKeys`, with `ownKeys.secrets`': {
    store: 'vendorKeys',
    options: {
      models: {
        free: ownable,
        paid: { provider: ownable, price: { input: '1', output: '1' } },
        film: demo({ paceMs: 0 }),
      },
      ownKeys: { secrets: ['a secret of at least 32 characters'] },
    },
  },
  '`registry`': { store: 'registry', options: { registry: { providers: {} } } },
}

/** How a store can fail. */
const ways: [string, () => Promise<never>][] = [
  ['rejects', () => Promise.reject(new Error('connection refused'))],
  ['never responds', () => new Promise(() => undefined)],
]

/** A store whose every method fails. */
function broken<T extends object>(store: T, fail: () => Promise<never>): T {
  return new Proxy(store, {
    get(target, name) {
      const isCall = typeof Reflect.get(target, name) === 'function' && name !== 'close' && name !== 'watch'
      return isCall ? fail : undefined
    },
  })
}

async function gatewayWith(changes: StorageBundle, options: Partial<GatewayOptions> = {}) {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const keys = ['free', 'limited'].map((group) => keyRecord(`sk-${group}`, { group, account: 'acme' }, 0))
  const stores = {
    keys: memoryKeyStore(keys),
    limits: memoryLimitStore(),
    ledger,
    usage: memoryUsageStore(),
    responses: memoryResponseStore(),
    idempotency: memoryIdempotencyStore(),
    tasks: memoryTaskStore(),
    background: memoryTaskStore(),
    audit: memoryAuditStore(),
    content: memoryContentStore(),
    contentKeys: memoryContentKeyStore(),
    vendorKeys: memoryVendorKeyStore(),
    registry: memoryRegistryStore(),
  }
  const { url, gateway, receipt } = await hostedWith({
    models: {
      free: demo({ paceMs: 0 }),
      paid: { provider: demo({ paceMs: 0 }), price: { input: '1', output: '1' } },
      film: demo({ paceMs: 0 }),
    },
    groups: {
      free: { models: '*' },
      limited: { models: '*', rate: { requests: '100/min', tokens: '100000/min', concurrent: 9 } },
    },
    billing: { currency: 'CNY', unpriced: 'free' },
    timeouts: { storeMs: 40, authMs: 40 },
    ...options,
    keys: undefined,
    storage: { ...stores, ...changes },
  } as unknown as GatewayOptions)
  const ask: Ask = async (key, path, body, headers = {}) => {
    const response = await fetch(`${url}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as object }
  }
  return { ask, gateway, stores, receipt }
}

function storeOf(name: keyof StorageBundle): object {
  const stores: Partial<Record<keyof StorageBundle, object>> = {
    keys: memoryKeyStore(),
    limits: memoryLimitStore(),
    ledger: memoryLedger(),
    usage: memoryUsageStore(),
    responses: memoryResponseStore(),
    idempotency: memoryIdempotencyStore(),
    tasks: memoryTaskStore(),
    background: memoryTaskStore(),
    audit: memoryAuditStore(),
    content: memoryContentStore(),
    contentKeys: memoryContentKeyStore(),
    vendorKeys: memoryVendorKeyStore(),
    registry: memoryRegistryStore(),
  }
  return stores[name] ?? {}
}

test('the table has a row for every store and a column for every kind of request', () => {
  expect(rows.map(([name]) => name)).toEqual(Object.keys(outages))
  expect(header.slice(1, -1)).toEqual(Object.keys(requests))
})

describe.each(ways)('a store that %s:', (_, fail) => {
  test.each(Object.entries(outages))('%s', async (row, { store, options }) => {
    const documented = rows.find(([name]) => name === row)?.slice(1, -1)
    const { ask } = await gatewayWith({ [store]: broken(storeOf(store), fail) }, options)
    const actual: string[] = []
    for (const send of Object.values(requests)) {
      const { status } = await send(ask)
      actual.push(status === 200 ? 'served' : String(status))
    }
    expect(actual).toEqual(documented)
  })
})

describe('while the limit store is down, with whenDown: local,', () => {
  test.each(ways)('paid requests are limited and charged: a store that %s', async (_, fail) => {
    const limits = broken(memoryLimitStore(), fail)
    const groups = {
      free: { models: '*' },
      limited: { models: '*', rate: { requests: '12/h', concurrent: 9 } },
    } as const
    const { ask, stores } = await gatewayWith({ limits }, { limits: { whenDown: 'local' }, groups })
    const statuses: number[] = []
    for (let request = 0; request < 13; request++) statuses.push(await paid(ask))
    expect(statuses).toEqual([...Array.from({ length: 12 }, () => 200), 429])
    await expect.poll(() => booked(stores.ledger)).toMatchObject({ settled: 12, holds: 0n })
  })

  test('a request without balance is rejected and consumes neither tokens nor a concurrency slot', async () => {
    const limits = broken(memoryLimitStore(), () => Promise.reject(new Error('connection refused')))
    const groups = { limited: { models: '*', rate: { tokens: '5000/min', concurrent: 1 } } } as const
    const { ask } = await gatewayWith({ limits, ledger: memoryLedger() }, { limits: { whenDown: 'local' }, groups })
    for (let request = 0; request < 3; request++) expect(await paid(ask, { max_tokens: 4_000 })).toBe(429)
    const free = { model: 'free', messages, max_tokens: 4_000 }
    expect((await ask('limited', '/chat/completions', free)).status).toBe(200)
  })
})

test('requests are charged while the limit store cannot free their concurrency slots', async () => {
  const limits = memoryLimitStore()
  const stuck = {
    take: (claim: Parameters<typeof limits.take>[0]) => limits.take(claim),
    give: () => Promise.reject(new Error('connection refused')),
    renew: () => Promise.reject(new Error('connection refused')),
  }
  const { ask, stores } = await gatewayWith({ limits: stuck })
  let settlements = 0
  const settle = stores.ledger.settle.bind(stores.ledger)
  stores.ledger.settle = (settlement) => {
    settlements++
    return settle(settlement)
  }
  for (let request = 0; request < 8; request++) expect(await paid(ask)).toBe(200)
  await expect.poll(() => booked(stores.ledger)).toMatchObject({ settled: 8, holds: 0n })
  expect(settlements).toBe(8)
})

test('releases do not pile up while a failing ledger is skipped', async () => {
  const memory = memoryLedger()
  let down = true
  const failing = <Input, Output>(act: (input: Input) => Promise<Output> | Output) => {
    return async (input: Input): Promise<Output> => {
      if (down) throw new Error('connection refused')
      return act(input)
    }
  }
  const released = new Set<string>()
  const ledger: Ledger = {
    hold: failing((hold) => memory.hold(hold)),
    settle: failing((settlement) => memory.settle(settlement)),
    release: failing((hold) => {
      released.add(hold.id)
      return memory.release(hold)
    }),
    renew: async () => undefined,
    credit: async (credit) => memory.credit(credit),
    open: async (account) => memory.open(account),
    account: async (id) => memory.account(id),
    audit: async () => memory.audit(),
  }
  const counted = memoryLimitStore()
  const limits = {
    take: async (claim: Parameters<typeof counted.take>[0]) => counted.take(claim),
    give: async (returned: Parameters<typeof counted.give>[0]) => counted.give(returned),
    renew: async () => undefined,
  }
  const { ask } = await gatewayWith({ limits, ledger })
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const began = performance.now()
  for (let round = 0; round < 10; round++) {
    const statuses = await Promise.all(Array.from({ length: 9 }, async () => paid(ask)))
    expect(new Set(statuses)).toEqual(new Set([503]))
  }
  down = false
  await expect.poll(() => paid(ask)).toBe(200)
  await expect.poll(() => released.size).toBeGreaterThan(0)
  // Requests that reached the ledger before it was skipped, and one attempt every 250 ms.
  expect(released.size).toBeLessThan(20 + (performance.now() - began) / 250)
})

async function paid(ask: Ask, more: object = {}): Promise<number> {
  return (await ask('limited', '/chat/completions', { model: 'paid', messages, ...more })).status
}

async function booked(ledger: Ledger) {
  const entries = await ledger.entries?.('acme', {})
  const settled = (entries?.items ?? []).filter(({ kind }) => kind === 'settle').length
  const { holds, faults } = await ledger.audit()
  expect(faults).toEqual([])
  return { settled, holds }
}
