import { channel } from 'node:diagnostics_channel'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CallEnd } from '../../adapters/stores/index.ts'
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

/** A bundle whose every round trip is written down. */
async function bundle(): Promise<{ storage: StorageBundle; trips: string[]; endings: CallEnd[] }> {
  const trips: string[] = []
  const endings: CallEnd[] = []
  const ledger = spied(await funded(), 'ledger', trips)
  const limits = spied(memoryLimitStore(), 'limits', trips)
  const joint = {
    limits,
    ledger,
    async admit(...[claim, hold]: Parameters<NonNullable<StorageBundle['joint']>['admit']>) {
      trips.push('joint.admit')
      return { limits: { admitted: true, left: claim.rates.map(() => 1), free: [] }, hold: await ledger.hold(hold) }
    },
    finish(batch: readonly CallEnd[]) {
      trips.push('joint.finish')
      endings.push(...batch)
    },
  }
  return { storage: { limits, ledger, joint }, trips, endings }
}

function spied<T extends object>(store: T, name: string, trips: string[]): T {
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      return (...input: unknown[]): unknown => {
        trips.push(`${name}.${String(property)}`)
        return Reflect.apply(value, target, input)
      }
    },
  })
}

const options = {
  billing: { currency: 'CNY' },
  groups: { default: { models: '*' as const, rate: { requests: '9/min', concurrent: 3 } } },
} as const

describe('before the vendor is called,', () => {
  test('a bundle that keeps limits and money together is asked once', async () => {
    const { storage, trips, endings } = await bundle()
    const before: string[] = []
    const { url, receipt } = await scene(
      (request, response) => {
        before.push(...trips)
        void whole(request, response)
      },
      { ...options, storage },
    )
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    expect(before.filter((trip) => trip.startsWith('joint'))).toEqual(['joint.admit'])
    expect(trips.filter((trip) => trip.startsWith('joint'))).toEqual(['joint.admit', 'joint.finish'])
    expect(endings).toMatchObject([{ returned: { corrections: [] }, end: { account: 'acme', amount: 30n } }])
    expect(trips).not.toContain('limits.take')
  })

  test('two stores of which one was replaced are asked one after the other, and never the bundle as a whole', async () => {
    const { storage, trips } = await bundle()
    const { url, receipt } = await scene(whole, { ...options, storage: { ...storage, limits: memoryLimitStore() } })
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    expect(trips.filter((trip) => trip.startsWith('joint'))).toEqual([])
    expect(trips).toEqual(['ledger.hold', 'ledger.settle'])
  })

  test('what was drawn of the limits is given back when there is no money', async () => {
    const { url } = await scene(whole, {
      billing: { currency: 'CNY' },
      groups: { default: { models: '*', rate: { tokens: '5000/min', concurrent: 1 } } },
      storage: { ledger: memoryLedger() },
    })
    for (let asked = 0; asked < 3; asked++) {
      const refused = await askChat(url, { max_tokens: 4_000 })
      expect(await refused.json()).toMatchObject({ error: { code: 'insufficient_quota' } })
    }
  })
})

describe('after the answer,', () => {
  test('nobody waits for the ledger or the usage store', async () => {
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

  test('a settlement that fails is repeated until it is taken, once', async () => {
    const ledger = await funded()
    let failures = 3
    const settled = Promise.withResolvers<void>()
    const flaky: Ledger = {
      ...bound(ledger),
      async settle(settlement) {
        // Twice it fails before it is written down, once after.
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

  test('close() waits for what is still untold', async () => {
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

  test('a usage store that is down costs records beyond the queue, which are counted and told', async () => {
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
    for (let asked = 0; asked < 4; asked++) {
      expect((await askChat(url)).status).toBe(200)
      await receipt()
    }
    expect(failures).toHaveLength(2)
    isDown = false
  })

  test('a usage store that is down refuses further calls, where no record may be lost', async () => {
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
  test('lets nobody in, and says when to try again', async () => {
    const { url, vendor } = await scene(whole, {
      billing: { currency: 'CNY' },
      storage: { ledger: { ...bound(memoryLedger()), hold: () => Promise.reject(new Error('down')) } },
    })
    const refused = await askChat(url)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(vendor.requests).toHaveLength(0)
  })

  test('that never answers is waited for no longer than the deadline, and the hold it may have made is released', async () => {
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

describe('a call that goes on for long', () => {
  test('keeps what it holds alive', async () => {
    const ledger = await funded()
    const limits = memoryLimitStore()
    const renewed = { money: Promise.withResolvers<void>(), places: Promise.withResolvers<void>() }
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
              renewed.money.resolve()
            },
          },
          limits: {
            ...bound(limits),
            async renew(holders, ms) {
              await limits.renew(holders, ms)
              renewed.places.resolve()
            },
          },
        },
      },
    )
    const asking = askChat(url)
    await renewed.money.promise
    await renewed.places.promise
    expect((await ledger.account('acme'))?.held).toBeGreaterThan(0n)
    end.resolve()
    expect((await asking).status).toBe(200)
    expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 8_970n })
  })
})

/** The methods of a store as an object that can be spread. */
function bound<T extends object>(store: T): T {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(store)).filter((name) => name !== 'constructor')
  const entries = names.map((name) => [name, (Reflect.get(store, name) as () => unknown).bind(store)])
  return Object.fromEntries(entries) as T
}
