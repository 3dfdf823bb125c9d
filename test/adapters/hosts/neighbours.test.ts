import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import expressV4 from 'express-v4'
import { bodyParser } from '@koa/bodyparser'
import Koa, { type Middleware } from 'koa'
import { koaBody } from 'koa-body'
import oldBodyParser from 'koa-bodyparser'
import KoaV2 from 'koa-v2'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountKoa, recover } from 'modelhatch/koa'
import { ask } from './client.ts'
import { hostedGateway, jsonHeaders, question } from './gateway.ts'
import { everyHost } from './hosts.ts'
import { chat, post, serve } from './serve.ts'

const first = await hostedGateway()
afterAll(first.close)
const { gateway } = first

const hostErrors: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) return next(error)
  response.status((error as { status: number }).status).send('the host’s own error')
}

/** The response to a chat behind a middleware of the host. */
const answered = async (before: RequestHandler, body: string = chat) => {
  const app = express()
  app.use(before)
  app.use('/ai', mountExpress(gateway))
  const answer = await fetch(`${await serve(app)}/ai/v1/chat/completions`, post(body))
  return { status: answer.status, body: (await answer.json()) as object }
}

describe.each(everyHost.filter(({ family }) => family === 'express' || family === 'koa'))(
  'a request outside the mount path, behind $name,',
  (host) => {
    it('is passed on to the host unchanged', async () => {
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
      expect(await ask(own, { target: '/nothing' })).toMatchObject({ status: 404, body: 'no route of the host' })
      const below = await ask(running, { method: 'POST', target: '/v2/chat/completions', headers: jsonHeaders, body })
      expect(below).toMatchObject({ status: 404, body: 'no route of the host' })
      expect(below.headers).not.toHaveProperty('x-request-id')
      await running.close()
    })
  },
)

describe.each([
  ['Express 4', expressV4],
  ['Express 5', express],
])('a body parser before the gateway that rejects a request, on %s,', (_, framework) => {
  const withParser = (parser: RequestHandler) => {
    const app = framework()
    app.use(parser)
    app.use('/ai', mountExpress(gateway))
    app.use(hostErrors)
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

  it.each(refusals)('%s: gets the gateway’s error format', async (_, body, headers, status) => {
    const url = await withParser(express.json())
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post(body, headers))
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  })

  it('without a key: gets only a 401', async () => {
    const url = await withParser(express.json())
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post('{', { authorization: 'Bearer sk-wrong' }))
    expect(answer.status).toBe(401)
  })

  it('on any other path: is left to the host', async () => {
    const url = await withParser(express.json())
    const answer = await fetch(`${url}/own`, post('{'))
    expect([answer.status, await answer.text()]).toEqual([400, 'the host’s own error'])
  })

  it('through its own verify function: is left to the host', async () => {
    const url = await withParser(
      express.json({
        verify() {
          throw Object.assign(new Error('no signature'), { status: 403 })
        },
      }),
    )
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post(chat))
    expect([answer.status, await answer.text()]).toEqual([403, 'the host’s own error'])
  })

  it('after the host has begun to respond: is left to the host', async () => {
    const url = await withParser((_request, response, next) => {
      response.write('begun')
      next(Object.assign(new Error('too late'), { status: 400, type: 'entity.parse.failed' }))
    })
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post(chat))
    await expect(answer.text()).rejects.toThrow()
  })

  it('is distinguished from a similar error of the host', async () => {
    const url = await withParser((_request, _response, next) =>
      next(Object.assign(new Error('teapot'), { status: 418, type: 'teapot.empty' })),
    )
    const answer = await fetch(`${url}/ai/v1/chat/completions`, post(chat))
    expect([answer.status, await answer.text()]).toEqual([418, 'the host’s own error'])
  })
})

