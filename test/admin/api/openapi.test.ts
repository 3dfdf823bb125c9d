/** The document describes the API: it is valid, has every route, and real responses are as it says. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { csvReport, memoryUsageStore } from '../../../src/index.ts'
import { demo } from '../../../src/providers/index.ts'
import { routes } from '../../../src/admin/api/routes.ts'
import { gatewayWith, record, served, withContent, withVendorKeys, type Served } from './served.ts'

interface Operation {
  readonly operationId: string
  readonly parameters: readonly { readonly name?: string; readonly $ref?: string }[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: object
}

async function documentOf({ ask }: Served): Promise<Document> {
  return (await ask('admin', '/openapi.json')).json as Document
}

test('the document is valid OpenAPI 3.1 and has every route', async () => {
  const document = await documentOf(await served())
  const checker = new Validator()
  const result = await checker.validate(structuredClone(document) as never)
  expect(result).toMatchObject({ valid: true })
  expect(checker.version).toBe('3.1')
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort())
  const names = routes.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

test('the validator finds a fault', async () => {
  const document = structuredClone(await documentOf(await served())) as { paths: Record<string, unknown> }
  document.paths['/me'] = { get: { responses: 1 } }
  expect(await new Validator().validate(document as never)).toMatchObject({ valid: false })
})

test('each write has the header as a required parameter, and no read does', async () => {
  const { paths } = await documentOf(await served())
  for (const operations of Object.values(paths)) {
    for (const [method, { parameters }] of Object.entries(operations)) {
      const isWrite = parameters.some(({ $ref }) => $ref === '#/components/parameters/Write')
      expect(isWrite).toBe(method !== 'get')
    }
  }
})

/** Fields that are not described are faults, too. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const whole = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]))
  return 'properties' in whole && !('additionalProperties' in whole) ? { ...whole, additionalProperties: false } : whole
}

test('responses have the fields that the document describes, and no others', async () => {
  const usage = memoryUsageStore()
  const attempt = { provider: 'p', providerModel: 'm', outcome: 'failed', status: 503, startMs: 1, ms: 2 } as const
  const by = { key: 'k', user: 'u', session: 's', tags: ['t'] }
  await usage.append([record({ id: 'req_1', ...by, attempts: 2, attemptLog: [attempt] })])
  const gateway = gatewayWith({
    storage: { usage },
    billing: { currency: 'EUR', lowBalance: ['10'] },
    ...withVendorKeys,
    registry: { providers: { ours: demo() } },
    reports: {
      ours: csvReport('day,model,input_tokens,cached_tokens,output_tokens,cost\n2026-10-01,demo,9,0,9,1'),
    },
    ...(await withContent({ user: 'u', key: 'k', session: 's', code: 'server_error' })),
  })
  const { accounts, alerts, keys } = gateway.admin
  await accounts.topUp({ account: 'acme', amount: '9', reference: 'r', note: 'n' })
  const caps = [{ name: 'daily', period: 'day', money: '1', thresholds: [50] }] as const
  const { record: key } = await keys.create({ account: 'acme', group: 'vip', caps, rate: { requests: '5/min' } })
  const api = await served(gateway)
  const document = await documentOf(api)
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(closed(document) as object, 'api')

  const checked = new Set<string>()
  const check = async (name: string, path: string, asked: Parameters<Served['ask']>[2] = {}) => {
    const { method, path: pattern } = routes.find((each) => each.name === name) ?? {}
    const response = await api.ask('admin', path, { method: method ?? '', ...asked })
    expect(response.status, `${name}: ${response.text}`).toBeLessThan(300)
    const place = `paths/${(pattern ?? '').replaceAll('/', '~1')}/${(method ?? '').toLowerCase()}/responses`
    const reference = `api#/${place}/${response.status}/content/application~1json/schema`
    const validate = ajv.compile({ $ref: reference.replaceAll('{', '%7B').replaceAll('}', '%7D') })
    expect(validate(response.json), `${name}: ${ajv.errorsText(validate.errors)} ${response.text}`).toBe(true)
    checked.add(name)
    return response.json
  }
  const own = '/accounts/acme'
  await check('getMe', '/me')
  await check('listGroups', '/groups')
  await check('listModels', '/models')
  await check('getPrices', '/prices')
  await check('getHealth', '/health')
  await check('listWarnings', '/warnings')
  await check('getOpenApi', '/openapi.json')
  await check('listKeys', '/keys')
  await check('createKey', `${own}/keys`, { body: { group: 'vip', name: 'n', tags: ['t'], user: 'u' } })
  await check('createPlaygroundKey', `${own}/playground-key`, { body: { group: 'vip' } })
  await check('getKey', `${own}/keys/${key.id}`)
  await check('updateKey', `${own}/keys/${key.id}`, { body: { models: ['demo'], addresses: ['10.0.0.0/8'] } })
  await check('rotateKey', `${own}/keys/${key.id}/rotate`, { body: {} })
  await check('listCaps', `${own}/caps?group=default&key=${key.id}`)
  await check('overrideCap', `${own}/caps/daily`, { body: { key: key.id, limits: { money: '2' }, until: 4e12 } })
  await check('clearCap', `${own}/caps/daily?key=${key.id}`)
  await check('revokeKey', `${own}/keys/${key.id}/revoke`, { body: {} })
  await check('listVendorKeyProviders', '/vendor-keys/providers')
  await check('putVendorKey', `${own}/vendor-keys/openai`, { body: { apiKey: 'sk-of-acme-1234567890' } })
  const { items: vendorKeys } = await check('listVendorKeys', `${own}/vendor-keys`)
  expect(vendorKeys).toMatchObject([{ account: 'acme', provider: 'openai', hint: '7890' }])
  await check('rotateVendorKeys', '/vendor-keys/rotate', { body: {} })
  await check('deleteVendorKey', `${own}/vendor-keys/openai`)
  await check('openAccount', '/accounts', { body: { id: 'beta', name: 'Beta', unlimited: true } })
  await check('updateAccount', '/accounts/beta', { body: { name: 'B' } })
  await check('listAccounts', '/accounts')
  await check('listReports', '/reports')
  const october = { from: Date.parse('2026-10-01'), to: Date.parse('2026-10-02') }
  const { findings } = await check('reconcile', '/reconciliations', { body: { vendor: 'ours', ...october } })
  expect(findings).toHaveLength(1)
  await check('getAccount', own)
  await check('topUp', `${own}/top-ups`, { body: { amount: '2', reference: 'r2' } })
  await check('allow', '/accounts/planned/allowance', { method: 'PUT', body: { amount: '1', reference: 'plan' } })
  await check('listCredits', '/accounts/planned/credits')
  await check('adjust', `${own}/adjustments`, { body: { amount: '-1', reference: 'r3' } })
  await check('refund', `${own}/refunds`, { body: { request: 'req_1', reason: 'sorry' } })
  await check('listEntries', `${own}/entries`)
  await check('getInvoice', `${own}/invoice?month=2030-01&timeZone=Europe/Berlin`)
  await check('listInvoices', '/invoices?month=2030-01')
  await check('getStatement', `${own}/statement?month=2030-01`)
  await check('audit', '/audit')
  await check('listDifferences', `${own}/differences?from=0&to=4000000000000`)
  await check('sumUsage', '/usage?by=day,period,account,group,key,model,endpoint,user,tag,session')
  const range = `from=${Date.UTC(2030, 0, 1)}&to=${Date.UTC(2030, 0, 2)}`
  await check('listOpenCalls', '/open-calls')
  await check('getUsageSeries', `/usage/series?${range}&period=hour&by=model`)
  await check('getLatency', `/usage/latency?${range}&periods=4`)
  await check('listRequests', '/requests')
  await check('getRequest', '/requests/req_1')
  await check('getContent', '/requests/req_1/content')
  await check('replayContent', '/requests/req_1/replay', { body: { model: 'demo' } })
  await check('listContent', `${own}/content?session=s`)
  const few = [{ name: 'few', period: 'day', calls: 10, thresholds: [10] }] as const
  const { key: secret } = await keys.create({ account: 'acme', group: 'default', caps: few })
  const send = async (target: string, value: object) => {
    const { status } = await gateway.handle({
      method: 'POST',
      target,
      headers: { authorization: `Bearer ${secret}` },
      body: { state: 'parsed', value },
      signal: new AbortController().signal,
    })
    expect(status).toBe(200)
  }
  await send('/v1/chat/completions', { model: 'demo', messages: [{ role: 'user', content: 'hi '.repeat(500) }] })
  await expect.poll(async () => (await alerts.list({ all: true })).items.length).toBe(2)
  const { items: shown } = await check('listAlerts', '/alerts')
  expect(shown.map(({ type }: { type: string }) => type).sort()).toEqual(['balance.low', 'cap.threshold'])
  await send('/v1/videos/generations', { model: 'demo-video', prompt: 'a cat', duration: 5 })
  const [video] = (await check('listVideos', '/videos')).items
  expect(video).toMatchObject({ account: 'acme', prompt: 'a cat', seconds: 5 })
  await check('getVideo', `${own}/videos/${video.id}`)
  await check('deleteVideo', `${own}/videos/${video.id}`)
  await check('listAuditLog', '/audit-log')
  await check('verifyAuditLog', '/audit-log/verification')
  const deployments = [{ provider: 'ours', providerModel: 'demo', weight: 2 }]
  await check('listProviders', '/registry/providers')
  await check('createRegistryModel', '/registry/models', {
    body: { id: 'a/b', deployments, rate: { requests: '9/min' } },
  })
  await check('listRegistryModels', '/registry/models')
  await check('getRegistryModel', '/registry/models/a%2Fb')
  await check('updateRegistryModel', '/registry/models/a%2Fb', { body: { version: 1, rate: null, disabled: true } })
  const stale = { method: 'PATCH', body: { version: 1, disabled: null } }
  expect((await api.ask('admin', '/registry/models/a%2Fb', stale)).status).toBe(409)
  const inCode = { method: 'PATCH', body: { disabled: true } }
  expect((await api.ask('admin', '/registry/models/demo', inCode)).json.error.message).toMatch(/"demo" is set in code/)
  await check('createRegistryGroup', '/registry/groups', { body: { id: 'g', models: ['a/b'], priceMultiplier: '0.8' } })
  await check('listRegistryGroups', '/registry/groups')
  await check('getRegistryGroup', '/registry/groups/g')
  await check('updateRegistryGroup', '/registry/groups/g', { body: { models: '*' } })
  const price = { input: '1', output: '2' }
  await check('createRegistryPrice', '/registry/prices', { body: { model: 'a/b', price } })
  const from = Date.now() + 3_600_000
  await check('createRegistryPrice', '/registry/prices', { body: { model: 'a/b', price, from } })
  await check('listRegistryPrices', '/registry/prices?model=a/b')
  await check('removeRegistryPrice', `/registry/prices?model=a/b&from=${from}`)
  await check('removeRegistryGroup', '/registry/groups/g?version=2')
  await check('removeRegistryModel', '/registry/models/a%2Fb')
  await check('eraseAccount', `${own}/erase`, { body: { confirm: 'acme' } })
  const wanted = routes.filter(({ produces }) => produces === 'json').map(({ name }) => name)
  expect([...checked].sort()).toEqual(wanted.sort())
})
