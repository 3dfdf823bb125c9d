import { channel } from 'node:diagnostics_channel'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AdmissionEnd } from '../../adapters/stores/index.ts'
import {
  memoryLedger,
  memoryLimitStore,
  memoryUsageStore,
  type Failure,
  type Ledger,
  type StorageBundle,
  type UsageStore,
} from '../../src/index.ts'
import { askChat } from '../hosted.ts'
import { scene, whole } from './scene.ts'

async function funded(): Promise<Ledger> {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 9_000n, reference: 'start' })
  return ledger
}

/** A bundle that records every call. */
async function bundle(): Promise<{ storage: StorageBundle; calls: string[]; endings: AdmissionEnd[] }> {
  const calls: string[] = []
  const endings: AdmissionEnd[] = []
  const ledger = spied(await funded(), 'ledger', calls)
  const limits = spied(memoryLimitStore(), 'limits', calls)
  const admission = {
    limits,
    ledger,
    async admit(...[claim, hold]: Parameters<NonNullable<StorageBundle['admission']>['admit']>) {
      calls.push('admission.admit')
      return { limits: { admitted: true, left: claim.rates.map(() => 1), free: [] }, hold: await ledger.hold(hold) }
    },
    finish(batch: readonly AdmissionEnd[]) {
      calls.push('admission.finish')
      endings.push(...batch)
    },
  }
  return { storage: { limits, ledger, admission }, calls, endings }
}

function spied<T extends object>(store: T, name: string, calls: string[]): T {
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      return (...input: unknown[]): unknown => {
        calls.push(`${name}.${String(property)}`)
        return Reflect.apply(value, target, input)
      }
    },
  })
}

const options = {
  billing: { currency: 'CNY' },
  groups: { default: { models: '*' as const, rate: { requests: '9/min', concurrent: 3 } } },
} as const

describe('before the vendor is called', () => {
  test('an admission store of limits and money is called once', async () => {
    const { storage, calls, endings } = await bundle()
    const before: string[] = []
    const { url, receipt } = await scene(
      (request, response) => {
        before.push(...calls)
        void whole(request, response)
      },
      { ...options, storage },
    )
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    expect(before.filter((call) => call.startsWith('admission'))).toEqual(['admission.admit'])
    expect(calls.filter((call) => call.startsWith('admission'))).toEqual(['admission.admit', 'admission.finish'])
    expect(endings).toMatchObject([{ returned: { corrections: [] }, end: { account: 'acme', amount: 30n } }])
    expect(calls).not.toContain('limits.take')
  })

  test('the admission store is not used if one of its stores was replaced', async () => {
    const { storage, calls } = await bundle()
    const { url, receipt } = await scene(whole, { ...options, storage: { ...storage, limits: memoryLimitStore() } })
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    expect(calls.filter((call) => call.startsWith('admission'))).toEqual([])
    expect(calls).toEqual(['ledger.hold', 'ledger.settle'])
  })

  test('the consumed limits are refunded when the balance is insufficient', async () => {
    const { url } = await scene(whole, {
      billing: { currency: 'CNY' },
      groups: { default: { models: '*', rate: { tokens: '5000/min', concurrent: 1 } } },
      storage: { ledger: memoryLedger() },
    })
    for (let attempt = 0; attempt < 3; attempt++) {
      const rejected = await askChat(url, { max_tokens: 4_000 })
      expect(await rejected.json()).toMatchObject({ error: { code: 'insufficient_quota' } })
    }
  })
})

