/** Mounting compiles in strict TypeScript without casts, with the frameworks' own types. */
import express, { type Express, type Router } from 'express'
import Koa from 'koa'
import { createServer, type Server } from 'node:http'
import { createServer as createHttp2Server, type Http2Server } from 'node:http2'
import { expect, it } from 'vitest'
import { createGateway, type Caller, type Exchange } from 'modelhatch'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountFetch } from 'modelhatch/fetch'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode } from 'modelhatch/node'
import { demo } from 'modelhatch/providers'

interface SessionRequest extends express.Request {
  readonly user?: { readonly id: string }
}

const gateway = createGateway({
  models: { demo: demo() },
  authenticate({ host }: Exchange): Caller | undefined {
    const { user } = host as SessionRequest
    return user && { account: user.id, group: 'default' }
  },
})

it('mounts in Express', () => {
  const app: Express = express()
  app.use(mountExpress(gateway))
  app.use('/ai', mountExpress(gateway))
  app.use('/ai', express.json(), mountExpress(gateway))
  const router: Router = express.Router()
  router.use('/ai', mountExpress(gateway))
  expect(router.stack.length).toBe(2)
})

it('mounts in Koa', () => {
  const app: Koa<{ user: string }, { tenant: string }> = new Koa()
  app.use(mountKoa(gateway)).use(mountKoa('/ai', gateway))
  new Koa().use(mountKoa('/ai', gateway))
  expect(app.middleware.length).toBe(2)
})

it('mounts on the servers of Node', () => {
  const server: Server = createServer(mountNode(gateway))
  const http2: Http2Server = createHttp2Server(mountNode(gateway))
  expect([server.listenerCount('request'), http2.listenerCount('request')]).toEqual([1, 1])
})

it('is a function from Request to Response', async () => {
  const handle: (request: Request) => Promise<Response> = mountFetch(gateway, { prefix: '/ai' })
  expect((await handle(new Request('http://host/ai/v1/models'))).status).toBe(401)
})
