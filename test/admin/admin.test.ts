/** The admin API, seen from the host's pages and from API clients. */
import { describe, expect, test } from 'vitest'
import { createGateway, memoryKeyStore, type Admin, type GatewayOptions } from '../../src/index.ts'
import { defineProvider, finish, text } from '../../src/providers/index.ts'
import { hosted } from '../hosted.ts'

const parrot = defineProvider({
  name: 'parrot',
  async *generate() {
    yield text('hello')
    yield finish('stop', { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 })
  },
})

async function service(options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({
    models: {
      cheap: { provider: parrot, price: { input: '1000', output: '2000' } },
      expensive: { provider: parrot, price: { input: '5000', output: '0' } },
    },
    groups: { free: { models: ['cheap'] }, pro: { models: '*' } },
    billing: { currency: 'CNY' },
    ...options,
  })
  const url = await hosted(gateway)
  const chat = async (key: string, model = 'cheap') => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 500 })
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    return { status: response.status, body: (await response.json()) as { error?: { code: string } } }
  }
  return { admin: gateway.admin, chat, url }
}

describe('keys', () => {
  test('are returned once, authenticate, and are listed without key and hash', async () => {
    const { admin, chat } = await service()
    await admin.accounts.topUp({ account: 'acme', amount: '50', reference: 'order-1' })
    const { key, record } = await admin.keys.create({ account: 'acme', group: 'free', name: 'laptop' })
    expect((await chat(key)).status).toBe(200)
    const listed = await admin.keys.list('acme')
    expect(listed).toEqual([record])
    expect(JSON.stringify(listed)).not.toContain(key)
    expect(key.startsWith(record.prefix)).toBe(true)
    expect(record).not.toHaveProperty('hash')
    expect(await admin.keys.list('other')).toEqual([])
  })

  test('that are revoked or expired are rejected immediately', async () => {
    const { admin, chat } = await service()
    await admin.accounts.topUp({ account: 'acme', amount: '50', reference: 'order-1' })
    const { key, record } = await admin.keys.create({ account: 'acme', group: 'free' })
    const other = await admin.keys.create({ account: 'acme', group: 'free' })
    expect([(await chat(key)).status, (await chat(other.key)).status]).toEqual([200, 200])
    await admin.keys.revoke('acme', record.id)
    await admin.keys.update('acme', other.record.id, { expiresAt: Date.now() - 1 })
    expect([(await chat(key)).body.error?.code, (await chat(other.key)).body.error?.code]).toEqual([
      'invalid_api_key',
      'invalid_api_key',
    ])
    await admin.keys.update('acme', other.record.id, { expiresAt: null })
    expect((await chat(other.key)).status).toBe(200)
    expect((await chat(key)).status).toBe(401)
  })

  test('that are revoked are rejected by the next request, even if their store reports no changes', async () => {
    const { admin, chat } = await service({ storage: { keys: { ...memoryKeyStore(), watch: () => () => undefined } } })
    await admin.accounts.topUp({ account: 'acme', amount: '50', reference: 'order-1' })
    const { key, record } = await admin.keys.create({ account: 'acme', group: 'free' })
    expect((await chat(key)).status).toBe(200)
    await admin.keys.revoke('acme', record.id)
    expect((await chat(key)).status).toBe(401)
  })

  test('cannot be changed in any other field', async () => {
    const { admin } = await service()
    const { record } = await admin.keys.create({ account: 'acme', group: 'free', open: true })
    const revoked = await admin.keys.revoke('acme', record.id)
    const sent = { name: 'mine', account: 'victim', id: 'key_other', revokedAt: null, createdAt: 1 }
    await expect(admin.keys.update('acme', record.id, sent)).rejects.toMatchObject({ status: 400 })
    expect(await admin.keys.list('acme')).toEqual([revoked])
    expect(await admin.keys.list('victim')).toEqual([])
  })

  test('can be moved between groups, which changes their models', async () => {
    const { admin, chat } = await service()
    await admin.accounts.topUp({ account: 'acme', amount: '50', reference: 'order-1' })
    const { key, record } = await admin.keys.create({ account: 'acme', group: 'free' })
    expect((await chat(key, 'expensive')).body.error?.code).toBe('model_not_found')
    await admin.keys.update('acme', record.id, { group: 'pro' })
    expect((await chat(key, 'expensive')).status).toBe(200)
    expect((await admin.models('free')).map((model) => model.id)).toEqual(['cheap'])
    expect((await admin.models('pro')).map((model) => model.id)).toEqual(['cheap', 'expensive'])
  })

  test('can have their own limits', async () => {
    const { admin, chat } = await service()
    await admin.accounts.topUp({ account: 'acme', amount: '50', reference: 'order-1' })
    const { key } = await admin.keys.create({ account: 'acme', group: 'free', rate: { requests: '1/h' } })
    expect([(await chat(key)).status, (await chat(key)).body.error?.code]).toEqual([200, 'rate_limit_exceeded'])
  })

  test.each([
    [{ account: '', group: 'free' }, 'account'],
    [{ account: 'two words', group: 'free' }, 'account'],
    [{ account: 'a', group: 'unknown' }, 'group'],
    [{ account: 'a', group: 'free', expiresAt: 1.5 }, 'expiresAt'],
    [{ account: 'a', group: 'free', rate: { requests: 'often' as '1/s' } }, 'rate.requests'],
  ])('are not created with %o', async (request, param) => {
    const { admin } = await service()
    await expect(admin.keys.create(request)).rejects.toMatchObject({ status: 400, param })
  })

  test('of another account cannot be changed', async () => {
    const { admin } = await service()
    const { record } = await admin.keys.create({ account: 'acme', group: 'free', open: true })
    await expect(admin.keys.revoke('other', record.id)).rejects.toMatchObject({ status: 404 })
    await expect(admin.keys.update('other', record.id, { group: 'pro' })).rejects.toMatchObject({ status: 404 })
  })
})

