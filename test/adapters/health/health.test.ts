/** What load balancers get from the health checks, through every host. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Express from 'express'
import Express4 from 'express-v4'
import Koa from 'koa'
import KoaV2 from 'koa-v2'
import koaMount from 'koa-mount'
import { expect, test } from 'vitest'
import { createGateway, memoryLedger, memoryUsageStore, type GatewayOptions, type KeyStore } from 'modelhatch'
import { mount as express } from 'modelhatch/express'
import { mount as fetchMount } from 'modelhatch/fetch'
import { health, type HealthOptions } from 'modelhatch/health'
import { mount as koa } from 'modelhatch/koa'
import { mount as node, prepareShutdown } from 'modelhatch/node'
import { demo } from 'modelhatch/providers'
import { serve } from '../hosts/serve.ts'

/** A key store that can be switched off, and counts its calls. */
function switchable(): KeyStore & { isDown: boolean; calls: number } {
  return {
    isDown: false,
    calls: 0,
    async find() {
      this.calls++
      if (this.isDown)
        throw Object.assign(new Error('no route to db.internal as admin:hunter2'), { code: 'EHOSTUNREACH' })
      return undefined
    },
  }
}

function service(options: Partial<GatewayOptions> = {}, handler?: HealthOptions) {
  const gateway = createGateway({ models: { m: demo() }, ...options })
  return { gateway, checks: health(gateway, handler) }
}

const hosts: readonly (readonly [string, (checks: ReturnType<typeof health>) => Parameters<typeof serve>[0]])[] = [
  [
    'Express 5',
    (checks) =>
      Express()
        .use('/healthz', express(checks))
        .get('/', (_, reply) => void reply.send('home')),
  ],
  [
    'Express 4',
    (checks) =>
      Express4()
        .use('/healthz', express(checks))
        .get('/', (_, reply) => void reply.send('home')),
  ],
  ['Koa 3', (checks) => new Koa().use(koa('/healthz', checks)).callback()],
  ['Koa 2', (checks) => new KoaV2().use(koa('/healthz', checks)).callback()],
  ['koa-mount', (checks) => new Koa().use(koaMount('/healthz', koa(checks))).callback()],
  ['node:http', (checks) => node(checks)],
]

const ask = async (url: string, method = 'GET') => {
  const response = await fetch(url, { method })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}

test.each(hosts)(
  '%s: 200 while requests can be served, 503 while they cannot and as soon as the gateway closes',
  async (_, host) => {
    const keys = switchable()
    const { gateway, checks } = service({ storage: { keys } })
    const url = await serve(host(checks))
    const ready = await ask(`${url}/healthz`)
    expect([ready.status, ready.text, ready.headers.get('cache-control')]).toEqual([
      200,
      '{"status":"ready"}',
      'no-store',
    ])
    expect(await ask(`${url}/healthz?source=lb`)).toMatchObject({ status: 200 })
    expect(await ask(`${url}/healthz`, 'HEAD')).toMatchObject({ status: 200, text: '' })
    expect((await ask(`${url}/healthz`, 'POST')).status).toBe(405)
    const closing = gateway.close()
    expect(await ask(`${url}/healthz`)).toMatchObject({ status: 503, text: '{"status":"draining"}' })
    await closing
    expect(await ask(`${url}/healthz`)).toMatchObject({ status: 503, text: '{"status":"draining"}' })
  },
)

test.each(hosts.slice(0, 5))(
  '%s: readiness and liveness have paths of their own below the mount path',
  async (_, host) => {
    const keys = switchable()
    keys.isDown = true
    const { checks } = service({ storage: { keys } })
    const url = await serve(host(checks))
    const statuses = async (...paths: string[]) =>
      Promise.all(paths.map(async (path) => (await ask(url + path)).status))
    expect(await statuses('/healthz', '/healthz/readyz', '/healthz/livez')).toEqual([503, 503, 200])
    expect(await statuses('/healthz/other', '/other')).toEqual([404, 404])
  },
)

test('mounted at the root, it takes the usual names and leaves all other paths to the host', async () => {
  const { checks } = service()
  const url = await serve(
    Express()
      .use(express(checks))
      .get('/', (_, reply) => void reply.send('home')),
  )
  const texts = await Promise.all(
    ['/', '/readyz', '/livez', '/healthz'].map(async (path) => (await ask(url + path)).text),
  )
  expect(texts).toEqual(['home', '{"status":"ready"}', '{"status":"alive"}', '{"status":"ready"}'])
})

