import { describe, expect, test } from 'vitest'
import { adminApi } from 'modelhatch/admin'
import { memoryUsageStore } from '../../../src/index.ts'
import { defineProvider, finish, retrySame } from '../../../src/providers/index.ts'
import { authorize, gatewayWith, record, served } from './served.ts'

describe('keys', () => {
  test('are created, shown once, listed, changed, rotated and revoked', async () => {
    const { ask } = await served()
    const created = await ask('admin', '/accounts/acme/keys', {
      body: { group: 'default', name: 'laptop', open: true },
    })
    expect(created.status).toBe(201)
    const { key, record: made } = created.json
    expect(key).toMatch(/^sk-.{40,}/)
    const listed = await ask('admin', '/keys?account=acme&limit=10')
    expect(listed.json).toEqual({ items: [made] })
    expect(listed.text).not.toContain(key)
    expect((await ask('admin', `/accounts/acme/keys/${made.id}`)).json).toEqual(made)
    const changed = await ask('admin', `/accounts/acme/keys/${made.id}`, {
      method: 'PATCH',
      body: { name: null, rate: { concurrent: 2 } },
    })
    expect(changed.json).toMatchObject({ id: made.id, rate: { concurrent: 2 } })
    expect(changed.json.name).toBeUndefined()
    const rotated = await ask('admin', `/accounts/acme/keys/${made.id}/rotate`, { body: { overlapMs: 1_000 } })
    expect(rotated.status).toBe(201)
    expect(rotated.json.record.continues).toBe(made.id)
    const revoked = await ask('admin', `/accounts/acme/keys/${made.id}/revoke`, { body: {} })
    expect(revoked.json.revokedAt).toEqual(expect.any(Number))
    const found = await ask('admin', '/keys?state=active')
    expect(found.json.items.map((each: { id: string }) => each.id)).toEqual([rotated.json.record.id])
  })

  test('for the playground work, and expire in minutes', async () => {
    const { ask, gateway } = await served()
    await gateway.admin.accounts.topUp({ account: 'acme', amount: '5', reference: 'r1' })
    const minted = await ask('admin', '/accounts/acme/playground-key', { body: { group: 'vip', minutes: 2 } })
    expect(minted.status).toBe(201)
    const { key, record: made } = minted.json
    expect(made).toMatchObject({ group: 'vip', name: 'Playground', tags: ['playground'] })
    expect(made.expiresAt - made.createdAt).toBe(120_000)
    const { status } = await gateway.handle({
      method: 'GET',
      target: '/v1/models',
      headers: { authorization: `Bearer ${key}` },
      body: { state: 'lost' },
      signal: new AbortController().signal,
    })
    expect(status).toBe(200)
  })
})