describe('accounts', () => {
  test('are topped up by at least 1, once per reference', async () => {
    const { admin } = await service()
    const topUp = { account: 'acme', amount: '12.5', reference: 'order-1' }
    expect(await admin.accounts.topUp(topUp)).toEqual({ balance: '12.5', repeated: false })
    expect(await admin.accounts.topUp(topUp)).toEqual({ balance: '12.5', repeated: true })
    await expect(admin.accounts.topUp({ ...topUp, amount: '13' })).rejects.toMatchObject({
      status: 409,
      param: 'reference',
    })
    expect(await admin.accounts.topUp({ ...topUp, amount: '1', reference: 'order-2' })).toMatchObject({
      balance: '13.5',
    })
    for (const amount of ['0.99', '-1', '0', 'NaN', '1e309', '', '1,5', ' 1', '0x10', '1.0000001']) {
      const wrong = admin.accounts.topUp({ account: 'acme', amount, reference: `bad ${amount}`.replace(' ', '-') })
      await expect(wrong, amount).rejects.toMatchObject({ status: 400 })
    }
    expect(await admin.accounts.find('acme')).toMatchObject({ balance: '13.5', held: '0' })
  })

  test('are charged exactly, with a ledger entry for each charge', async () => {
    const { admin, chat } = await service()
    await admin.accounts.topUp({ account: 'acme', amount: '5', reference: 'order-1' })
    const { key } = await admin.keys.create({ account: 'acme', group: 'free' })
    for (const balance of ['3', '1']) {
      expect((await chat(key)).status).toBe(200)
      await expect.poll(async () => (await admin.accounts.find('acme'))?.balance).toBe(balance)
    }
    const entries = await admin.accounts.entries('acme')
    expect(entries.items.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['settle', '-2'],
      ['settle', '-2'],
      ['credit', '5'],
    ])
    expect((await chat(key)).body.error?.code).toBe('insufficient_quota')
    expect((await admin.accounts.audit()).faults).toEqual([])
    await admin.accounts.adjust({ account: 'acme', amount: '-1', reference: 'refund-1', note: 'paid back' })
    expect((await admin.accounts.find('acme'))?.balance).toBe('0')
  })

  test('with unlimited: true need no balance', async () => {
    const { admin, chat } = await service()
    await admin.accounts.open({ id: 'house', name: 'The house', unlimited: true })
    const { key } = await admin.keys.create({ account: 'house', group: 'free' })
    expect((await chat(key)).status).toBe(200)
    expect((await admin.accounts.list()).items.map((account) => account.name)).toEqual(['The house'])
  })

  test('require billing', async () => {
    const { admin } = await service({ billing: undefined as never, models: { cheap: parrot } })
    await expect(admin.accounts.find('acme')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('billing') as string,
    })
  })
})

test('usage is listed by request and summed by day, model and key', async () => {
  const { admin, chat } = await service({ clock: () => Date.UTC(2030, 0, 1, 12) })
  await admin.accounts.topUp({ account: 'acme', amount: '50', reference: 'order-1' })
  const first = await admin.keys.create({ account: 'acme', group: 'pro' })
  const second = await admin.keys.create({ account: 'acme', group: 'pro' })
  await chat(first.key)
  await chat(first.key, 'expensive')
  await chat(second.key)
  await expect.poll(async () => (await admin.usage.list({ account: 'acme' })).items.length).toBe(3)
  const { items } = await admin.usage.list({ account: 'acme', model: 'expensive' })
  expect(items).toMatchObject([
    {
      model: 'expensive',
      key: first.record.id,
      promptTokens: 1_000,
      completionTokens: 500,
      cost: '5',
      basis: 'reported',
    },
  ])
  const byModel = await admin.usage.statistics({ account: 'acme', by: ['model'] })
  expect(byModel.map(({ model, requests, cost }) => [model, requests, cost])).toEqual([
    ['cheap', 2, '4'],
    ['expensive', 1, '5'],
  ])
  const byKey = await admin.usage.statistics({ account: 'acme', by: ['key'] })
  expect(byKey.map(({ requests }) => requests).toSorted((left, right) => left - right)).toEqual([1, 2])
  const byDay = await admin.usage.statistics({ account: 'acme', by: ['day'] })
  expect(byDay).toMatchObject([{ day: '2030-01-01', requests: 3, cost: '9' }])
})

