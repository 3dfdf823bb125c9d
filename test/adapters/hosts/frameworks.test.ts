import { bodyParser } from '@koa/bodyparser'
import express from 'express'
import Koa from 'koa'
import KoaV2 from 'koa-v2'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import type { Exchange, Gateway } from 'modelhatch'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode } from 'modelhatch/node'
import { open } from './client.ts'
import { authorization, defaultVendor, hostedGateway, jsonHeaders, key, question } from './gateway.ts'
import { plainHosts, type Host } from './hosts.ts'
import { head, RawConnection } from './raw.ts'
import { chat, post, serve } from './serve.ts'

const first = await hostedGateway()
const second = await hostedGateway({ keys: { 'sk-second': {} } })
afterAll(first.close)
afterAll(second.close)
const { gateway } = first

/** The getters of an exchange, which a spread does not copy. */
function pick({ signal, ip }: Exchange) {
  return { signal, ip }
}

/** The status of a request for the list of models. */
const statusOf = async (url: string, path: string, bearer: string) =>
  (await fetch(`${url}${path}/v1/models`, { headers: { authorization: `Bearer ${bearer}` } })).status

describe('a response of the host', () => {
  it.each([false, true])('sent while the gateway handles the request is not disturbed (stream: %s)', async (stream) => {
    const { gateway: own, vendor, close } = await hostedGateway()
    const called = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    vendor.reply = async (request, response) => {
      called.resolve()
      await go.promise
      await defaultVendor(request, response)
    }
    const app = express()
    app.use((_request, response, next) => {
      void called.promise.then(() => response.status(503).send('too late'))
      next()
    })
    app.use(mountExpress(own))
    const body = JSON.stringify({ ...question, stream })
    const answer = await fetch(`${await serve(app)}/v1/chat/completions`, post(body))
    expect([answer.status, await answer.text()]).toEqual([503, 'too late'])
    // The gateway's response is discarded but completed, so that closing does not wait for it.
    go.resolve()
    await own.close({ graceMs: 60_000 })
    await close()
  })
})

describe('a plain server', () => {
  it('may reject bodies in responses to HEAD', async () => {
    const url = await serve(mountNode(gateway), { rejectNonStandardBodyWrites: true })
    const answer = await fetch(`${url}/v1/models`, { method: 'HEAD', headers: { authorization } })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })

  it.each([
    ['HTTP/1', false],
    ['HTTP/2', true],
  ])('may pass on a request whose client has already disconnected, over %s', async (_, http2) => {
    const { gateway: own, vendor, close } = await hostedGateway()
    const handed = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const host = plainHosts.find(({ name }) => name === (http2 ? 'node:http2' : 'node:http')) as Host
    const slow = {
      serves: () => true,
      async handle(exchange: Exchange) {
        // Reads the body like a parser of the host, and then lets the client disconnect.
        const text = await buffer((exchange.body as { stream: Readable }).stream)
        begun.resolve()
        await disconnected.promise
        const reply = await own.handle({ ...exchange, ...pick(exchange), body: { state: 'text', text } })
        handed.resolve()
        return reply
      },
    }
    const disconnected = Promise.withResolvers<void>()
    const running = await host.start(slow as unknown as Gateway)
    const headers = jsonHeaders
    const answering = open(running, { method: 'POST', target: '/v1/chat/completions', headers, body: chat })
    answering.catch(() => undefined)
    await begun.promise
    await running.close()
    // The response learns of it some turns of the event loop later.
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
    disconnected.resolve()
    await handed.promise
    expect(vendor.requests).toEqual([])
    await own.close({ graceMs: 60_000 })
    await close()
  })
})

describe('two gateways in one server', () => {
  it.each([
    ['Express 5', () => express().use('/a', mountExpress(gateway)).use('/b', mountExpress(second.gateway))],
    ['Koa 3', () => new Koa().use(mountKoa('/a', gateway)).use(mountKoa('/b', second.gateway)).callback()],
  ])('each have their own path and keys on %s', async (_, app) => {
    const url = await serve(app())
    expect(await statusOf(url, '/a', key)).toBe(200)
    expect(await statusOf(url, '/b', 'sk-second')).toBe(200)
    expect(await statusOf(url, '/a', 'sk-second')).toBe(401)
    expect(await statusOf(url, '/b', key)).toBe(401)
  })
})