describe('accounts', () => {
  test('are opened, topped up, adjusted and listed with their entries', async () => {
    const { ask } = await served()
    expect((await ask('admin', '/accounts', { body: { id: 'acme', name: 'Acme' } })).status).toBe(201)
    const payment = { amount: '50', reference: 'order-1', note: 'thanks' }
    expect((await ask('admin', '/accounts/acme/top-ups', { body: payment })).json).toEqual({
      balance: '50',
      repeated: false,
    })
    expect((await ask('admin', '/accounts/acme/top-ups', { body: payment })).json.repeated).toBe(true)
    const other = await ask('admin', '/accounts/acme/top-ups', { body: { ...payment, amount: '60' } })
    expect([other.status, other.json.error.code]).toEqual([409, 'conflict'])
    const adjusted = await ask('admin', '/accounts/acme/adjustments', { body: { amount: '-7.5', reference: 'fix-1' } })
    expect(adjusted.json.balance).toBe('42.5')
    expect((await ask('admin', '/accounts/acme')).json).toMatchObject({ id: 'acme', name: 'Acme', balance: '42.5' })
    const entries = await ask('admin', '/accounts/acme/entries?limit=1')
    expect(entries.json.items).toMatchObject([{ amount: '-7.5', kind: 'credit', reference: 'fix-1' }])
    const older = await ask('admin', `/accounts/acme/entries?limit=1&after=${entries.json.next}`)
    expect(older.json.items).toMatchObject([{ amount: '50', note: 'thanks' }])
    expect((await ask('admin', '/accounts')).json.items).toHaveLength(1)
    expect((await ask('admin', '/audit')).json).toMatchObject({ accounts: 1, balances: '42.5', faults: [] })
    expect((await ask('admin', '/accounts/typo', { method: 'PATCH', body: { unlimited: true } })).status).toBe(404)
  })

  test('are found by the beginning of their ids', async () => {
    const { ask } = await served()
    for (const id of ['ab', 'a', 'abc', 'abd', 'b', 'AB']) await ask('admin', '/accounts', { body: { id } })
    const ids = async (query: string) => {
      const { json } = await ask('admin', `/accounts?${query}`)
      return [json.items.map((each: { id: string }) => each.id), json.next]
    }
    expect(await ids('prefix=ab')).toEqual([['ab', 'abc', 'abd'], undefined])
    expect(await ids('prefix=ab&limit=2')).toEqual([['ab', 'abc'], 'abc'])
    expect(await ids('prefix=ab&limit=2&after=abc')).toEqual([['abd'], undefined])
    expect(await ids('prefix=ab&limit=1')).toEqual([['ab'], 'ab'])
    expect(await ids('prefix=b')).toEqual([['b'], undefined])
    expect(await ids('prefix=zz')).toEqual([[], undefined])
    expect(await ids('prefix=')).toEqual([['AB', 'a', 'ab', 'abc', 'abd', 'b'], undefined])
    expect((await ask('admin', '/accounts?prefix=%20')).status).toBe(400)
  })

  test('have caps, which the operator can override', async () => {
    const { ask } = await served()
    const path = '/accounts/acme/caps'
    const listed = await ask('admin', `${path}?group=default`)
    expect(listed.json.items).toMatchObject([{ cap: 'monthly', limits: { money: '100' }, used: { money: '0' } }])
    const body = { group: 'default', limits: { money: '500' } }
    const changed = await ask('admin', `${path}/monthly`, { method: 'PUT', body })
    expect(changed.json.limits).toEqual({ money: '500' })
    const cleared = await ask('admin', `${path}/monthly?group=default`, { method: 'DELETE' })
    expect(cleared.json.limits).toEqual({ money: '100' })
  })

  test('are exported and erased, if their id is confirmed', async () => {
    const { ask, gateway } = await served()
    await gateway.admin.accounts.topUp({ account: 'acme', amount: '50', reference: 'r' })
    await gateway.admin.keys.create({ account: 'acme', group: 'default', name: 'mine' })
    const lines = (await ask('admin', '/accounts/acme/export')).text.trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(['account', 'key', 'entry'])
    const wrong = await ask('admin', '/accounts/acme/erase', { body: { confirm: 'other' } })
    expect([wrong.status, wrong.json.error.param]).toEqual([400, 'confirm'])
    const erased = await ask('admin', '/accounts/acme/erase', { body: { confirm: 'acme' } })
    expect(erased.json).toMatchObject({ keys: 1, balance: '50' })
  })
})

describe('usage', () => {
  test('is summed, listed, found and sent as CSV', async () => {
    const usage = memoryUsageStore()
    await usage.append([
      record({ id: 'req_a', model: 'demo', key: 'k1' }),
      record({ id: 'req_b', model: 'other', account: 'beta', outcome: 'failed', code: 'server_error' }),
    ])
    const { ask } = await served(gatewayWith({ storage: { usage } }))
    const sums = await ask('admin', '/usage?by=account,model&from=0')
    expect(sums.json.items).toMatchObject([
      { account: 'acme', model: 'demo', requests: 1, incomplete: 0, cost: '0.00003' },
      { account: 'beta', model: 'other', requests: 1, incomplete: 1 },
    ])
    expect((await ask('admin', '/usage')).json.items).toMatchObject([{ requests: 2 }])
    const listed = await ask('admin', '/requests?outcome=failed')
    expect(listed.json.items).toMatchObject([{ id: 'req_b', code: 'server_error' }])
    expect((await ask('admin', '/requests/req_a')).json).toMatchObject({ id: 'req_a', key: 'k1', cost: '0.00003' })
    const csv = await ask('admin', '/requests.csv?account=acme')
    expect(csv.headers['content-type']).toContain('text/csv')
    expect(csv.headers['content-disposition']).toBe('attachment; filename="requests.csv"')
    expect(csv.text.split('\r\n')).toHaveLength(3)
    expect((await ask('admin', '/usage.csv?by=model')).text).toMatch(/^model,requests,/)
  })

  test('is an invoice', async () => {
    const usage = memoryUsageStore()
    await usage.append([record(), record({ account: 'beta' })])
    const { ask } = await served(gatewayWith({ storage: { usage } }))
    const invoice = await ask('admin', '/accounts/acme/invoice?month=2030-01')
    expect(invoice.json.items).toMatchObject([{ account: 'acme', model: 'demo', requests: 1 }])
    expect((await ask('admin', '/invoices?month=2030-01')).json.items).toHaveLength(2)
    expect((await ask('admin', '/invoices.csv?month=2030-01')).text).toMatch(/^account,model,item/)
    const without = await ask('admin', '/accounts/acme/invoice')
    expect([without.status, without.json.error.type]).toEqual([400, 'invalid_request_error'])
  })
})