const pages = [{ limit: 0 }, { limit: 1_001 }, { limit: '5' }, { limit: NaN }, { after: 5 }, { offset: 5 }]
const filters = [
  { account: undefined },
  { account: '' },
  { account: null },
  { acount: 'a' },
  { key: 5 },
  { model: ['x'] },
  { from: '2026-01-01' },
  { from: new Date() },
  { from: NaN },
  { to: 1_900_000_000 },
]

type AdminCall = (admin: Admin) => Promise<unknown>

function invalidCalls(
  name: string,
  ask: (admin: Admin, wrong: object) => Promise<unknown>,
  invalidArguments: readonly object[],
): Record<string, AdminCall> {
  return Object.fromEntries(
    invalidArguments.map((wrong): [string, AdminCall] => {
      return [`${name} with ${Object.entries(wrong).map(String).join()}`, (admin) => ask(admin, wrong)]
    }),
  )
}

describe('an invalid argument', () => {
  const wrong: Readonly<Record<string, AdminCall>> = {
    'an object for an account': (admin) => admin.keys.list({ account: 'acme' } as never),
    'no account': (admin) => admin.keys.create({ group: 'free' } as never),
    'no account to find': (admin) => admin.accounts.find(undefined as never),
    'an object for the account of entries': (admin) => admin.accounts.entries({} as never),
    'sums without by': (admin) => admin.usage.statistics({ account: 'acme' } as never),
    'sums by an unknown field': (admin) => admin.usage.statistics({ account: 'acme', by: ['colour'] as never }),
    'an amount that is a number': (admin) => admin.accounts.topUp({ account: 'a', amount: 5 as never, reference: 'o' }),
    ...invalidCalls('keys.create', (admin, wrong) => admin.keys.create({ account: 'a', group: 'free', ...wrong }), [
      { rate: { request: '1/min' } },
      { rate: { requests: 60 } },
      { rate: { concurrent: '4' } },
      { rate: { concurrent: -1 } },
      { rate: '60/min' },
      { name: 5 },
      { expiresAt: 1_900_000_000 },
      { expiresAt: Date.now() - 1 },
      { expiresAt: new Date() },
      { expires: Date.now() },
      { group: undefined },
      { account: undefined },
    ]),
    ...invalidCalls('keys.update', (admin, wrong) => admin.keys.update('a', 'key_1', wrong), [
      { rate: { concurrent: 0 } },
      { expiresAt: 1_900_000_000 },
      { name: 5 },
      { revokedAt: null },
    ]),
    ...invalidCalls('accounts.open', (admin, wrong) => admin.accounts.open({ id: 'a', ...wrong }), [
      { unlimited: 'false' },
      { unlimited: null },
      { name: 5 },
      { balance: '5' },
      { id: undefined },
    ]),
    ...invalidCalls(
      'accounts.topUp',
      (admin, wrong) => admin.accounts.topUp({ account: 'a', amount: '5', reference: 'o', ...wrong }),
      [{ note: 5 }, { reference: undefined }, { account: undefined }, { amount: NaN }, { referense: 'o' }],
    ),
    ...invalidCalls('accounts.list', (admin, wrong) => admin.accounts.list(wrong), pages),
    ...invalidCalls('accounts.entries', (admin, wrong) => admin.accounts.entries('a', wrong), pages),
    ...invalidCalls('usage.list', (admin, wrong) => admin.usage.list({ account: 'a', ...wrong }), [
      ...filters,
      ...pages,
    ]),
    ...invalidCalls('usage.list of all', (admin, wrong) => admin.usage.list({ all: true, ...wrong } as never), [
      { account: 'a' },
      { all: 'yes' },
      { all: false },
    ]),
    ...invalidCalls(
      'usage.statistics',
      (admin, wrong) => admin.usage.statistics({ account: 'a', by: ['day'], ...wrong } as never),
      [...filters, { offsetMinutes: NaN }, { offsetMinutes: '480' }, { by: 'day' }, { by: undefined }],
    ),
    ...invalidCalls('models', (admin, wrong) => admin.models((wrong as { group: string }).group), [
      { group: 'unknown' },
      { group: undefined },
    ]),
  }

  test.each(Object.entries(wrong))('%s is rejected with 400, not as an outage of a store', async (_, ask) => {
    const { admin } = await service()
    await expect(ask(admin)).rejects.toMatchObject({ status: 400, param: expect.any(String) })
  })
})
