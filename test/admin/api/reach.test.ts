/** Who reaches what: every route, with the ids of another account. */
import { describe, expect, test } from 'vitest'
import { memoryUsageStore } from '../../../src/index.ts'
import { demo } from '../../../src/providers/index.ts'
import { routes } from '../../../src/admin/api/routes.ts'
import type { Route } from '../../../src/admin/api/route.ts'
import { gatewayWith, record, send, served, withContent, withVendorKeys, type Asked, type Served } from './served.ts'

/** Appears in everything that belongs to the other account. */
const mark = 'zz-foreign'

const bodies: Readonly<Record<string, object>> = {
  createKey: { group: 'vip' },
  createPlaygroundKey: { group: 'vip' },
  updateKey: { name: 'taken' },
  openAccount: { id: `${mark}-2` },
  updateAccount: { name: 'taken' },
  topUp: { amount: '1', reference: 'r9' },
  adjust: { amount: '1', reference: 'r9' },
  refund: { request: `req_${mark}`, reason: 'x' },
  overrideCap: { limits: { money: '1' } },
  replayContent: { model: 'demo' },
  eraseAccount: { confirm: mark },
  putVendorKey: { apiKey: 'a-key-of-mine' },
}

const queries: Readonly<Record<string, string>> = {
  getInvoice: 'month=2030-01',
  getStatement: 'month=2030-01',
  exportStatement: 'month=2030-01',
  exportInvoice: 'month=2030-01',
  listInvoices: 'month=2030-01',
  exportInvoices: 'month=2030-01',
  listDifferences: 'from=0&to=4000000000000',
  getUsageSeries: 'from=1890000000000&to=1900000000000&period=day&by=account',
  listContent: 'session=s',
  getLatency: 'from=1890000000000&to=1900000000000',
  sumUsage: 'by=account,key,model,user,session,tag',
  exportUsage: 'by=account,key,model,user,session,tag',
}

/** Two accounts with rows of each kind, of which one belongs to `mine`. */
async function two(): Promise<Served & { readonly ids: Readonly<Record<string, string>> }> {
  const usage = memoryUsageStore()
  const theirs = { account: mark, key: `key_${mark}`, user: mark, session: mark, tags: [mark] }
  await usage.append([record({ ...theirs, id: `req_${mark}` }), record({ account: 'mine', id: 'req_mine' })])
  // The first chat of each account reaches both caps and the level of the balance.
  const caps = [{ name: 'own', period: 'day', calls: 50, thresholds: [2] }] as const
  const all = { name: 'all', per: 'all', period: 'day', calls: 100, thresholds: [1, 2] } as const
  const gateway = gatewayWith({
    storage: { usage },
    billing: { currency: 'EUR', caps: [...caps, all], lowBalance: ['9'] },
    ...withVendorKeys,
    registry: { providers: { demo: demo() } },
    ...(await withContent({ id: `req_${mark}`, ...theirs }, { id: 'req_mine', account: 'mine' })),
  })
  const { accounts, alerts, keys, vendorKeys, registry } = gateway.admin
  await registry.models.create({ id: 'stored', deployments: [{ provider: 'demo' }] })
  await registry.groups.create({ id: 'stored', models: '*' })
  const ids: Record<string, string> = { request: `req_${mark}`, cap: 'monthly', provider: 'openai', id: 'stored' }
  for (const account of ['mine', mark]) {
    await accounts.topUp({ account, amount: '9', reference: `r-${account}` })
    const { key, record: made } = await keys.create({ account, group: 'vip', name: `${account}-key` })
    await vendorKeys.put({ account, provider: 'openai', apiKey: `key-of-${account}-${account}` })
    await keys.create({ account, group: 'default' })
    const { key: other } = await keys.create({ account, group: 'default' })
    expect(key).not.toBe('')
    const { body } = await gateway.handle({
      method: 'POST',
      target: '/v1/videos/generations',
      headers: { authorization: `Bearer ${other}` },
      body: { state: 'parsed', value: { model: 'demo-video', prompt: `of ${account}`, duration: 5 } },
      signal: new AbortController().signal,
    })
    const chat = await gateway.handle({
      method: 'POST',
      target: '/v1/chat/completions',
      headers: { authorization: `Bearer ${other}` },
      body: { state: 'parsed', value: { model: 'demo', messages: [{ role: 'user', content: 'hi' }] } },
      signal: new AbortController().signal,
    })
    expect(chat.status).toBe(200)
    await expect.poll(async () => (await alerts.list({ account })).items.length).toBe(3)
    ids['key'] = made.id
    ids['video'] = (JSON.parse(body as string) as { id: string }).id
  }
  return { ...(await served(gateway)), ids }
}