test('an account sees who it is, its groups, and models with prices but not who serves them', async () => {
  const { ask, gateway } = await served()
  expect((await ask('acme', '/me')).json).toMatchObject({ role: 'account', account: 'acme', groups: [] })
  await gateway.admin.keys.create({ account: 'acme', group: 'vip', open: true })
  const me = await ask('acme', '/me')
  expect(me.json).toMatchObject({ groups: ['vip'], currency: 'EUR', readOnly: false })
  expect(me.json.features).toMatchObject({ accounts: true, caps: true, usage: true, keys: true })
  const models = await ask('acme', '/models')
  expect(models.json.items).toMatchObject([{ id: 'demo', groups: ['vip'], price: { input: '2', output: '8' } }])
  expect(models.text).not.toContain('deployments')
  const all = await ask('admin', '/models?group=default')
  expect(all.json.items.map((each: { id: string }) => each.id)).toEqual(['demo', 'demo-video'])
  expect(all.json.items[0].deployments).toMatchObject([{ provider: 'demo', model: 'demo' }])
  const foreign = await ask('acme', '/models?group=default')
  expect([foreign.status, foreign.json.error.message]).toEqual([400, '"group" must be one of vip.'])
})

test('an account sees its requests, but not which vendor served them', async () => {
  const usage = memoryUsageStore()
  const attempt = {
    provider: 'vend',
    providerModel: 'vend-1',
    outcome: 'succeeded',
    status: 200,
    startMs: 1,
    ms: 2,
  } as const
  const vendor = { provider: 'vend', providerModel: 'vend-1', attemptLog: [attempt] }
  await usage.append([record({ ...vendor, id: 'req_x' })])
  const { ask } = await served(gatewayWith({ storage: { usage } }))
  const paths = ['/requests', '/requests/req_x', '/requests.csv']
  for (const path of paths) expect((await ask('admin', path)).text).toContain('vend-1')
  for (const path of paths) expect((await ask('acme', path)).text).not.toContain('vend')
  expect((await ask('acme', '/requests/req_x')).json.attemptLog).toEqual([{ outcome: 'succeeded', startMs: 1, ms: 2 }])
})

test('models have the state of each deployment, for the operator', async () => {
  let isDown = true
  const flaky = defineProvider({
    name: 'flaky',
    async *generate() {
      if (isDown) throw retrySame(new Error('down'))
      yield finish('stop')
    },
  })
  const gateway = gatewayWith({
    models: { m: { provider: flaky, providerModel: 'm-1' } },
    billing: undefined as never,
    groups: { default: { models: '*' } },
    keys: { 'sk-1': {} },
    breaker: { failures: 2, coolDownMs: 600_000 },
    retry: { maxAttempts: 1 },
  })
  const { ask } = await served(gateway)
  const state = async () => (await ask('admin', '/models')).json.items[0].deployments[0]
  expect(await state()).toMatchObject({ provider: 'flaky', model: 'm-1', state: 'closed' })
  for (let index = 0; index < 5; index++) {
    await gateway.handle({
      method: 'POST',
      target: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-1' },
      body: { state: 'parsed', value: { model: 'm', messages: [{ role: 'user', content: 'x' }] } },
      signal: new AbortController().signal,
    })
  }
  isDown = false
  expect(await state()).toMatchObject({ state: 'open' })
  const health = await ask('admin', '/health')
  expect(health.json.deployments).toMatchObject([{ model: 'm', provider: 'flaky', state: 'open' }])
  expect((await ask('acme', '/health')).status).toBe(404)
})

test('an account creates keys in its own groups only, and not without end', async () => {
  const { ask, gateway } = await served()
  await gateway.admin.keys.create({ account: 'acme', group: 'vip', open: true })
  const path = '/accounts/acme/keys'
  expect((await ask('acme', path, { body: { group: 'default' } })).status).toBe(400)
  const made = await ask('acme', path, { body: { group: 'vip' } })
  expect(made.status).toBe(201)
  const moved = await ask('acme', `${path}/${made.json.record.id}`, { method: 'PATCH', body: { group: 'default' } })
  expect([moved.status, moved.json.error.param]).toEqual([400, 'group'])
  for (let index = 2; index < 60; index++) await ask('acme', path, { body: { group: 'vip' } })
  const refused = await ask('acme', path, { body: { group: 'vip' } })
  expect([refused.status, refused.json.error.code]).toEqual([429, 'rate_limit_exceeded'])
  expect((await ask('admin', path, { body: { group: 'vip' } })).status).toBe(201)
})

