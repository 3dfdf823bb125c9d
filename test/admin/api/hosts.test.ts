/** The admin API through every host, under a path, beside the gateway and routes of the host. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request as httpRequest } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodyParser } from '@koa/bodyparser'
import express from 'express'
import session from 'express-session'
import expressV4 from 'express-v4'
import Koa from 'koa'
import koaMount from 'koa-mount'
import KoaV2 from 'koa-v2'
import { describe, expect, onTestFinished, test } from 'vitest'
import { adminApi } from 'modelhatch/admin'
import { mount as expressMount } from 'modelhatch/express'
import { mount as fetchMount } from 'modelhatch/fetch'
import { mount as koaHost } from 'modelhatch/koa'
import { mount as nodeMount } from 'modelhatch/node'
import { sqlite } from 'modelhatch/sqlite'
import { memoryLedger, memoryUsageStore, type Gateway } from '../../../src/index.ts'
import { serve } from '../../adapters/hosts/serve.ts'
import { authorize, gatewayWith, record, send } from './served.ts'

type Handler = Parameters<typeof serve>[0]

const hosts: Readonly<Record<string, (gateway: Gateway) => { readonly handler: Handler; readonly path: string }>> = {
  'Express 5': (gateway) => ({
    path: '/tools/admin',
    handler: express()
      .use('/tools/admin', expressMount(adminApi(gateway, { authorize })))
      .use('/tools', expressMount(gateway))
      .get('/tools/adminx', (_, response) => void response.send('own')),
  }),
  'Express 4, after a body parser': (gateway) => ({
    path: '/admin',
    handler: expressV4()
      .use(expressV4.json())
      .use('/admin', expressMount(adminApi(gateway, { authorize }))),
  }),
  'Express 5, under a path that ends in /v1': (gateway) => ({
    path: '/admin/v1',
    handler: express().use('/admin/v1', expressMount(adminApi(gateway, { authorize }))),
  }),
  'Koa 3': (gateway) => ({
    path: '/admin',
    handler: new Koa()
      .use(koaHost('/admin', adminApi(gateway, { authorize })))
      .use(koaHost(gateway))
      .callback(),
  }),
  'Koa 3, after a body parser and in koa-mount': (gateway) => ({
    path: '/deep/admin',
    // Koa would log what the parser rejects.
    handler: Object.assign(new Koa(), { silent: true })
      .use(bodyParser())
      .use(koaMount('/deep/admin', koaHost(adminApi(gateway, { authorize })) as never))
      .callback(),
  }),
  'Koa 2': (gateway) => ({
    path: '/admin',
    handler: new KoaV2().use(koaHost('/admin', adminApi(gateway, { authorize }))).callback(),
  }),
  'node:http': (gateway) => ({ path: '', handler: nodeMount(adminApi(gateway, { authorize })) }),
}

describe.each(Object.entries(hosts))('%s', (_, make) => {
  test('reads, writes, streams and refuses alike', async () => {
    const usage = memoryUsageStore()
    await usage.append(
      Array.from({ length: 2_500 }, (_each, index) => record({ id: `req_${index}`, user: 'u\u{1f600}' })),
    )
    const { handler, path } = make(gatewayWith({ storage: { usage } }))
    const origin = await serve(handler)
    const ask = (as: string, target: string, asked: Parameters<typeof send>[2] = {}) =>
      send(origin, path + target, { ...asked, headers: { 'x-as': as, ...asked.headers } })

    expect((await ask('admin', '/me')).json).toMatchObject({ role: 'admin' })
    const created = await ask('admin', '/accounts/a%2Fb/keys', { body: { group: 'vip', name: 'ключ 🔑', open: true } })
    expect([created.status, created.json.record.account, created.json.record.name]).toEqual([201, 'a/b', 'ключ 🔑'])
    expect((await ask('a/b', '/keys')).json.items).toHaveLength(1)
    const csv = await ask('admin', '/requests.csv')
    expect(csv.text.trimEnd().split('\r\n')).toHaveLength(2_501)
    const invalid = await ask('admin', '/requests.csv?timeZone=1')
    expect([invalid.status, invalid.json.error.param]).toEqual([400, 'timeZone'])
    const plain = await ask('admin', '/accounts', {
      raw: 'id=acme',
      headers: { 'content-type': 'text/plain' },
      method: 'POST',
    })
    expect(plain.status).toBe(415)
    const broken = await ask('admin', '/accounts', { raw: '{"id":', method: 'POST' })
    expect(broken.status).toBe(400)
    for (const target of ['/me', '/requests.csv']) {
      const head = await ask('admin', target, { method: 'HEAD' })
      expect([head.status, head.text, head.headers['x-request-id']]).toEqual([200, '', expect.stringMatching(/^req_/)])
    }
    for (const target of ['', '/', '/nothing', '/me/more', '//me', '/ME']) {
      const lost = await ask('admin', target)
      expect(lost.status, target).toBe(404)
    }
  })

  test('serves one request after the other on a connection, also after refused bodies', async () => {
    const { handler, path } = make(gatewayWith())
    const origin = await serve(handler)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const ports = new Set<number>()
    const ask = (method: string, as: string, body?: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = {
          'x-as': as,
          ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        }
        const sent = httpRequest(`${origin}${path}/accounts`, { agent, method, headers }, (response) => {
          ports.add(response.socket.localPort ?? 0)
          response
            .on('error', reject)
            .on('end', () => resolve(response.statusCode ?? 0))
            .resume()
        })
        sent.on('error', reject)
        sent.end(body)
      })
    expect(await ask('GET', 'admin')).toBe(200)
    // Without the header that writes need: refused before the body is read.
    expect(await ask('POST', 'admin', JSON.stringify({ id: 'x'.repeat(10_000) }))).toBe(403)
    expect(await ask('POST', 'mine', JSON.stringify({ id: 'x'.repeat(10_000) }))).toBe(404)
    expect(await ask('GET', 'admin')).toBe(200)
    expect(ports.size).toBe(1)
  })
})

test('routes of the host beside the mount path stay its own', async () => {
  const { handler } = (hosts['Express 5'] as (typeof hosts)[string])(gatewayWith())
  const origin = await serve(handler)
  expect((await send(origin, '/tools/adminx', { headers: { 'x-as': 'admin' } })).text).toBe('own')
  expect((await send(origin, '/tools/v1/models')).status).toBe(401)
})

test('HTTP/2: the name of the server is that of the pseudo-header', async () => {
  const server = createHttp2(nodeMount(adminApi(gatewayWith(), { authorize })) as never)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  const ask = (headers: Readonly<Record<string, string>>) =>
    new Promise<number>((resolve, reject) => {
      const stream = client.request({ 'x-as': 'admin', ':path': '/me', ...headers })
      stream.on('error', reject).on('response', (answer) => resolve(Number(answer[':status'])))
      stream.resume().end()
    })
  expect(await ask({})).toBe(200)
  expect(await ask({ ':authority': 'evil.example' })).toBe(403)
})

test('a client that disconnects ends the reading of a CSV', async () => {
  const called: (() => void)[] = []
  const waiting: (() => void)[] = []
  const page = Array.from({ length: 1_000 }, () => record())
  const usage = {
    append: () => undefined,
    summarise: () => [],
    async list() {
      called.shift()?.()
      if (called.length === 1) await new Promise<void>((resolve) => waiting.push(resolve))
      return { items: page, next: '[1,"x"]' }
    },
  }
  const second = new Promise<void>((resolve) =>
    called.push(
      () => undefined,
      resolve,
      () => expect.unreachable(),
    ),
  )
  const server = createServer(nodeMount(adminApi(gatewayWith({ storage: { usage } }), { authorize })))
  const closed = new Promise<void>((resolve) =>
    server.on('request', (_, response) => response.on('close', () => resolve())),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const sent = httpRequest({ port, path: '/requests.csv', headers: { 'x-as': 'admin' } }, (response) => {
    response.on('error', () => undefined).resume()
  })
  sent.on('error', () => undefined)
  sent.end()
  // The first page is sent, and the second is being read.
  await second
  sent.destroy()
  await closed
  for (const end of waiting) end()
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(called).toHaveLength(1)
})

test('an account downloads few files at a time, and each end of one makes room', async () => {
  const gates: (() => void)[] = []
  const usage = {
    append: () => undefined,
    summarise: () => [],
    // The second page waits for the test.
    async list({ after }: { readonly after?: string }) {
      if (after === undefined) return { items: [record()], next: '[1,"x"]' }
      await new Promise<void>((resolve) => gates.push(resolve))
      return { items: [record()] }
    },
  }
  const origin = await serve(nodeMount(adminApi(gatewayWith({ storage: { usage } }), { authorize })))
  onTestFinished(() => gates.forEach((open) => open()))
  const begin = (as = 'acme') => fetch(`${origin}/requests.csv`, { headers: { 'x-as': as } })
  const open = [await begin(), await begin(), await begin(), await begin()]
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const refused = await begin()
  expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
    429,
    'rate_limit_exceeded',
  ])
  // Of another account, of the operator, and refused ones take no place.
  expect([(await begin('beta')).status, (await begin('admin')).status]).toEqual([200, 200])
  for (let index = 0; index < 6; index++) {
    const invalid = await send(origin, '/requests.csv?model=%00', { headers: { 'x-as': 'gamma' } })
    const head = await send(origin, '/requests.csv', { method: 'HEAD', headers: { 'x-as': 'gamma' } })
    expect([invalid.status, head.status]).toEqual([400, 200])
  }
  await expect.poll(() => gates.length).toBe(6)
  for (const gate of gates) gate()
  expect((await open[0]?.text())?.split('\r\n')).toHaveLength(4)
  expect((await begin()).status).toBe(200)
})

test('an account reads four statements at a time, as it reads files', async () => {
  const gates: (() => void)[] = []
  const ledger = memoryLedger()
  const entries = ledger.entries?.bind(ledger)
  // The second question of a statement waits for the test.
  const held = Object.assign(ledger, {
    async entries(...asked: Parameters<NonNullable<typeof entries>>) {
      await new Promise<void>((resolve) => gates.push(resolve))
      return entries?.(...asked) ?? { items: [] }
    },
  })
  const gateway = gatewayWith({ billing: { currency: 'EUR', unpriced: 'free' }, storage: { ledger: held } })
  await gateway.admin.accounts.open({ id: 'acme' })
  const origin = await serve(nodeMount(adminApi(gateway, { authorize })))
  const path = `/accounts/acme/statement?month=${new Date().toISOString().slice(0, 7)}`
  const begin = (query = '') => send(origin, path + query, { headers: { 'x-as': 'acme' } })
  const running = [begin(), begin(), begin(), begin()]
  await expect.poll(() => gates.length).toBe(4)
  const refused = await begin()
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5'])
  const open = setInterval(() => gates.splice(0).forEach((resolve) => resolve()), 1)
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  // An invalid one gives its place back, too.
  for (let index = 0; index < 5; index++) expect((await begin('&timeZone=Mars')).status).toBe(400)
  expect((await begin()).status).toBe(200)
  clearInterval(open)
})

test('once the gateway is being closed, requests get 503, and do not open its storage again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const gateway = gatewayWith({ storage: sqlite(join(folder, 'gateway.db')) })
  const origin = await serve(nodeMount(adminApi(gateway, { authorize })))
  expect((await send(origin, '/keys', { headers: { 'x-as': 'admin' } })).status).toBe(200)
  const log = join(folder, 'gateway.db-wal')
  expect(existsSync(log)).toBe(true)
  const closing = gateway.close({ graceMs: 0 })
  const refused = await send(origin, '/keys', { headers: { 'x-as': 'admin' } })
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
  await closing
  expect((await send(origin, '/keys', { headers: { 'x-as': 'admin' } })).status).toBe(503)
  expect(existsSync(log)).toBe(false)
})

test('authorize sees the session of the host', async () => {
  const app = express()
    .use(session({ secret: 's', resave: false, saveUninitialized: false }))
    .post('/login', (request, response) => {
      Object.assign(request.session, { account: 'acme' })
      response.end()
    })
    .use(
      '/admin',
      expressMount(
        adminApi(gatewayWith(), {
          authorize({ host }) {
            const { account } = (host as express.Request).session as unknown as { account?: string }
            return account === undefined ? undefined : { role: 'account', account }
          },
        }),
      ),
    )
  const origin = await serve(app)
  expect((await send(origin, '/admin/me')).status).toBe(404)
  const login = await send(origin, '/login', { method: 'POST', raw: '' })
  const [cookie = ''] = login.headers['set-cookie'] ?? []
  const me = await send(origin, '/admin/me', { headers: { cookie: cookie.split(';')[0] ?? '' } })
  expect(me.json).toMatchObject({ role: 'account', account: 'acme' })
})

test('fetch: the same through web requests', async () => {
  const handle = fetchMount(adminApi(gatewayWith(), { authorize }), { prefix: '/admin' })
  const ask = (
    path: string,
    init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> } = {},
    origin = 'http://localhost',
  ) => handle(new Request(origin + path, { ...init, headers: { 'x-as': 'admin', ...init.headers } }))
  expect(await (await ask('/admin/me')).json()).toMatchObject({ role: 'admin' })
  const body = JSON.stringify({ id: 'acme' })
  const json = { 'content-type': 'application/json' }
  expect((await ask('/admin/accounts', { method: 'POST', body, headers: json })).status).toBe(403)
  const headers = { ...json, 'x-modelhatch-admin': '1' }
  expect((await ask('/admin/accounts', { method: 'POST', body, headers })).status).toBe(201)
  const csv = await ask('/admin/accounts.csv')
  expect(await csv.text()).toMatch(/^id,name,balance/)
  expect((await ask('/me')).status).toBe(404)
  expect((await ask('/admin')).status).toBe(404)
  expect((await ask('/admin/me', {}, 'http://evil.example')).status).toBe(403)
})