function pathOf({ path, name }: Route, account: string, ids: Readonly<Record<string, string>>, more = ''): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, part: string) =>
    encodeURIComponent(part === 'account' ? account : (ids[part] as string)),
  )
  const query = [queries[name], more].filter((part) => part !== undefined && part !== '').join('&')
  return query === '' ? filled : `${filled}?${query}`
}

function askedOf({ method, name }: Route): Asked {
  return {
    method,
    ...(bodies[name] !== undefined && { body: bodies[name] }),
    ...(method === 'POST' && bodies[name] === undefined && { body: {} }),
  }
}

function reply({ status, text, headers }: { status: number; text: string; headers: object }) {
  const {
    date: _,
    'x-request-id': __,
    'keep-alive': ___,
    connection: ____,
    ...rest
  } = headers as Record<string, string>
  return { status, text, headers: rest }
}

describe('an account', () => {
  test('finds no row of another account on any route, by any id', async () => {
    const { ask, ids } = await two()
    const nothing = reply(await ask('mine', '/no/such/path'))
    expect(nothing.status).toBe(404)
    expect(routes.length).toBeGreaterThan(40)
    const leaks: string[] = []
    for (const route of routes) {
      const tries: [string, boolean][] = [[pathOf(route, mark, ids), route.path.includes('{account}')]]
      if (route.path.includes('{'))
        tries.push([
          pathOf(route, 'mine', ids),
          route.path.includes('{key}') || route.path.includes('{video}') || route.path.includes('{request}'),
        ])
      if (route.query !== undefined && Object.hasOwn(route.query.shape, 'account')) {
        tries.push([pathOf(route, 'mine', ids, `account=${mark}`), true])
        tries.push([pathOf(route, 'mine', ids, `account=mine&account=${mark}`), true])
        tries.push([pathOf(route, 'mine', ids), false])
        for (const name of ['key', 'user', 'tag', 'session', 'text']) {
          if (Object.hasOwn(route.query.shape, name)) tries.push([pathOf(route, 'mine', ids, `${name}=${mark}`), false])
        }
      }
      for (const [path, isForeign] of tries) {
        const answer = await ask('mine', path, askedOf(route))
        if (answer.text.includes(mark)) leaks.push(`${route.method} ${path}: ${answer.text}`)
        if (isForeign || route.role === 'admin') {
          const shared = routes.some((each) => each.path === route.path && each.role === 'account')
          if (answer.status === 405 && shared && !path.includes(mark)) continue
          expect(reply(answer), `${route.method} ${path}`).toEqual(nothing)
        }
      }
    }
    expect(leaks).toEqual([])
  })

  test('changes nothing of another account on any route', async () => {
    const { ask, ids, gateway } = await two()
    const state = async () => ({
      account: await gateway.admin.accounts.find(mark),
      accounts: (await gateway.admin.accounts.list()).items.length,
      keys: await gateway.admin.keys.list(mark),
      entries: await gateway.admin.accounts.entries(mark),
      vendorKeys: await gateway.admin.vendorKeys.list(mark),
      videos: (await gateway.admin.videos.list({ account: mark })).items.map(({ id }) => id),
    })
    const before = await state()
    for (const route of routes.filter(({ method }) => method !== 'GET')) {
      await ask('mine', pathOf(route, mark, ids), askedOf(route))
      await ask('mine', pathOf(route, 'mine', ids), askedOf(route))
    }
    expect(await state()).toEqual(before)
  })

  test('reaches its own rows on every route of its role', async () => {
    const { ask, gateway } = await two()
    const {
      items: [key],
    } = await gateway.admin.keys.search({ account: 'mine', text: 'mine-key' })
    const {
      items: [video],
    } = await gateway.admin.videos.list({ account: 'mine' })
    const ids = { key: key?.id ?? '', video: video?.id ?? '', request: 'req_mine', provider: 'openai' }
    // The content is not finished, and the last one deletes it.
    const own = routes.filter(({ role, name }) => role === 'account' && name !== 'getVideoContent')
    expect(own.length).toBeGreaterThan(20)
    for (const route of own) {
      const answer = await ask('mine', pathOf(route, 'mine', ids), askedOf(route))
      expect(answer.status, `${route.method} ${route.path}: ${answer.text}`).toBeLessThan(300)
    }
  })

  test('sees caps of its own groups only, and none that all callers share', async () => {
    const shared = { name: 'all', per: 'all', period: 'day', money: '1000' } as const
    const own = { name: 'monthly', period: 'month', money: '100' } as const
    const gateway = gatewayWith({
      groups: { default: { models: '*', caps: [own, shared] }, vip: { models: '*', caps: [own] } },
    })
    await gateway.admin.keys.create({ account: 'mine', group: 'default', open: true })
    const { ask } = await served(gateway)
    const caps = await ask('mine', '/accounts/mine/caps?group=default')
    expect(caps.json.items.map((each: { cap: string }) => each.cap)).toEqual(['monthly'])
    expect((await ask('mine', '/accounts/mine/caps?group=vip')).status).toBe(400)
    const all = await ask('admin', '/accounts/mine/caps?group=default')
    expect(all.json.items.map((each: { cap: string }) => each.cap).sort()).toEqual(['all', 'monthly'])
  })

  test('sees alerts of its own, and none of caps that all callers share', async () => {
    const { ask } = await two()
    interface Shown {
      readonly account: string
      readonly type: string
      readonly per?: string
    }
    const seen = async (as: string, path: string) => {
      const { status, json } = await ask(as, path)
      expect(status).toBe(200)
      return (json.items as Shown[]).map(({ account, type, per = '' }) => `${account} ${type} ${per}`).sort()
    }
    const own = (account: string) => [`${account} balance.low `, `${account} cap.threshold account`]
    const shared = (account: string) => `${account} cap.threshold all`
    expect(await seen('mine', '/alerts')).toEqual(own('mine'))
    expect(await seen('mine', '/alerts?account=mine&limit=2')).not.toContain(shared('mine'))
    expect(await seen('other', '/alerts')).toEqual([])
    expect(await seen('admin', `/alerts?account=${mark}`)).toEqual([...own(mark), shared(mark)].sort())
    expect((await seen('admin', '/alerts')).length).toBe(6)
    const { json: first } = await ask('admin', '/alerts?limit=4')
    const { json: second } = await ask('admin', `/alerts?limit=4&after=${encodeURIComponent(first.next)}`)
    expect([first.items.length, second.items.length, second.next]).toEqual([4, 2, undefined])
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(6)
    expect((await ask('admin', '/alerts?after=x')).status).toBe(400)
  })

  test('is told which methods it may use, not those of the operator', async () => {
    const { ask } = await two()
    const refused = await ask('mine', '/accounts/mine', { method: 'PATCH', body: { unlimited: true } })
    expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET, HEAD'])
    const operator = await ask('admin', '/accounts/mine', { method: 'POST', body: {} })
    expect([operator.status, operator.headers['allow']]).toEqual([405, 'GET, HEAD, PATCH'])
  })
})