test('with a key store that only finds keys, an account has no groups but those that authorize names', async () => {
  const keys = { find: () => undefined }
  const { ask } = await served(gatewayWith({ storage: { keys } }))
  expect((await ask('acme', '/me')).json).toMatchObject({ groups: [], features: { keys: false, keySearch: false } })
  expect((await ask('acme', '/keys')).status).toBe(400)
  const named = await served(gatewayWith({ storage: { keys } }), {
    authorize: () => ({ role: 'account', account: 'acme', groups: ['vip', 'unknown'] }),
  })
  expect((await named.ask(undefined, '/groups')).json.items).toEqual(['vip'])
  expect((await named.ask(undefined, '/models')).json.items).toMatchObject([{ id: 'demo', groups: ['vip'] }])
})

test('a gateway without billing and usage says so', async () => {
  const { ask } = await served(gatewayWith({ billing: undefined as never, groups: { default: { models: '*' } } }))
  const me = await ask('admin', '/me')
  expect(me.json.features).toMatchObject({ accounts: false, caps: false, usage: false })
  for (const path of ['/accounts', '/accounts/acme/credits']) {
    const { status, json } = await ask('admin', path)
    expect([status, json.error.message]).toEqual([400, 'Accounts need the option "billing".'])
  }
})

test('errors of stores are a 503, and reported with the id of the response', async () => {
  const failures: { id: string; error: unknown }[] = []
  const usage = {
    append: () => undefined,
    list: () => Promise.reject(new Error('disk full')),
    summarise: () => [],
  }
  const gateway = gatewayWith({ storage: { usage } })
  const { ask } = await served(gateway, { onError: (failure) => failures.push(failure) })
  const failed = await ask('admin', '/requests')
  expect([failed.status, failed.text.includes('disk')]).toEqual([503, false])
  expect(failures).toMatchObject([{ id: failed.headers['x-request-id'], method: 'GET', target: '/requests' }])
})

test('invalid options are an error that names them', () => {
  const gateway = gatewayWith()
  const make = (options: unknown) => () => adminApi(gateway, options as never)
  expect(make({})).toThrow(/authorize/)
  expect(make({ authorize: 1 })).toThrow(/"authorize" must be a function/)
  expect(make({ authorize, host: [] })).toThrow(/unknown option "host"/)
  expect(make({ authorize, hosts: ['https://x'] })).toThrow(/"hosts" must be/)
  expect(make({ authorize, hosts: [] })).toThrow(/"hosts" must be/)
  expect(make({ authorize, readOnly: 'yes' })).toThrow(/"readOnly" must be/)
  expect(() => adminApi({} as never, { authorize })).toThrow(/expected adminApi\(gateway/)
})

test('a body that is wrong inside names the place, and what may stand there', async () => {
  const { ask } = await served()
  const caps = [{ name: 'daily', per: 'user', period: 'day', calls: 3 }]
  const made = await ask('admin', '/accounts/acme/keys', { body: { group: 'default', open: true, caps } })
  const { message, param } = made.json.error
  expect([made.status, param]).toEqual([400, 'caps.0'])
  expect(message).toMatch(/^"caps.0": unknown option "per"\. Valid options: name, period, /)
  const topUp = await ask('admin', '/accounts/acme/top-ups', { body: { amount: '5' } })
  expect(topUp.json.error.message).toBe('"reference": is missing; it must be a string')
})

test('the audit log is verified against the head of an earlier verification, of which both parts are needed', async () => {
  const { ask, gateway } = await served()
  await gateway.admin.accounts.open({ id: 'acme' })
  const verified = async (query = '') => ask('admin', `/audit-log/verification${query}`)
  const { head } = (await verified()).json
  expect((await verified(`?number=${head.number}&hash=${head.hash}`)).json).toMatchObject({ isIntact: true })
  expect((await verified(`?number=${head.number}&hash=other`)).json).toMatchObject({ isIntact: false })
  for (const half of [`?number=${head.number}`, `?hash=${head.hash}`])
    expect(await verified(half)).toMatchObject({ status: 400 })
})