describe('a body that the host has read', () => {
  it('is complete for both if the host only listens', async () => {
    let read = ''
    const { status } = await answered((request, _response, next) => {
      request.on('data', (piece: Buffer) => (read += piece.toString('utf8')))
      next()
    })
    expect({ status, read }).toEqual({ status: 200, read: chat })
  })

  it('is read as text if the host has set an encoding', async () => {
    const { status } = await answered((request, _response, next) => {
      request.setEncoding('utf8')
      next()
    })
    expect(status).toBe(200)
    expect(first.vendor.requests.at(-1)?.json).toMatchObject(question)
  })

  it('is taken from `rawBody` if the host has set it', async () => {
    const { status } = await answered((request, _response, next) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => next(void Object.assign(request, { rawBody: Buffer.concat(pieces), body: 'other' })))
    })
    expect(status).toBe(200)
  })

  it('and discarded is a 400 that says where to mount the gateway', async () => {
    const { status, body } = await answered((request, _response, next) => {
      request.resume().on('end', () => next())
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { message: expect.stringContaining('before the body parser') as string } })
  })

  it('and discarded before a body parser is the same 400', async () => {
    const json = express.json()
    const { status, body } = await answered((request, response, next) => {
      request.resume().on('end', () => json(request, response, next))
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { message: expect.stringContaining('before the body parser') as string } })
  })
})

describe.each([
  ['koa-bodyparser on Koa 2', KoaV2, () => oldBodyParser()],
  ['@koa/bodyparser on Koa 3', Koa, () => bodyParser()],
  ['koa-body on Koa 3', Koa, () => koaBody()],
] as [string, typeof Koa, () => Middleware][])(
  'a body parser before the gateway that rejects a request, %s,',
  (_, Framework, parser) => {
    const started = (...before: Middleware[]) => {
      const app = new Framework()
      app.on('error', () => undefined)
      for (const middleware of [...before, parser()]) app.use(middleware)
      app.use(mountKoa('/ai', gateway))
      return serve(app.callback())
    }
    const refused: [string, string, Record<string, string>, number][] = [
      ['broken JSON', '{"model":', {}, 400],
      ['more than its limit', JSON.stringify({ ...question, user: 'x'.repeat(2_000_000) }), {}, 413],
      ['a broken encoding', chat, { 'content-encoding': 'gzip' }, 400],
    ]

    it.each(refused)('%s: gets the gateway’s error format behind `recover`', async (_, body, headers, status) => {
      const url = await started(recover('/ai', gateway))
      const answer = await fetch(`${url}/ai/v1/chat/completions`, post(body, headers))
      expect([answer.status, await answer.json()]).toMatchObject([status, { error: { type: 'invalid_request_error' } }])
      const stranger = await fetch(
        `${url}/ai/v1/chat/completions`,
        post(body, { ...headers, authorization: 'Bearer x' }),
      )
      expect(stranger.status).toBe(401)
      expect((await fetch(`${url}/ai/v1/chat/completions`, post(chat))).status).toBe(200)
    })

    it('is left to the host on other paths, and so are the host’s own errors', async () => {
      const url = await started(recover('/ai', gateway), (context, next) => {
        if (context.path === '/ai/v1/models') context.throw(403, 'the host’s own error', { expose: true })
        return next()
      })
      const own = await fetch(`${url}/own`, post('{'))
      expect([own.status, own.headers.get('x-request-id')]).toEqual([400, null])
      const answer = await fetch(`${url}/ai/v1/models`)
      expect([answer.status, await answer.text()]).toEqual([403, 'the host’s own error'])
    })
  },
)

describe('a server that calls every handler with (request, response, next), such as middie,', () => {
  type Handler = (request: unknown, response: unknown, next: (error?: unknown) => void) => void
  const run = (handlers: readonly Handler[], request: IncomingMessage, response: ServerResponse) => {
    const [first, ...rest] = handlers
    if (first === undefined) return void response.writeHead(404).end('no route of the host')
    first(request, response, (error) => (error ? response.writeHead(500).end() : run(rest, request, response)))
  }
  const listener: RequestListener = (request, response) =>
    run(mountExpress(gateway) as unknown as Handler[], request, response)

  it('can use the handlers for Express', async () => {
    const url = await serve(listener)
    expect((await fetch(`${url}/v1/chat/completions`, post(chat))).status).toBe(200)
    const other = await fetch(`${url}/own`)
    expect([other.status, await other.text()]).toEqual([404, 'no route of the host'])
  })
})
