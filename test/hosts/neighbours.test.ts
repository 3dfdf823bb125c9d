import { bodyParser } from '@koa/bodyparser'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import expressV4 from 'express-v4'
import Koa from 'koa'
import KoaV2 from 'koa-v2'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode } from 'modelhatch/node'
import type { Exchange, Gateway } from 'modelhatch'
import { authorization, helpfulVendor, hostedGateway, jsonHeaders, key, question } from './gateway.ts'
import { everyHost, plainHosts, type Host } from './hosts.ts'
import { ask, open } from './client.ts'
import { head, RawConnection } from './raw.ts'

const first = await hostedGateway()
const second = await hostedGateway({ keys: { 'sk-second': {} } })
afterAll(first.close)
afterAll(second.close)
const { gateway } = first

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

/** Serves on a free port and gives its base URL. */
async function serve(listener: (request: never, response: never) => unknown): Promise<string> {
  const server = createServer(listener as RequestListener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const post = (body: string | Uint8Array, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { ...jsonHeaders, ...headers },
  body: body as never,
})
const chat = JSON.stringify(question)

const ownWords: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) return next(error)
  response.status((error as { status: number }).status).send('the host’s own words')
}

/** The getters of an exchange are no properties that a spread would copy. */
function pick({ signal, ip }: Exchange) {
  return { signal, ip }
}

/** What becomes of a chat behind a middleware of the host. */
const answered = async (before: RequestHandler, body: string = chat) => {
  const app = express()
  app.use(before)
  app.use('/ai', mountExpress(gateway))
  const answer = await fetch(`${await serve(app)}/ai/v1/chat/completions`, post(body))
  return { status: answer.status, body: (await answer.json()) as object }
}

/** The status of the list of models. */
const asked = async (url: string, path: string, bearer: string) =>
  (await fetch(`${url}${path}/v1/models`, { headers: { authorization: `Bearer ${bearer}` } })).status

describe.each(everyHost.filter(({ family }) => family === 'express' || family === 'koa'))(
  'what is not the gateway’s, behind $name,',
  (host) => {
    it('goes on to the host as it came', async () => {
      const running = await host.start(gateway)
      const own = { ...running, path: '' }
      const body = JSON.stringify({ text: 'mine', more: [1, 2] })
      const echoed = await ask(own, {
        method: 'POST',
        target: '/own',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(echoed).toMatchObject({ status: 200, body })
      expect(await ask(own, { target: '/nothing' })).toMatchObject({ status: 404, body: 'nothing of the host' })
      const below = await ask(running, { method: 'POST', target: '/v2/chat/completions', headers: jsonHeaders, body })
      expect(below).toMatchObject({ status: 404, body: 'nothing of the host' })
      expect(below.headers).not.toHaveProperty('x-request-id')
      await running.close()
    })
  },
)

describe.each([
  ['Express 4', expressV4],
  ['Express 5', express],
])('a body parser in front that refuses a request, on %s,', (_, framework) => {
  const withParser = (parser: RequestHandler) => {
    const app = framework()
    app.use(parser)
    app.use('/ai', mountExpress(gateway))
    app.use(ownWords)
    return serve(app)
  }

  const refusals: [name: string, body: string | Uint8Array, headers: Record<string, string>, status: number][] = [
    ['broken JSON', '{"model":', {}, 400],
    ['JSON that is no object', '"model"', {}, 400],
    ['more than its limit', JSON.stringify({ ...question, user: 'x'.repeat(200_000) }), {}, 413],
    ['an unknown charset', chat, { 'content-type': 'application/json; charset=klingon' }, 415],
    ['an unknown encoding', chat, { 'content-encoding': 'klingon' }, 415],
    ['a broken encoding', chat, { 'content-encoding': 'gzip' }, 400],
  ]

  it.each(refusals)('%s is answered in the gateway’s words', async (_, body, headers, status) => {
    const url = await withParser(express.json())
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post(body, headers))
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  })

  it('tells a stranger no more than that', async () => {
    const url = await withParser(express.json())
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post('{', { authorization: 'Bearer sk-wrong' }))
    expect(answer.status).toBe(401)
  })

  it('is the host’s own business on every other path', async () => {
    const url = await withParser(express.json())
    const answer = await fetch(`${url}/own`, post('{'))
    expect([answer.status, await answer.text()]).toEqual([400, 'the host’s own words'])
  })

  it('because the host did not like it, is the host’s own business', async () => {
    const url = await withParser(
      express.json({
        verify() {
          throw Object.assign(new Error('no signature'), { status: 403 })
        },
      }),
    )
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post(chat))
    expect([answer.status, await answer.text()]).toEqual([403, 'the host’s own words'])
  })

  it('after the host has begun to answer, is left to the host', async () => {
    const url = await withParser((_request, response, next) => {
      response.write('begun')
      next(Object.assign(new Error('too late'), { status: 400, type: 'entity.parse.failed' }))
    })
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post(chat))
    await expect(answer.text()).rejects.toThrow()
  })

  it('is told from an error of the host that looks like it', async () => {
    const url = await withParser((_request, _response, next) =>
      next(Object.assign(new Error('teapot'), { status: 418, type: 'teapot.empty' })),
    )
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post(chat))
    expect([answer.status, await answer.text()]).toEqual([418, 'the host’s own words'])
  })
})

