/** Which upgrades become WebSockets, which are refused, and what becomes of all others. */
import express from 'express'
import Koa from 'koa'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttpsServer, request as httpsRequest } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test, describe } from 'vitest'
import { WebSocketServer, WebSocket } from 'ws'
import type { Caller } from 'modelhatch'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode } from 'modelhatch/node'
import { upgrades } from 'modelhatch/ws'
import { certificate } from '../../providers/faults/certificate.ts'
import { head, RawConnection } from '../hosts/raw.ts'
import { key, Refused, textOf, world } from './world.ts'

const authorization = `Bearer ${key}`

async function refusal(connecting: Promise<unknown>): Promise<Refused> {
  return connecting.then(
    () => Promise.reject(new Error('the upgrade was accepted')),
    (error: unknown) => error as Refused,
  )
}

function own(): RequestListener {
  const app = express()
  app.use('/ai', (_request, _response, next) => next())
  app.post('/own', express.text(), (request, response) => void response.send(`got ${request.body as string}`))
  app.get('/own', (_, response) => void response.send('own page'))
  return app
}

async function raw(port: number, text: string) {
  const connection = new RawConnection(port)
  onTestFinished(() => connection.destroy())
  await connection.send(text)
  return connection.answer()
}

const upgradeTo = (protocol: string) => [
  'connection: Upgrade, HTTP2-Settings',
  `upgrade: ${protocol}`,
  'http2-settings: AAMAAABkAAQAAP__',
]
const webSocket = ['sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==']

describe('beside a framework', () => {
  test.each([
    [
      'Express',
      (gateway: Parameters<typeof mountExpress>[0]) => express().use('/ai', mountExpress(gateway)) as RequestListener,
    ],
    ['Koa', (gateway: Parameters<typeof mountExpress>[0]) => new Koa().use(mountKoa('/ai', gateway)).callback()],
  ])('%s: the mount path is the same, and requests are served as before', async (_, listener) => {
    const { connect, port } = await world({ path: '/ai', listener })
    expect(textOf(await (await connect()).ask({ input: 'Hello' }))).toBe('Hello')
    const models = await fetch(`http://127.0.0.1:${port}/ai/v1/models`, { headers: { authorization } })
    expect(models.status).toBe(200)
  })

  test('the mount path may end in /v1, and the target may have a query', async () => {
    const { server, port, gateway } = await world({ path: '' })
    server.on('upgrade', upgrades('/other/v1', gateway))
    const ws = new WebSocket(`ws://127.0.0.1:${port}/other/v1/responses?a=b`, { headers: { authorization } })
    onTestFinished(() => ws.terminate())
    await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject))
  })

  test('invalid arguments are a TypeError that shows the form', async () => {
    const { gateway } = await world()
    expect(() => upgrades(gateway as never, gateway)).toThrow(/server\.on\('upgrade', upgrades\('\/ai', gateway\)\)/)
    expect(() => upgrades('/ai', {} as never)).toThrow(TypeError)
    expect(() => upgrades('ai', gateway)).toThrow(/must begin with "\/"/)
    expect(() => upgrades('/ai', gateway, { idle: 1 } as never)).toThrow(/unknown option "idle"/)
    expect(() => upgrades('/ai', gateway, { sockets: 0 })).toThrow(/"sockets" must be/)
  })
})

describe('an upgrade without a valid key', () => {
  test('is refused before the handshake, in the format of all errors', async () => {
    const { connect } = await world()
    for (const headers of [{}, { authorization: 'Bearer sk-wrong' }]) {
      const { status, body, headers: given } = await refusal(connect(headers))
      expect(status).toBe(401)
      expect(given).toMatchObject({ connection: 'close', 'content-type': 'application/json; charset=utf-8' })
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid_api_key' } })
    }
  })

  test('may bring the key in any of the headers that requests may use', async () => {
    const { connect } = await world()
    for (const name of ['x-api-key', 'api-key', 'x-goog-api-key', 'x-litellm-api-key']) {
      expect(textOf(await (await connect({ [name]: key })).ask({ input: 'Hi' }))).toBe('Hi')
    }
  })
})

