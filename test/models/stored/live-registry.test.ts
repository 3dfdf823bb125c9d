/** What is served of the options and of the registry together, and what administration refuses. */
import { describe, expect, test } from 'vitest'
import { createGateway, memoryLedger, memoryRegistryStore, type GatewayOptions } from '../../../src/index.ts'
import { demo, openai } from '../../../src/providers/index.ts'
import { whole } from '../../admission/scene.ts'
import { askChat, hostedWith, vendorFor } from '../../hosted.ts'

const provider = demo({ paceMs: 0 })

async function served(options: Partial<GatewayOptions> = {}, stored = memoryRegistryStore()) {
  const made = await hostedWith({
    models: {},
    registry: { providers: { demo: provider } },
    storage: { registry: stored },
    ...options,
  })
  const { admin } = made.gateway
  const status = async (model: string) => (await askChat(made.url, { model })).status
  const listed = async () => {
    const response = await fetch(`${made.url}/v1/models`, { headers: { authorization: 'Bearer sk-test' } })
    return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
  }
  return { ...made, stored, admin, registry: admin.registry, status, listed }
}

const deployments = [{ provider: 'demo' }]

describe('models', () => {
  test('of the registry are listed and served beside those of the options, by their other names and as wildcards too', async () => {
    const { registry, status, listed } = await served({ models: { own: provider } })
    await registry.models.create({ id: 'new', deployments, aliases: ['newer'], displayName: 'New' })
    await registry.models.create({ id: 'any/*', deployments })
    expect((await listed()).slice(0, 3)).toEqual(['own', 'new', 'any/demo'])
    for (const name of ['own', 'new', 'newer', 'any/thing']) expect(await status(name), name).toBe(200)
    expect(await status('any/')).toBe(404)
  })

  test('a model of the options wins, is shown as set in code, and is not edited', async () => {
    const stored = memoryRegistryStore()
    const before = await served({}, stored)
    await before.registry.models.create({ id: 'm', deployments, disabled: true })
    expect(await before.status('m')).toBe(404)
    const { registry, status } = await served({ models: { m: { provider, displayName: 'Mine' } } }, stored)
    expect(await status('m')).toBe(200)
    const deployment = { provider: 'demo' }
    expect(await registry.models.list()).toEqual([
      { id: 'm', source: 'options', displayName: 'Mine', deployments: [deployment] },
    ])
    const set = { status: 409, message: expect.stringMatching(/"m" is set in code/) }
    await expect(registry.models.update('m', { disabled: true })).rejects.toMatchObject(set)
    await expect(registry.models.remove('m')).rejects.toMatchObject(set)
    await expect(registry.models.create({ id: 'm', deployments })).rejects.toMatchObject(set)
  })

  test('a route names models of both, and leaves out what is disabled', async () => {
    const vendor = await vendorFor(whole)
    const named = (name: string) => openai({ name, baseURL: vendor.baseURL })
    const providers = { first: named('first'), second: named('second') }
    const { registry, status, receipt } = await served({ models: { own: named('own') }, registry: { providers } })
    await registry.models.create({ id: 'a', deployments: [{ provider: 'first' }] })
    await registry.models.create({ id: 'b', deployments: [{ model: 'a' }, { provider: 'second' }, { model: 'own' }] })
    const next = async () => {
      expect(await status('b')).toBe(200)
      return (await receipt()).provider
    }
    expect(await next()).toBe('first')
    await registry.models.update('a', { disabled: true })
    expect(await next()).toBe('second')
    await registry.models.update('b', {
      deployments: [{ model: 'a' }, { provider: 'second', disabled: true }, { model: 'own' }],
    })
    expect(await next()).toBe('own')
    await registry.models.update('b', { deployments: [{ model: 'a' }] })
    expect(await status('b')).toBe(404)
    await expect(registry.models.remove('a')).rejects.toMatchObject({
      status: 409,
      message: expect.stringMatching(/names "a", which is not a model/),
    })
  })

  test.each([
    [
      { deployments: [{ provider: 'other' }] },
      /"other" is not in "registry.providers" of the options, which has: demo/,
    ],
    [{ deployments: [] }, /deployments/],
    [{ deployments: [{ model: 'new' }] }, /leads back to "new"/],
    [{ deployments: [{ model: 'missing' }] }, /names "missing", which is not a model/],
    [{ deployments: [{ provider: 'demo', model: 'own' }] }, /needs "provider" or "model"/],
    [{ deployments, aliases: ['own'] }, /"own" is the name of a model already/],
    [{ deployments, groups: ['other'] }, /"other" is not a group/],
    [{ deployments, set: { model: 'x' } }, /cannot fix "model"/],
    [{ deployments, id: 'any/*', more: 1 }, /unknown option "more"/],
    [{ deployments: [...deployments, ...deployments], id: 'any/*' }, /ends in "\*" has exactly one/],
  ])('%j is refused', async (fields, message) => {
    const { registry } = await served({ models: { own: provider } })
    const refused = { status: 400, message: expect.stringMatching(message) }
    await expect(registry.models.create({ id: 'new', ...fields })).rejects.toMatchObject(refused)
    expect(await registry.models.list()).toHaveLength(1)
  })

  test('one with a provider that this process lacks is not served here, says why, and does no harm to others', async () => {
    const stored = memoryRegistryStore()
    const before = await served({ registry: { providers: { demo: provider, gone: provider } } }, stored)
    await before.registry.models.create({ id: 'a', deployments: [{ provider: 'gone' }] })
    await before.registry.models.create({ id: 'b', deployments })
    const { registry, status } = await served({}, stored)
    expect([await status('a'), await status('b')]).toEqual([404, 200])
    expect((await registry.models.find('a'))?.fault).toMatch(/"gone" is not in "registry.providers"/)
    await registry.models.update('b', { note: 'changed' })
  })

  test('what a store returns that is no valid entry is left out', async () => {
    const stored = memoryRegistryStore()
    await stored.put({ kind: 'model', id: 'odd', version: 1, value: { deployments: 'none' } })
    await stored.put({ kind: 'later' as never, id: 'odd', version: 1, value: 7 })
    await stored.put({ kind: 'group', id: '__proto__', version: 1, value: { models: '*' } })
    const { registry, status } = await served({ models: { own: provider } }, stored)
    expect([await status('odd'), await status('own')]).toEqual([404, 200])
    expect((await registry.models.find('odd'))?.fault).toMatch(/"deployments"/)
  })
})