test('without an identity every route is the same 404 as a path that does not exist', async () => {
  const { ask, ids } = await two()
  const nothing = reply(await ask(undefined, '/no/such/path'))
  expect(nothing.status).toBe(404)
  for (const route of routes) {
    for (const method of [route.method, 'OPTIONS', 'HEAD'] as const) {
      const answer = reply(await ask(undefined, pathOf(route, 'mine', ids), { ...askedOf(route), method }))
      if (method !== 'HEAD') expect(answer).toEqual(nothing)
      else expect(answer.status).toBe(404)
    }
  }
})

test('a read-only identity, or a read-only API, reads everything and changes nothing', async () => {
  const { ask, ids, gateway } = await two()
  const { ask: askFixed } = await served(gateway, { readOnly: true })
  for (const route of routes) {
    const path = pathOf(route, mark, ids)
    for (const answer of [await ask('reader', path, askedOf(route)), await askFixed('admin', path, askedOf(route))]) {
      if (route.method === 'GET') expect([200, 409], path).toContain(answer.status)
      else expect([answer.status, answer.json.error.code], path).toEqual([403, 'forbidden'])
    }
  }
  expect((await ask('reader', '/me')).json.readOnly).toBe(true)
})

test('an identity of a wrong form is a 500, never more rights', async () => {
  const gateway = gatewayWith()
  const seen: unknown[] = []
  for (const identity of [{}, { role: 'root' }, { role: 'account' }, { role: 'account', account: '' }, 'admin', true]) {
    const { origin } = await served(gateway, {
      authorize: () => identity as never,
      onError: ({ error }) => seen.push(error),
    })
    const answer = await send(origin, '/me')
    expect([answer.status, answer.json.error.code]).toEqual([500, 'server_error'])
  }
  expect(seen).toHaveLength(6)
})