describe.each([
  ['Koa 2', KoaV2],
  ['Koa 3', Koa],
])('%s', (_, Framework) => {
  it('lets earlier middleware read and change the response', async () => {
    const app = new Framework()
    app.use(async (context, next) => {
      await next()
      context.set('x-seen', `${context.status} ${typeof context.body}`)
    })
    app.use(bodyParser())
    app.use(mountKoa('/ai', gateway))
    const url = await serve(app.callback())
    const whole = await fetch(`${url}/ai/v1/chat/completions`, post(chat))
    expect(whole.headers.get('x-seen')).toBe('200 string')
    const streamed = await fetch(`${url}/ai/v1/chat/completions`, post(JSON.stringify({ ...question, stream: true })))
    expect(streamed.headers.get('x-seen')).toBe('200 object')
    expect(await streamed.text()).toContain('[DONE]')
  })

  it('ends a stream that other middleware replaces with another body', async () => {
    const { vendor } = first
    const { reply } = vendor
    const called = Promise.withResolvers<AbortSignal>()
    vendor.reply = (request, response) => {
      called.resolve(request.signal)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n')
    }
    const app = new Framework()
    app.use(async (context, next) => {
      await next()
      context.body = 'something else'
    })
    app.use(mountKoa(gateway))
    const answer = await fetch(
      `${await serve(app.callback())}/v1/chat/completions`,
      post(JSON.stringify({ ...question, stream: true })),
    )
    expect(await answer.text()).toBe('something else')
    const signal = await called.promise
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    vendor.reply = reply
  })

  it('emits no app errors for complete responses', async () => {
    const errors: unknown[] = []
    const app = new Framework()
    app.on('error', (error) => errors.push(error))
    app.use(mountKoa('/ai', gateway))
    const url = await serve(app.callback())
    await (await fetch(`${url}/ai/v1/chat/completions`, post(JSON.stringify({ ...question, stream: true })))).text()
    await (await fetch(`${url}/ai/v1/chat/completions`, post('{'))).text()
    await (await fetch(`${url}/ai/v1/models`)).text()
    expect(errors).toEqual([])
  })

  it('does not serve paths that only begin with the prefix', async () => {
    const app = new Framework().use(mountKoa('/ai', gateway))
    const { port } = new URL(await serve(app.callback()))
    for (const target of ['/aiv1/models', '/ai', '/aihttp://x/v1/models', '/ai%2Fv1/models', '/AI/v1/models']) {
      const client = new RawConnection(Number(port))
      await client.send(head({ target, headers: [`authorization: ${authorization}`] }))
      expect(await client.answer()).toMatchObject({ status: 404, body: 'Not Found' })
      client.destroy()
    }
  })

  it('rejects invalid arguments of mount immediately', () => {
    expect(() => mountKoa('ai', gateway)).toThrow('must begin with "/"')
    const swapped = mountKoa as unknown as (gateway: unknown, path: string) => unknown
    expect(() => swapped(gateway, '/ai')).toThrow("app.use(mount('/ai', gateway))")
    expect(() => mountKoa('/ai', undefined as never)).toThrow("app.use(mount('/ai', gateway))")
  })
})

describe('authenticate', () => {
  it('gets the request object of the host, and the client address as the host determines it', async () => {
    const seen: unknown[] = []
    const { gateway: own, close } = await hostedGateway({
      authenticate: ({ host, ip }) => {
        seen.push(ip, (host as { locals?: string }).locals)
        return { account: 'a', group: 'default' }
      },
    })
    const app = express().set('trust proxy', true)
    app.use((request, _response, next) => next(void Object.assign(request, { locals: 'Ada' })))
    app.use(mountExpress(own))
    const koa = new Koa({ proxy: true })
    koa.use((context, next) => {
      context['locals'] = 'Grace'
      return next()
    })
    koa.use(mountKoa(own))
    for (const listener of [app, koa.callback()]) {
      const headers = { 'x-forwarded-for': '203.0.113.7' }
      expect((await fetch(`${await serve(listener)}/v1/models`, { headers })).status).toBe(200)
    }
    expect(seen).toEqual(['203.0.113.7', 'Ada', '203.0.113.7', 'Grace'])
    await close()
  })
})
