/** The shutdown that the readme recommends. For rolling deploys under load, see `rolls.test.ts`. */
import express from 'express'
import Koa from 'koa'
import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { connect, type AddressInfo, type Server as NetServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createGateway, type Gateway } from 'modelhatch'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode, prepareShutdown, type ShutdownOptions } from 'modelhatch/node'
import { finish, text as word, type Provider } from 'modelhatch/providers'
import { certificate } from '../../providers/faults/certificate.ts'

/** A gateway whose streams send one word, and the rest when the test calls `goOn`. */
function slowGateway() {
  const goOn = Promise.withResolvers<void>()
  const slow: Provider = {
    name: 'slow',
    async *generate() {
      yield word('one ')
      await goOn.promise
      yield word('two')
      yield finish('stop')
    },
  }
  const gateway = createGateway({ keys: { 'sk-test': {} }, models: { slow } })
  return { gateway, goOn: () => goOn.resolve() }
}

type ListenerOf = (gateway: Gateway) => RequestListener

const onExpress: ListenerOf = (gateway) => {
  const app = express()
  app.get('/own', (_request, response) => void response.send('own'))
  return app.use(mountExpress(gateway))
}

const onKoa: ListenerOf = (gateway) => {
  const app = new Koa().use(mountKoa(gateway))
  app.use((context) => void (context.body = 'own'))
  const serve = app.callback()
  return (request, response) => void serve(request, response)
}

const onNode: ListenerOf = (gateway) => {
  const serve = mountNode(gateway)
  return (request, response) => (request.url === '/own' ? response.end('own') : serve(request, response))
}

const hosts: [string, ListenerOf][] = [
  ['Express', onExpress],
  ['Koa', onKoa],
  ['node:http', onNode],
]

/** Starts a server that is prepared for shutdown. */
async function started(server: NetServer, gateway: Gateway, options: ShutdownOptions) {
  const shutdown = prepareShutdown(server, gateway, options)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  let closed = 0
  server.on('close', () => closed++)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, shutdown, agent, closed: () => closed }
}

const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
const question = JSON.stringify({ model: 'slow', messages: [{ role: 'user', content: 'Hello' }], stream: true })

/** The response to a request on one of the agent's connections. */
async function ask(port: number, agent: Agent, path: string, body?: string): Promise<IncomingMessage> {
  const asked = request({ port, agent, path, headers, method: body === undefined ? 'GET' : 'POST' })
  asked.end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return answer
}

/** Resolves when the first content has arrived, with a promise of the whole text. */
async function listen(answer: IncomingMessage) {
  answer.setEncoding('utf8')
  let received = ''
  const first = Promise.withResolvers<void>()
  answer.on('data', (data: string) => {
    received += data
    first.resolve()
  })
  const whole = new Promise<string>((resolve) => answer.on('close', () => resolve(received)))
  await first.promise
  return { whole }
}

const chat = '/v1/chat/completions'

describe.each(hosts)('%s', (_, listenerOf) => {
  test('a running stream finishes, and other connections get connection: close with their next response', async () => {
    const { gateway, goOn } = slowGateway()
    const options = { graceMs: 60_000, idleMs: 30_000 }
    const { port, shutdown, agent, closed } = await started(createServer(listenerOf(gateway)), gateway, options)
    const streaming = await ask(port, agent, chat, question)
    expect(streaming.headers.connection).toBe('keep-alive')
    const { whole: streamed } = await listen(streaming)
    // Two kept-alive connections that are idle when the shutdown begins.
    const idle = await Promise.all([ask(port, agent, '/own'), ask(port, agent, '/v1/models')])
    expect(idle.map((answer) => answer.headers.connection)).toEqual(['keep-alive', 'keep-alive'])
    await Promise.all(idle.map((answer) => text(answer)))
    const ending = shutdown()
    expect(shutdown()).toBe(ending)
    const last = await Promise.all([ask(port, agent, '/own'), ask(port, agent, '/v1/models')])
    expect(last.map((answer) => [answer.statusCode, answer.headers.connection])).toEqual([
      [200, 'close'],
      [200, 'close'],
    ])
    await Promise.all(last.map((answer) => text(answer)))
    goOn()
    expect(await streamed).toMatch(/two.*data: \[DONE\]\n\n$/s)
    // The stream's headers were sent before the shutdown: its connection gets `connection: close` with the next response.
    await text(await ask(port, agent, '/own'))
    await ending
    expect(closed()).toBe(1)
    await expect(ask(port, agent, '/own')).rejects.toThrow('ECONNREFUSED')
  })

  test('idle connections are closed, including unused ones and upgraded sockets', async () => {
    const { gateway } = slowGateway()
    const server: Server = createServer(listenerOf(gateway))
    const upgraded = once(server, 'upgrade')
    const { port, shutdown, agent } = await started(server, gateway, { graceMs: 60_000, idleMs: 20 })
    await text(await ask(port, agent, '/own'))
    const unused = connect(port, '127.0.0.1')
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /own HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    await Promise.all([once(unused, 'connect'), upgraded])
    const ends = [unused, socket].map((each) => once(each.resume(), 'close'))
    await shutdown()
    await Promise.all(ends)
  })

  test('after graceMs, streams end with an error and all other connections are closed', async () => {
    const { gateway } = slowGateway()
    const handle = listenerOf(gateway)
    const server = createServer((request, response) =>
      request.url === '/endless' ? void response.write('x') : handle(request, response),
    )
    const { port, shutdown, agent } = await started(server, gateway, { graceMs: 50, idleMs: 10 })
    const { whole: streamed } = await listen(await ask(port, agent, chat, question))
    const { whole: endless } = await listen(await ask(port, agent, '/endless'))
    await shutdown()
    expect(await streamed).toMatch(/one .*data: \{"error":\{.*"code":"service_unavailable"\}\}\n\n$/s)
    expect(await endless).toBe('x')
  })
})

