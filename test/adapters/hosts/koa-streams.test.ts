import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { PassThrough, Readable, Transform } from 'node:stream'
import Koa, { type Middleware } from 'koa'
import KoaV2 from 'koa-v2'
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { mount } from 'modelhatch/koa'
import { ask, open } from './client.ts'
import { defaultVendor, firstFrame, hostedGateway, jsonHeaders, lastFrames, question } from './gateway.ts'
import type { RunningHost } from './hosts.ts'

const { gateway, vendor, close } = await hostedGateway()
afterAll(close)

const chat = (stream: boolean) => ({
  method: 'POST',
  target: '/v1/chat/completions',
  headers: jsonHeaders,
  body: JSON.stringify({ ...question, stream }),
})

/** A vendor that sends the first words of a stream, and nothing more. */
function firstWords(): Promise<{ signal: AbortSignal; response: ServerResponse }> {
  return new Promise((resolve) => {
    vendor.reply = ({ signal }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(firstFrame)
      resolve({ signal, response })
    }
  })
}

/** A vendor that never responds. */
function silence(): Promise<{ signal: AbortSignal }> {
  return new Promise((resolve) => {
    vendor.reply = ({ signal }) => resolve({ signal })
  })
}

const wrapping: Middleware = async (context, next) => {
  await next()
  if (context.body instanceof Readable) context.body = context.body.pipe(new PassThrough())
}

describe.each([
  ['Koa 2', KoaV2, false],
  ['Koa 3', Koa, false],
  ['Koa 3 on HTTP/2', Koa, true],
] as const)('a stream on %s', (_, Framework, http2) => {
  const serve = async (app: Koa): Promise<RunningHost> => {
    const listener = app.callback() as RequestListener
    const server = http2 ? createHttp2Server(listener as never) : createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    return { name: '', family: 'koa', path: '/ai', http2, port, close: async () => undefined } as never
  }
  /** A server with other middleware before the gateway. */
  const behind = (...before: Middleware[]) => {
    const app = new Framework()
    for (const each of before) app.use(each)
    app.use(mount('/ai', gateway))
    return serve(app)
  }
  beforeEach(() => void (vendor.reply = defaultVendor))
  afterEach(() => void vi.restoreAllMocks())

  describe.each(['the default error handler', 'a listener for errors'])('with %s', (handler) => {
    it.each(['written directly', 'wrapped by other middleware'])(
      'reports no error if the client disconnects, %s',
      async (way) => {
        const reported: unknown[] = []
        vi.spyOn(console, 'error').mockImplementation((...all) => void reported.push(all))
        const app = new Framework()
        if (handler === 'a listener for errors') app.on('error', (error) => reported.push(error))
        let closed = Promise.resolve()
        let socket: Socket | undefined
        app.use((context, next) => {
          socket = context.req.socket
          closed = new Promise((resolve) => context.res.once('close', resolve))
          return next()
        })
        if (way !== 'written directly') app.use(wrapping)
        app.use(mount('/ai', gateway))
        const host = await serve(app)
        const leave = async (signal: AbortSignal, disconnect: () => void) => {
          disconnect()
          await closed
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
          // Koa reports what it finds one turn of the event loop later.
          for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve))
        }

        const called = firstWords()
        const answer = await open(host, chat(true))
        await answer.until('"content":"Hello"')
        await leave((await called).signal, () => answer.disconnect())

        // The system reports a write on a connection that the client has reset as an error of the socket.
        const writing = firstWords()
        const cut = await open(host, chat(true))
        await cut.until('"content":"Hello"')
        const error = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
        await leave((await writing).signal, () => (http2 ? cut.disconnect() : socket?.destroy(error)))

        for (const stream of [true, false]) {
          const waiting = silence()
          const client = new AbortController()
          const asking = open(host, chat(stream), client.signal)
          asking.catch(() => undefined)
          await leave((await waiting).signal, () => client.abort())
        }
        expect(reported).toEqual([])
      },
    )
  })

  it('has the status and the headers that other middleware sets after it', async () => {
    const host = await behind(async (context, next) => {
      await next()
      context.status = 203
      context.set('x-after', 'after')
    })
    const answer = await ask(host, chat(true))
    expect(answer).toMatchObject({ status: 203, headers: { 'x-after': 'after' } })
    expect(answer.body.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('has the headers that are set after other middleware has looked at ctx.respond', async () => {
    const host = await behind(
      async (context, next) => {
        await next()
        context.set('x-after', 'after')
      },
      async (context, next) => {
        await next()
        context.set('x-respond', String(context.respond))
      },
    )
    const answer = await ask(host, chat(true))
    expect(answer.headers).toMatchObject({ 'x-after': 'after', 'x-respond': expect.any(String) as string })
    expect(answer.body.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('can be changed by other middleware', async () => {
    const host = await behind(async (context, next) => {
      await next()
      const louder = new Transform({
        transform: (piece: Buffer, _encoding, done) => done(null, piece.toString().replaceAll('Hello', 'HELLO')),
      })
      context.body = (context.body as NodeJS.ReadableStream).pipe(louder)
    })
    const { body } = await ask(host, chat(true))
    expect(body).toContain('"content":"HELLO"')
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it.each<[string, Middleware, number, string]>([
    [
      'sends another body',
      async (context, next) => {
        await next()
        context.body = 'something else'
      },
      200,
      'something else',
    ],
    [
      'sends no body',
      async (context, next) => {
        await next()
        context.status = 204
      },
      204,
      '',
    ],
    [
      'answers itself',
      async (context, next) => {
        await next()
        context.respond = false
        context.res.writeHead(202).end('by itself')
      },
      202,
      'by itself',
    ],
  ])('is ended if other middleware %s', async (_name, before, status, body) => {
    const called = firstWords()
    const host = await behind(before)
    expect(await ask(host, chat(true))).toMatchObject({ status, body })
    const { signal } = await called
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })

  it('is sent to its end', async () => {
    const called = firstWords()
    const answer = await open(await behind(), chat(true))
    await answer.until('"content":"Hello"')
    const { response } = await called
    response.end(lastFrames)
    expect((await answer.rest()).endsWith('data: [DONE]\n\n')).toBe(true)
  })
})
