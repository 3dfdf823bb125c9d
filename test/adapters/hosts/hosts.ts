/** All supported ways to host a gateway, each as a real server on loopback. */
import { bodyParser } from '@koa/bodyparser'
import compression from 'compression'
import express, { type RequestHandler } from 'express'
import expressV4 from 'express-v4'
import helmet from 'helmet'
import Koa, { type Middleware } from 'koa'
import { koaBody } from 'koa-body'
import oldBodyParser from 'koa-bodyparser'
import compress from 'koa-compress'
import koaMount from 'koa-mount'
import KoaV2 from 'koa-v2'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Gateway } from 'modelhatch'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountFetch } from 'modelhatch/fetch'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode } from 'modelhatch/node'
import { sampleOf } from '../../long.ts'

export interface Host {
  readonly name: string
  readonly family: 'node' | 'express' | 'koa' | 'fetch'
  /** The path before `/v1` in the URLs. */
  readonly path: string
  readonly http2: boolean
  /** Serves `gateway` on a free port. */
  start(gateway: Gateway): Promise<RunningHost>
}

export interface RunningHost extends Host {
  readonly port: number
  close(): Promise<void>
}

type Setup<M> = { name: string; path?: string; http2?: boolean; before?: readonly M[] }

/** The host's own routes: `POST /own` returns the request body, everything else is a 404. */
async function ownRoute(request: IncomingMessage & { body?: unknown }, response: ServerResponse, parsed: unknown) {
  if (!request.url?.startsWith('/own')) return void response.writeHead(404).end('no route of the host')
  const body = typeof parsed === 'string' || parsed instanceof Uint8Array ? parsed : JSON.stringify(parsed)
  response.end(request.readableDidRead ? body : await buffer(request))
}

function expressHost(framework: typeof express, setup: Setup<RequestHandler>, nested = false): Host {
  const { name, path = '', before = [] } = setup
  return host({ name, family: 'express', path: nested ? `/outer${path}` : path, http2: false }, (gateway) => {
    const app = framework()
    app.set('env', 'test')
    for (const middleware of before) app.use(middleware)
    if (nested) app.use('/outer', framework.Router().use(framework.Router().use(path, mountExpress(gateway))))
    else if (path === '') app.use(mountExpress(gateway))
    else app.use(path, mountExpress(gateway))
    app.use((request, response) => void ownRoute(request, response, request.body as unknown))
    return app
  })
}

function koaHost(Framework: typeof Koa, setup: Setup<Middleware>, wrap?: (inner: Middleware) => Middleware): Host {
  const { name, path = '', http2 = false, before = [] } = setup
  return host({ name, family: 'koa', path: wrap ? `/outer${path}` : path, http2 }, (gateway) => {
    const app = new Framework()
    for (const middleware of before) app.use(middleware)
    const mounted = path === '' ? mountKoa(gateway) : mountKoa(path, gateway)
    app.use(wrap ? wrap(mounted) : mounted)
    app.use(async (context) => {
      if (!context.path.startsWith('/own'))
        return void Object.assign(context, { status: 404, body: 'no route of the host' })
      const { rawBody, body } = context.request as { rawBody?: string; body?: unknown }
      context.body = context.req.readableDidRead ? (rawBody ?? JSON.stringify(body)) : await buffer(context.req)
    })
    return app.callback()
  })
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index] as string, raw[2 * index + 1] as string])
}

/** As in the servers of web frameworks: the URL parser normalises the target before the handler sees it. */
function fetchListener(gateway: Gateway): RequestListener {
  const handle = mountFetch(gateway)
  return (incoming, outgoing) => {
    const client = new AbortController()
    outgoing.once('close', () => outgoing.writableFinished || client.abort())
    const { url: target = '/' } = incoming
    const url = target.startsWith('/') ? `http://127.0.0.1${target}` : target
    if (!/^https?:/i.test(url)) return void outgoing.writeHead(400).end()
    const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD'
    const request = new Request(url, {
      method: incoming.method ?? 'GET',
      headers: pairsOf(incoming.rawHeaders),
      signal: client.signal,
      ...(hasBody && { body: Readable.toWeb(incoming) as never, duplex: 'half' }),
    })
    void handle(request).then((response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      if (response.body === null) return outgoing.end()
      return Readable.fromWeb(response.body as never)
        .on('error', () => outgoing.destroy())
        .pipe(outgoing)
        .on('close', function (this: ServerResponse) {
          if (!this.writableFinished) void response.body?.cancel().catch(() => undefined)
        })
    })
  }
}