describe('a body that the host has touched', () => {
  it('is whole for both when the host only listens', async () => {
    let heard = ''
    const { status } = await answered((request, _response, next) => {
      request.on('data', (piece: Buffer) => (heard += piece.toString('utf8')))
      next()
    })
    expect({ status, heard }).toEqual({ status: 200, heard: chat })
  })

  it('is read as text where the host has set an encoding', async () => {
    const { status } = await answered((request, _response, next) => {
      request.setEncoding('utf8')
      next()
    })
    expect(status).toBe(200)
    expect(first.vendor.requests.at(-1)?.json).toMatchObject(question)
  })

  it('is taken from `rawBody` where the host has kept it', async () => {
    const { status } = await answered((request, _response, next) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => next(void Object.assign(request, { rawBody: Buffer.concat(pieces), body: 'other' })))
    })
    expect(status).toBe(200)
  })

  it('and thrown away is a 400 that tells why', async () => {
    const { status, body } = await answered((request, _response, next) => {
      request.resume().on('end', () => next())
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { message: expect.stringContaining('before the body parser') as string } })
  })

  it('and only then given to a body parser is the same 400', async () => {
    const json = express.json()
    const { status, body } = await answered((request, response, next) => {
      request.resume().on('end', () => json(request, response, next))
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { message: expect.stringContaining('before the body parser') as string } })
  })
})

describe('the host’s own answer', () => {
  it.each([false, true])('is not disturbed when it came while the gateway was at work (stream: %s)', async (stream) => {
    const { gateway: own, vendor, close } = await hostedGateway()
    const called = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    vendor.reply = async (request, response) => {
      called.resolve()
      await go.promise
      await helpfulVendor(request, response)
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
    // The gateway's own answer goes nowhere, but comes to its end: nothing is left that closing would wait for.
    go.resolve()
    await own.close({ graceMs: 60_000 })
    await close()
  })
})

describe('a bare server', () => {
  it('may be strict about bodies of HEAD', async () => {
    const server = createServer({ rejectNonStandardBodyWrites: true }, mountNode(gateway))
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const answer = await fetch(`${url}/v1/models`, { method: 'HEAD', headers: { authorization } })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })

  it.each([
    ['HTTP/1', false],
    ['HTTP/2', true],
  ])('may hand over a request whose client has left meanwhile, over %s', async (_, http2) => {
    const { gateway: own, vendor, close } = await hostedGateway()
    const handed = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const host = plainHosts.find(({ name }) => name === (http2 ? 'node:http2' : 'node:http')) as Host
    const slow = {
      serves: () => true,
      async handle(exchange: Exchange) {
        // The body was read in time, as a parser of the host would have done; then the client was given time to leave.
        const text = await buffer((exchange.body as { stream: Readable }).stream)
        begun.resolve()
        await left.promise
        const reply = await own.handle({ ...exchange, ...pick(exchange), body: { state: 'text', text } })
        handed.resolve()
        return reply
      },
    }
    const left = Promise.withResolvers<void>()
    const running = await host.start(slow as unknown as Gateway)
    const headers = jsonHeaders
    const answering = open(running, { method: 'POST', target: '/v1/chat/completions', headers, body: chat })
    answering.catch(() => undefined)
    await begun.promise
    await running.close()
    // The response is told in its own time.
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
    left.resolve()
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
  ])('keep to their own paths and keys on %s', async (_, app) => {
    const url = await serve(app())
    expect(await asked(url, '/a', key)).toBe(200)
    expect(await asked(url, '/b', 'sk-second')).toBe(200)
    expect(await asked(url, '/a', 'sk-second')).toBe(401)
    expect(await asked(url, '/b', key)).toBe(401)
  })
})

describe.each([
  ['Koa 2', KoaV2],
  ['Koa 3', Koa],
])('%s', (_, Framework) => {
  it('lets middleware in front see and change the answer', async () => {
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

  it('ends a stream whose place another body has taken', async () => {
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

  it('reports nothing but clients that leave', async () => {
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

  it('takes nothing for its own that only begins like the path', async () => {
    const app = new Framework().use(mountKoa('/ai', gateway))
    const { port } = new URL(await serve(app.callback()))
    for (const target of ['/aiv1/models', '/ai', '/aihttp://x/v1/models', '/ai%2Fv1/models', '/AI/v1/models']) {
      const client = new RawConnection(Number(port))
      await client.send(head({ target, headers: [`authorization: ${authorization}`] }))
      expect(await client.answer()).toMatchObject({ status: 404, body: 'Not Found' })
      client.destroy()
    }
  })

  it('is told at once of a mount that cannot work', () => {
    expect(() => mountKoa('ai', gateway)).toThrow('must begin with "/"')
    const swapped = mountKoa as unknown as (gateway: unknown, path: string) => unknown
    expect(() => swapped(gateway, '/ai')).toThrow('mount(path, gateway)')
    expect(() => mountKoa('/ai', undefined as never)).toThrow('mount(path, gateway)')
  })
})

describe('authenticate', () => {
  it('gets what the host calls a request, with the address as the host sees it', async () => {
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