describe('a page of another origin', () => {
  const authenticate = ({ headers }: { headers: Readonly<Record<string, unknown>> }): Caller | undefined =>
    headers['cookie'] === 'user=ada' ? { account: 'ada', group: 'default' } : undefined
  const cookie = 'user=ada'

  test('is refused when the browser adds a cookie, unless the host allows the origin', async () => {
    const { connect, port } = await world({ options: { authenticate }, upgrade: { origins: ['https://app.example'] } })
    for (const origin of [
      'https://evil.example',
      'null',
      `http://127.0.0.1:${port}.evil.example`,
      `http://127.0.0.1`,
    ]) {
      const { status, body } = await refusal(connect({ cookie, origin }))
      expect(status).toBe(403)
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'origin_not_allowed' } })
    }
    for (const origin of ['https://app.example', `http://127.0.0.1:${port}`]) {
      expect(textOf(await (await connect({ cookie, origin })).ask({ input: 'Hi' }))).toBe('Hi')
    }
    expect(textOf(await (await connect({ cookie })).ask({ input: 'Hi' }))).toBe('Hi')
  })

  test('is refused without a cookie too, because browsers also add passwords and certificates', async () => {
    const { connect } = await world({ options: { authenticate: () => ({ account: 'a', group: 'default' }) } })
    const origin = 'https://evil.example'
    expect((await refusal(connect({ origin }))).status).toBe(403)
    expect((await refusal(connect({ origin, authorization: 'Basic YTpi' }))).status).toBe(403)
    // A page cannot add this header: the client is no browser.
    await connect({ origin, authorization })
  })
})

describe('an upgrade that is not for the gateway', () => {
  test('is served as a request without an upgrade, if there is no other listener', async () => {
    const { port } = await world({ listener: own })
    const page = await raw(port, head({ target: '/own', headers: [...upgradeTo('h2c'), 'connection: close'] }))
    expect(page).toMatchObject({ status: 200, body: 'own page' })
    const posted = await raw(
      port,
      `${head({ method: 'POST', target: '/own', headers: [...upgradeTo('h2c'), 'content-type: text/plain', 'content-length: 4'] })}body`,
    )
    expect(posted).toMatchObject({ status: 200, body: 'got body' })
    const socket = await raw(
      port,
      head({ target: '/own', headers: ['connection: Upgrade', 'upgrade: websocket', ...webSocket] }),
    )
    expect(socket).toMatchObject({ status: 200, body: 'own page' })
  })

  test('is left to the other listeners, if there are any', async () => {
    const { server, port, connect } = await world({ listener: own })
    const others = new WebSocketServer({ noServer: true })
    server.on('upgrade', (request, socket, first) => {
      if (request.url !== '/chat') return
      others.handleUpgrade(request, socket, first, (ws) => ws.send('other'))
    })
    const ws = new WebSocket(`ws://127.0.0.1:${port}/chat`)
    onTestFinished(() => ws.terminate())
    const said = await new Promise((resolve) => ws.once('message', (data: Buffer) => resolve(data.toString())))
    expect(said).toBe('other')
    expect(textOf(await (await connect()).ask({ input: 'Hi' }))).toBe('Hi')
  })

  test('is served as a request without an upgrade, if all listeners are those of gateways', async () => {
    const { server, gateway, port, connect } = await world({ listener: own })
    const { gateway: other } = await world()
    server.on('upgrade', upgrades('/other', other))
    for (let round = 0; round < 2; round++) {
      const page = await raw(port, head({ target: '/own', headers: [...upgradeTo('h2c'), 'connection: close'] }))
      expect(page).toMatchObject({ status: 200, body: 'own page' })
      expect(textOf(await (await connect()).ask({ input: 'Hi' }))).toBe('Hi')
      server.prependListener('upgrade', upgrades('/third', gateway))
    }
  })

  test('to another protocol is served by the gateway over HTTP/1.1, with its body', async () => {
    const { server, port } = await world()
    server.on('upgrade', () => undefined)
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    const headers = [
      `authorization: ${authorization}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    const target = '/v1/chat/completions'
    const answered = await raw(
      port,
      head({ method: 'POST', target, headers: [...headers, ...upgradeTo('h2c')] }) + body,
    )
    expect(answered.status).toBe(200)
    expect(answered.body).toContain('"Hi"')
  })

  test('to a WebSocket at another endpoint gets what a request there gets', async () => {
    const { port } = await world()
    const headers = [`authorization: ${authorization}`, 'connection: Upgrade', 'upgrade: websocket', ...webSocket]
    expect((await raw(port, head({ target: '/v1/models', headers }))).status).toBe(200)
    expect((await raw(port, head({ target: '/v1/chat/completions', headers }))).status).toBe(405)
    expect((await raw(port, head({ target: '/v1/realtime', headers }))).status).toBe(404)
  })
})

test('Azure clients connect at their own paths', async () => {
  const { server, port } = await world({ options: { azure: true } })
  expect(server.listenerCount('upgrade')).toBe(1)
  const ws = new WebSocket(`ws://127.0.0.1:${port}/openai/v1/responses?api-version=preview`, {
    headers: { 'api-key': key },
  })
  onTestFinished(() => ws.terminate())
  await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject))
  ws.send(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hi' }))
  const [data] = (await once(ws, 'message')) as [Buffer]
  expect(JSON.parse(data.toString())).toMatchObject({ type: 'response.created' })
})