const json = express.json()
const anyType = { type: () => true }

/** Each framework once, without other middleware. */
export const plainHosts: readonly Host[] = [
  host({ name: 'node:http', family: 'node', path: '', http2: false }, (gateway) => mountNode(gateway)),
  expressHost(expressV4, { name: 'Express 4', path: '/ai' }),
  expressHost(express, { name: 'Express 5', path: '/ai' }),
  koaHost(KoaV2, { name: 'Koa 2', path: '/ai' }),
  koaHost(Koa, { name: 'Koa 3', path: '/ai' }),
  koaHost(Koa, { name: 'Koa 3 on HTTP/2', path: '/ai', http2: true }),
  host({ name: 'node:http2', family: 'node', path: '', http2: true }, (gateway) => mountNode(gateway)),
  host({ name: 'fetch', family: 'fetch', path: '', http2: false }, fetchListener),
]

/** The frameworks with other middleware before the gateway, and below other paths. */
export const hostsWithMiddleware: readonly Host[] = [
  ...[4, 5].flatMap((version) => {
    const framework = version === 4 ? expressV4 : express
    const front: Record<string, RequestHandler[]> = {
      'express.json': [json],
      'express.urlencoded and express.json': [express.urlencoded({ extended: true }), json],
      'express.raw': [express.raw(anyType)],
      'express.text': [express.text(anyType)],
      compression: [compression({ threshold: 1 })],
      'helmet, compression and express.json': [helmet(), compression(), json],
    }
    return [
      ...Object.entries(front).map(([name, before]) =>
        expressHost(framework, { name: `Express ${version} behind ${name}`, path: '/ai', before }),
      ),
      expressHost(framework, { name: `Express ${version} at the root`, before: [json] }),
      expressHost(framework, { name: `Express ${version} in nested routers`, path: '/ai/models' }, true),
    ]
  }),
  ...[2, 3].flatMap((version) => {
    const Framework = version === 2 ? KoaV2 : Koa
    const front: Record<string, Middleware[]> = {
      '@koa/bodyparser': [bodyParser()],
      'koa-bodyparser': [oldBodyParser()],
      'koa-body': [koaBody({ multipart: true })],
      'koa-compress': [compress({ threshold: 1 })],
      'koa-compress and @koa/bodyparser': [compress(), bodyParser()],
    }
    return [
      ...Object.entries(front).map(([name, before]) =>
        koaHost(Framework, { name: `Koa ${version} behind ${name}`, path: '/ai', before }),
      ),
      koaHost(Framework, { name: `Koa ${version} at the root` }),
      koaHost(Framework, { name: `Koa ${version} in koa-mount` }, (inner) => koaMount('/outer', inner)),
      koaHost(Framework, { name: `Koa ${version} below a path in koa-mount`, path: '/ai' }, (inner) =>
        koaMount('/outer', inner),
      ),
    ]
  }),
  koaHost(Koa, { name: 'Koa 3 on HTTP/2 behind koa-compress', path: '/ai', http2: true, before: [compress()] }),
]

export const everyHost: readonly Host[] = [...plainHosts, ...sampleOf(hostsWithMiddleware, 5)]

function host(about: Omit<Host, 'start'>, listenerOf: (gateway: Gateway) => unknown): Host {
  const { name, family, path, http2 } = about
  const open: Host = {
    name,
    family,
    path,
    http2,
    async start(gateway) {
      const listener = listenerOf(gateway) as RequestListener
      // On a slow machine, a test may leave its connection idle for longer than the default of five seconds.
      const options = { keepAliveTimeout: 60_000 }
      const server: Server = http2 ? createHttp2Server(listener as never) : createServer(options, listener)
      const sockets = new Set<Socket>()
      server.on('connection', (socket: Socket) => {
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const close = () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          for (const socket of sockets) socket.destroy()
        })
      return { ...open, port: (server.address() as AddressInfo).port, close }
    },
  }
  return open
}