test('what calls cost the host, and which vendor serves them, is in no response to an account', async () => {
  const usage = memoryUsageStore()
  const own = { account: 'mine', provider: 'secret-vendor', providerModel: 'secret-vendor-1', vendorCost: 123_456_789n }
  await usage.append([record({ ...own, id: 'req_mine', startedAt: 1_893_456_000_000 })])
  const { ask } = await served(gatewayWith({ storage: { usage } }))
  const paths = routes
    .filter(({ method, produces }) => method === 'GET' && produces !== 'bytes')
    .filter(({ name }) => name !== 'getOpenApi')
    .map(({ name, path }) => {
      const filled = path
        .replace('{account}', 'mine')
        .replace('{request}', 'req_mine')
        .replaceAll(/\{\w+\}/g, 'none')
      return queries[name] === undefined ? filled : `${filled}?${queries[name]}`
    })
  const texts = async (as: string) =>
    (await Promise.all(paths.map((path) => ask(as, path)))).map(({ text }) => text).join()
  const secret = /vendorCost|margin|uncosted|secret-vendor|0\.123456789/
  expect(await texts('mine')).not.toMatch(secret)
  expect((await texts('admin')).match(new RegExp(secret, 'g'))?.length).toBeGreaterThan(9)
  for (const by of ['provider', 'model,providerModel']) {
    expect(await ask('mine', `/usage?by=${by}`)).toMatchObject({ status: 400, json: { error: { param: 'by' } } })
    expect(await ask('mine', `/usage.csv?by=${by}`)).toMatchObject({ status: 400 })
  }
  expect((await ask('admin', '/usage?by=provider,providerModel')).json.items).toMatchObject([
    { provider: 'secret-vendor', providerModel: 'secret-vendor-1', vendorCost: '0.123456789', uncosted: 0 },
  ])
  expect((await ask('admin', '/usage.csv?by=provider')).text).toMatch(
    /^provider,.*,cost,vendorCost,margin,uncosted\r\nsecret-vendor,/,
  )
  expect((await ask('admin', '/requests.csv')).text).toMatch(/,vendorCost,/)
  const series = '/usage/series?from=1893456000000&to=1893542400000&period=day'
  expect((await ask('admin', series)).json.total).toMatchObject([{ vendorCost: '0.123456789', uncosted: 0 }])
  expect((await ask('mine', '/me')).json.features.costs).toBe(false)
})

test('an account sees no costs in the lists that its host reads for it, unless it asks for them', async () => {
  const usage = memoryUsageStore()
  await usage.append([record({ account: 'mine', id: 'req_mine', startedAt: 5, vendorCost: 5n })])
  const { usage: admin, csv } = gatewayWith({ storage: { usage } }).admin
  const all = async (costs?: { readonly costs: boolean }) => [
    ...(await admin.list({ account: 'mine', ...costs })).items,
    ...(await admin.statistics({ account: 'mine', by: ['model'], ...costs })),
    await admin.find('req_mine', costs),
    await admin.series({ account: 'mine', from: 0, to: 86_400_000, period: 'day', by: 'model', ...costs }),
    await textOf(csv.usage({ account: 'mine', ...costs })),
    await textOf(csv.statistics({ account: 'mine', by: [], ...costs })),
  ]
  expect(JSON.stringify(await all())).not.toMatch(/vendorCost|margin|uncosted/)
  for (const each of await all({ costs: true })) expect(JSON.stringify(each)).toContain('vendorCost')
})

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}