test('over TLS, upgrades are served, and others handed back', async () => {
  const { gateway } = await world()
  const { cert, key: privateKey } = certificate
  const server = createHttpsServer({ cert, key: privateKey }, mountNode(gateway))
  server.on('upgrade', upgrades('', gateway))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const ws = new WebSocket(`wss://127.0.0.1:${port}/v1/responses`, {
    headers: { authorization },
    rejectUnauthorized: false,
  })
  onTestFinished(() => ws.terminate())
  await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject))
  const asked = httpsRequest({
    port,
    host: '127.0.0.1',
    path: '/v1/models',
    rejectUnauthorized: false,
    headers: { authorization, connection: 'Upgrade', upgrade: 'h2c' },
  })
  const [answer] = (await once(asked.end(), 'response')) as [IncomingMessage]
  expect(answer.resume().statusCode).toBe(200)
})

test('a handshake that is not valid gets a 400, and does not count as a socket', async () => {
  const { port, connect } = await world({ upgrade: { sockets: 1 } })
  const headers = [
    `authorization: ${authorization}`,
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
  ]
  for (let round = 0; round < 3; round++) {
    expect((await raw(port, head({ target: '/v1/responses', headers }))).status).toBe(400)
  }
  await connect()
})

test('a client that resets its connection during the handshake does not disturb the server', async () => {
  let asked = 0
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const authenticate = async () => {
    asked++
    await gate
    return { account: 'a', group: 'default' }
  }
  const { port, connect } = await world({ options: { authenticate }, upgrade: { sockets: 2 } })
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  for (let round = 1; round <= 2; round++) {
    const request = httpRequest({ port, host: '127.0.0.1', path: '/v1/responses', headers })
    request.on('error', () => undefined)
    const socket = await new Promise<Socket>((resolve) => request.on('socket', resolve).end())
    await expect.poll(() => asked).toBe(round)
    socket.resetAndDestroy()
  }
  release()
  await expect
    .poll(() =>
      connect({}).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
})

test('a listener that is called without its server refuses what it cannot hand back, also if the client is gone', async () => {
  const { gateway } = await world()
  const listener = upgrades('', gateway)
  const server = createServer()
  let isGone = false
  server.on('upgrade', (request, socket, first) => {
    listener.call(undefined, request, socket, first)
    if (isGone) socket.destroy(new Error('read ECONNRESET'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const ask = () => raw(port, head({ target: '/v1/models', headers: upgradeTo('h2c') }))
  expect((await ask()).status).toBe(426)
  isGone = true
  await ask().catch(() => undefined)
  isGone = false
  expect((await ask()).status).toBe(426)
})