describe('after the response', () => {
  test('no client waits for the ledger or the usage store', async () => {
    const end = Promise.withResolvers<void>()
    const { url, receipt, gateway } = await scene(whole, {
      ...options,
      storage: {
        ledger: {
          ...bound(await funded()),
          settle: async () => end.promise.then(() => ({ outcome: 'settled', charged: 30n, overage: 0n })),
        },
        usage: { ...bound(memoryUsageStore()), append: async () => end.promise },
      },
    })
    expect((await askChat(url)).status).toBe(200)
    expect(await receipt()).toMatchObject({ charge: { cost: '0.00003' } })
    end.resolve()
    await gateway.close()
  })

  test('a failed settlement is retried until it succeeds, and charges once', async () => {
    const ledger = await funded()
    let failures = 3
    const settled = Promise.withResolvers<void>()
    const flaky: Ledger = {
      ...bound(ledger),
      async settle(settlement) {
        // Fails twice before the settlement is stored, once after.
        if (failures-- > 1) throw new Error('connection lost')
        const verdict = await ledger.settle(settlement)
        if (failures === 0) throw new Error('connection lost on the way back')
        settled.resolve()
        return verdict
      },
    }
    const { url } = await scene(whole, { ...options, storage: { ledger: flaky } })
    expect((await askChat(url)).status).toBe(200)
    await settled.promise
    expect(await ledger.account('acme')).toMatchObject({ balance: 8_970n, held: 0n })
  })

  test('close() waits for pending settlements and usage records', async () => {
    const ledger = await funded()
    const usage = memoryUsageStore()
    const open = Promise.withResolvers<void>()
    const { url, gateway } = await scene(whole, {
      ...options,
      storage: {
        ledger: {
          ...bound(ledger),
          async settle(settlement) {
            await open.promise
            return ledger.settle(settlement)
          },
        },
        usage: {
          ...bound(usage),
          async append(records) {
            await open.promise
            return usage.append(records)
          },
        },
      },
    })
    await askChat(url)
    const closing = gateway.close()
    open.resolve()
    await closing
    expect(await ledger.account('acme')).toMatchObject({ balance: 8_970n, held: 0n })
    expect((await usage.list({})).items).toHaveLength(1)
  })

  test('a usage store that is down loses only the records over the queue size, and each loss is published', async () => {
    const failures: Failure[] = []
    const listen = (failure: unknown) => failures.push(failure as Failure)
    channel('modelhatch:failure').subscribe(listen)
    onTestFinished(() => {
      channel('modelhatch:failure').unsubscribe(listen)
    })
    let isDown = true
    const down: UsageStore = {
      ...bound(memoryUsageStore()),
      append() {
        if (isDown) throw new Error('down')
      },
    }
    const { url, receipt } = await scene(whole, { usage: { queue: 2 }, storage: { usage: down } })
    for (let request = 0; request < 4; request++) {
      expect((await askChat(url)).status).toBe(200)
      await receipt()
    }
    expect(failures).toHaveLength(2)
    isDown = false
  })

  test('a usage store that is down rejects requests with whenFull: refuse', async () => {
    const usage = memoryUsageStore()
    let isDown = true
    const taken = Promise.withResolvers<void>()
    const flaky: UsageStore = {
      ...bound(usage),
      append(records) {
        if (isDown) throw new Error('down')
        void usage.append(records)
        taken.resolve()
      },
    }
    const { url, receipt } = await scene(whole, { usage: { queue: 1, whenFull: 'refuse' }, storage: { usage: flaky } })
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    expect((await askChat(url)).status).toBe(503)
    isDown = false
    await taken.promise
    expect((await askChat(url)).status).toBe(200)
  })
})

describe('a ledger that is down', () => {
  test('rejects all requests with retry-after', async () => {
    const { url, vendor } = await scene(whole, {
      billing: { currency: 'CNY' },
      storage: { ledger: { ...bound(memoryLedger()), hold: () => Promise.reject(new Error('down')) } },
    })
    const rejected = await askChat(url)
    expect(rejected.status).toBe(503)
    expect(rejected.headers.get('retry-after')).toBe('1')
    expect(vendor.requests).toHaveLength(0)
  })

  test('that never responds is given up after storeMs, and the hold it may have made is released', async () => {
    const ledger = await funded()
    const released = Promise.withResolvers<string>()
    const { url } = await scene(whole, {
      billing: { currency: 'CNY' },
      timeouts: { storeMs: 30 },
      storage: {
        ledger: {
          ...bound(ledger),
          async hold(hold) {
            await ledger.hold(hold)
            return new Promise(() => undefined)
          },
          async release(hold) {
            await ledger.release(hold)
            released.resolve(hold.id)
          },
        },
      },
    })
    expect((await askChat(url)).status).toBe(503)
    await released.promise
    expect(await ledger.account('acme')).toMatchObject({ balance: 9_000n, held: 0n })
  })
})

describe('a long request', () => {
  test('renews its hold and its concurrency slot', async () => {
    let now = 0
    const ledger = memoryLedger({ clock: () => now })
    await ledger.credit({ account: 'acme', amount: 9_000n, reference: 'start' })
    const limits = memoryLimitStore()
    const renewed = { money: Promise.withResolvers<void>(), slots: Promise.withResolvers<void>() }
    const end = Promise.withResolvers<void>()
    const { url } = await scene(
      async (request, response) => {
        await end.promise
        await whole(request, response)
      },
      {
        billing: { currency: 'CNY', leaseMs: 600 },
        groups: options.groups,
        storage: {
          ledger: {
            ...bound(ledger),
            async renew(holds, ms) {
              await ledger.renew(holds, ms)
              // Without renewal the hold would expire at 600.
              now += 500
              if (now > 600) renewed.money.resolve()
            },
          },
          limits: {
            ...bound(limits),
            async renew(holders, ms) {
              await limits.renew(holders, ms)
              renewed.slots.resolve()
            },
          },
        },
      },
    )
    const pending = askChat(url)
    await renewed.money.promise
    await renewed.slots.promise
    expect((await ledger.account('acme'))?.held).toBeGreaterThan(0n)
    end.resolve()
    expect((await pending).status).toBe(200)
    expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 8_970n })
  })
})

/** The methods of a store as an object that can be spread. */
function bound<T extends object>(store: T): T {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(store)).filter((name) => name !== 'constructor')
  const entries = names.map((name) => [name, (Reflect.get(store, name) as () => unknown).bind(store)])
  return Object.fromEntries(entries) as T
}