test('new connections are accepted during acceptMs', async () => {
  const { gateway } = slowGateway()
  const server = createServer(mountNode(gateway))
  const { port, shutdown } = await started(server, gateway, { acceptMs: 30_000, idleMs: 10 })
  void shutdown()
  const answer = await ask(port, new Agent(), '/v1/models')
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, 'close'])
})

test('a request that was running before the shutdown gets connection: close with its response', async () => {
  const { gateway } = slowGateway()
  const go = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const server = createServer((_request, answer) => {
    asked.resolve()
    void go.promise.then(() => answer.end('late'))
  })
  const { port, shutdown, agent } = await started(server, gateway, { idleMs: 60_000 })
  const answering = ask(port, agent, '/own')
  await asked.promise
  const ending = shutdown()
  go.resolve()
  const answer = await answering
  expect([answer.headers.connection, await text(answer)]).toEqual(['close', 'late'])
  await ending
})

test('connections over TLS get connection: close as well', async () => {
  const { gateway } = slowGateway()
  const server = createHttpsServer(certificate, mountNode(gateway))
  const { port, shutdown } = await started(server, gateway, { graceMs: 60_000, idleMs: 20 })
  const https = await import('node:https')
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false })
  const get = async () => {
    const asked = https.get({ port, agent, path: '/v1/models', headers })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    await text(answer)
    return answer.headers.connection
  }
  expect(await get()).toBe('keep-alive')
  const ending = shutdown()
  expect(await get()).toBe('close')
  await ending
})

test('HTTP/2 sessions finish their streams and accept no new ones', async () => {
  const { gateway, goOn } = slowGateway()
  const server = createHttp2Server(mountNode(gateway) as never)
  const { port, shutdown } = await started(server, gateway, { graceMs: 60_000, idleMs: 20 })
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  const stream = session.request({ ':method': 'POST', ':path': chat, ...headers })
  stream.end(question)
  stream.setEncoding('utf8')
  let received = ''
  stream.on('data', (data: string) => (received += data))
  await once(stream, 'data')
  const goaway = once(session, 'goaway')
  const ending = shutdown()
  await goaway
  goOn()
  await once(stream, 'end')
  expect(received).toMatch(/data: \[DONE\]\n\n$/)
  await ending
})

test('anything but a server and a gateway is rejected, and so are invalid times', () => {
  const { gateway } = slowGateway()
  const server = createServer()
  const loose = prepareShutdown as (...given: unknown[]) => unknown
  expect(() => loose(express(), gateway)).toThrow('where server is what listen()')
  expect(() => loose(server, undefined)).toThrow('prepareShutdown(server, gateway)')
  expect(() => loose(server, gateway, { grace: 1 })).toThrow('unknown option "grace"')
  for (const wrong of [-1, Number.NaN, Infinity, '5']) {
    expect(() => loose(server, gateway, { graceMs: wrong })).toThrow('"graceMs" must be milliseconds')
  }
})