test('fetch: the same under a prefix', async () => {
  const { checks, gateway } = service()
  const handle = fetchMount(checks, { prefix: '/healthz' })
  const get = async (path: string) => (await handle(new Request(`http://host${path}`))).status
  expect([await get('/healthz'), await get('/healthz/livez'), await get('/other')]).toEqual([200, 200, 404])
  void gateway.close()
  expect([await get('/healthz'), await get('/healthz/livez')]).toEqual([503, 200])
})

test('a server that shuts down says so while it still accepts connections and serves requests', async () => {
  const { gateway, checks } = service({ keys: { 'sk-test': {} } })
  const app = Express().use('/healthz', express(checks)).use('/ai', express(gateway))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const shutdown = prepareShutdown(server, gateway, { acceptMs: 4_000, graceMs: 5_000, idleMs: 100 })
  expect((await ask(`${url}/healthz`)).status).toBe(200)
  const down = shutdown()
  expect(await ask(`${url}/healthz`)).toMatchObject({ status: 503, text: '{"status":"draining"}' })
  const models = await fetch(`${url}/ai/v1/models`, { headers: { authorization: 'Bearer sk-test' } })
  expect(models.status).toBe(200)
  await models.text()
  await down
})

test('a flood of checks asks a store once, and none once the gateway is closed', async () => {
  const keys = switchable()
  const { gateway, checks } = service({ storage: { keys } })
  const url = await serve(node(checks))
  const all = await Promise.all(Array.from({ length: 100 }, () => ask(`${url}/healthz`)))
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
  expect(keys.calls).toBe(1)
  await gateway.close()
  await ask(`${url}/healthz`)
  expect(keys.calls).toBe(1)
})

test('a store that fails is noticed, and its recovery within a second; neither body nor details have its message', async () => {
  const keys = switchable()
  keys.isDown = true
  const { checks } = service({ storage: { keys } }, { details: true })
  const url = await serve(node(checks))
  const failed = await ask(`${url}/healthz`)
  expect(failed.status).toBe(503)
  expect(JSON.parse(failed.text)).toMatchObject({ status: 'not ready', ready: false, draining: false })
  expect(JSON.parse(failed.text).stores[0]).toMatchObject({ reachable: false, lastError: { code: 'EHOSTUNREACH' } })
  expect(failed.text).not.toMatch(/hunter2|internal/)
  keys.isDown = false
  await expect.poll(async () => (await ask(`${url}/healthz`)).status, { timeout: 10_000 }).toBe(200)
})

test('stores without which requests are served do not make the process unready', async () => {
  const down = () => {
    throw new Error('down')
  }
  const usage = Object.assign(memoryUsageStore(), { list: down, append: down })
  const { gateway, checks } = service({ storage: { usage }, usage: { record: true } })
  const handle = fetchMount(checks)
  expect((await handle(new Request('http://host/healthz'))).status).toBe(200)
  const { stores, ready } = await gateway.health()
  expect(ready).toBe(true)
  const state = { store: 'usage', reachable: false, required: false, lastError: { code: 'unknown' } }
  expect(stores.find(({ store }) => store === 'usage')).toMatchObject(state)
})

test('a required store that never answers counts as unreachable after its timeout', async () => {
  const ledger = Object.assign(memoryLedger(), { account: () => new Promise<never>(() => undefined) })
  const models = { m: { provider: demo(), price: { input: '1', output: '1' } } }
  const { gateway, checks } = service({
    models,
    storage: { ledger },
    billing: { currency: 'EUR' },
    timeouts: { storeMs: 50 },
  })
  const handle = fetchMount(checks)
  expect((await handle(new Request('http://host/healthz'))).status).toBe(503)
  const { stores } = await gateway.health()
  expect(stores.find(({ store }) => store === 'ledger')).toMatchObject({
    reachable: false,
    lastError: { code: 'timeout' },
  })
})

test('an invalid argument throws', () => {
  expect(() => health({} as never)).toThrow('health(gateway)')
  const { gateway } = service()
  expect(() => health(gateway, { detail: true } as never)).toThrow('detail')
})