describe('groups', () => {
  test('of the registry hold for keys at once, and the default group can be changed unless the options have groups', async () => {
    const { admin, registry, url, status } = await served({ models: { own: provider, other: provider } })
    await registry.groups.create({ id: 'some', models: ['own'], rate: { requests: '3/h' } })
    const { key } = await admin.keys.create({ account: 'acme', group: 'some' })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const ask = async (model: string) => (await askChat(url, { model }, { headers })).status
    expect([await ask('own'), await ask('other')]).toEqual([200, 404])
    expect(await ask('own')).toBe(200)
    expect(await ask('own')).toBe(429)
    await registry.groups.update('some', { rate: null, models: '*' })
    expect([await ask('own'), await ask('other')]).toEqual([200, 200])
    await registry.groups.create({ id: 'default', models: ['other'] })
    expect([await status('own'), await status('other')]).toEqual([404, 200])
    await registry.groups.remove('default')
    expect(await status('own')).toBe(200)
    await registry.groups.remove('some')
    expect(await ask('own')).toBe(404)
    await expect(admin.keys.create({ account: 'acme', group: 'some' })).rejects.toMatchObject({ status: 400 })
  })

  test('set in code are not edited; unknown models and caps that could not be kept are refused', async () => {
    const { registry } = await served({ groups: { default: { models: '*' } } })
    await expect(registry.groups.update('default', { weight: 2 })).rejects.toMatchObject({ status: 409 })
    expect(await registry.groups.list()).toEqual([{ id: 'default', source: 'options', models: '*' }])
    await expect(registry.groups.create({ id: 'a', models: ['typo'] })).rejects.toThrow(/"typo" is not a model/)
    const caps = [{ name: 'c', period: 'month' as const, money: '1' }]
    await expect(registry.groups.create({ id: 'a', models: '*', caps })).rejects.toThrow(/need the option "billing"/)
  })
})

describe('prices', () => {
  const billing = { currency: 'USD' }

  async function billed(options: Partial<GatewayOptions> = {}) {
    let answer = Promise.withResolvers<void>()
    answer.resolve()
    const vendor = await vendorFor(async (request, response) => {
      await answer.promise
      void whole(request, response)
    })
    let time = 1_900_000_000_000
    const ledger = memoryLedger()
    const made = await served({
      registry: { providers: { ours: openai({ baseURL: vendor.baseURL }) } },
      keys: { 'sk-test': { account: 'acme' } },
      storage: { ledger, registry: memoryRegistryStore() },
      clock: () => time,
      billing,
      ...options,
    })
    await made.admin.accounts.topUp({ account: 'acme', amount: '100', reference: 'start' })
    const cost = async () => (await made.receipt()).charge?.cost
    const pass = (ms: number) => (time += ms)
    const hold = () => (answer = Promise.withResolvers())
    return { ...made, vendor, cost, pass, now: () => time, hold, go: () => answer.resolve() }
  }

  test('apply from their moment on; a call keeps the price and the factor of its admission', async () => {
    const { registry, status, cost, pass, now, hold, go, vendor } = await billed()
    await registry.models.create({ id: 'new', deployments: [{ provider: 'ours' }] })
    expect(await status('new'), 'without a price').toBe(503)
    const input = { input: '0', output: '1000' }
    expect(await registry.prices.create({ model: 'new', price: input })).toMatchObject({
      from: now(),
      isPlanned: false,
    })
    expect(await status('new')).toBe(200)
    expect(await cost()).toBe('0.02')
    const from = now() + 60_000
    await registry.prices.create({ model: 'new', price: { ...input, output: '2000' }, from })
    pass(59_999)
    expect(await status('new')).toBe(200)
    expect(await cost()).toBe('0.02')
    hold()
    const calls = vendor.requests.length
    const running = status('new')
    await expect.poll(() => vendor.requests.length).toBe(calls + 1)
    pass(1)
    await registry.groups.create({ id: 'default', models: '*', priceMultiplier: '3' })
    go()
    expect(await running).toBe(200)
    expect(await cost()).toBe('0.02')
    expect(await status('new')).toBe(200)
    expect(await cost()).toBe('0.12')
  })

  test('never apply to the past, are removed before they apply, and are listed', async () => {
    const { registry, pass, now } = await billed()
    await registry.models.create({ id: 'new', deployments: [{ provider: 'ours' }] })
    const price = { output: '1' }
    await registry.prices.create({ model: 'new', price })
    const begun = now()
    for (const from of [begun - 1_000, begun, begun + 1_999]) {
      await expect(registry.prices.create({ model: 'new', price, from })).rejects.toMatchObject({ status: 400 })
    }
    const from = begun + 10_000
    await registry.prices.create({ model: 'new', price: { output: '5' }, from })
    await expect(registry.prices.create({ model: 'new', price, from })).rejects.toMatchObject({ status: 409 })
    await registry.prices.remove({ model: 'new', from })
    await expect(registry.prices.remove({ model: 'new', from })).rejects.toMatchObject({ status: 404 })
    await registry.prices.create({ model: 'new', price: { output: '6' }, from })
    expect(await registry.prices.list({ model: 'new' })).toEqual([
      { model: 'new', from, price: { output: '6' }, isPlanned: true },
      { model: 'new', from: begun, price, isPlanned: false },
    ])
    pass(9_000)
    await expect(registry.prices.remove({ model: 'new', from })).rejects.toMatchObject({ status: 409 })
  })

  test('set in code win, also over one in the store; an invalid or an incomplete one is refused', async () => {
    const models = { own: { provider, price: { output: '1' } }, plain: { provider, price: { output: '0' } } }
    const { registry } = await billed({ models })
    const set = { status: 409, message: expect.stringMatching(/"own" is set in code/) }
    await expect(registry.prices.create({ model: 'own', price: { output: '9' } })).rejects.toMatchObject(set)
    await expect(registry.prices.create({ model: 'none', price: {} })).rejects.toThrow(/"none" is not a model/)
    await registry.models.create({ id: 'new', deployments: [{ provider: 'ours' }] })
    await registry.models.create({ id: 'gone', deployments: [{ provider: 'ours' }] })
    await registry.models.remove('gone')
    await expect(registry.prices.create({ model: 'gone', price: {} })).rejects.toThrow(/"gone" is not a model/)
    await expect(registry.prices.create({ model: 'new', price: { output: 'x' } })).rejects.toMatchObject({
      status: 400,
    })
    await expect(registry.prices.create({ model: 'new', price: { cached: '1' } })).rejects.toThrow(
      /charges nothing for/,
    )
  })
})

test('what a deployment costs the host is counted', async () => {
  const { registry, admin, status } = await served({ billing: { currency: 'USD', unpriced: 'free' } })
  await registry.models.create({ id: 'new', deployments: [{ provider: 'demo', cost: { output: '1000000' } }] })
  await expect(
    registry.models.create({ id: 'other', deployments: [{ provider: 'demo', cost: { output: 'x' } }] }),
  ).rejects.toThrow(/cost.output/)
  expect(await status('new')).toBe(200)
  await expect
    .poll(async () => Number((await admin.usage.list({ all: true, costs: true })).items[0]?.vendorCost ?? 0))
    .toBeGreaterThan(0)
})

test('every change is in the audit log, with what was before and after', async () => {
  const { admin } = await served()
  const { registry } = admin.by({ name: 'ada' })
  await registry.models.create({ id: 'new', deployments })
  await registry.models.update('new', { note: 'a' })
  await registry.models.remove('new')
  await registry.groups.create({ id: 'g', models: '*' })
  const { items } = await admin.auditLog.list()
  expect(items.map(({ action, target, actor }) => [action, target, actor]).toReversed()).toEqual([
    ['models.create', 'new', 'ada'],
    ['models.update', 'new', 'ada'],
    ['models.remove', 'new', 'ada'],
    ['groups.create', 'g', 'ada'],
  ])
  expect(items[2]).toMatchObject({ before: { version: 1 }, after: { version: 2, note: 'a' } })
  expect(items[1]).toMatchObject({ before: { version: 2, note: 'a' } })
  expect(items[1]).not.toHaveProperty('after')
})

test('without the option, administration says what is missing, and a map of models is required with it', async () => {
  const gateway = createGateway({ models: { m: provider } })
  expect(gateway.admin.offers().registry).toBe(false)
  await expect(gateway.admin.registry.models.list()).rejects.toThrow(/The option "registry" lets/)
  const models = { find: () => undefined, list: () => [] }
  expect(() => createGateway({ models, registry: { providers: {} } })).toThrow(/registry: needs "models" to be a map/)
  expect(() => createGateway({ models: {}, registry: { providers: { a: {} as never } } })).toThrow(
    /registry.providers.a/,
  )
})
