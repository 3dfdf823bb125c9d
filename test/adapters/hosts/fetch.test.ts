import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { mount } from 'modelhatch/fetch'
import type { VendorRequest } from '../../../src/testing/vendor.ts'
import { firstFrame, frame, defaultVendor, hostedGateway, jsonHeaders, lastFrames, question } from './gateway.ts'

const { gateway, vendor, close } = await hostedGateway({ sizes: { jsonBytes: 100_000 } })
const handle = mount(gateway)
afterAll(close)
afterEach(() => {
  vendor.reply = defaultVendor
})

function chat(stream: boolean, init: RequestInit = {}): Request {
  const body = JSON.stringify({ ...question, stream })
  return new Request('http://host/v1/chat/completions', { method: 'POST', headers: jsonHeaders, body, ...init })
}

/** A request body that is streamed. */
function streamedBody(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): RequestInit {
  return { body: Readable.toWeb(Readable.from(pieces, { objectMode: false })) as never, duplex: 'half' } as RequestInit
}

async function* large() {
  for (let size = 0; size < 1e6; size += 10_000) yield Buffer.alloc(10_000, ' ')
}

async function* broken() {
  yield Buffer.from('{"model"')
  throw new Error('aborted')
}

/** The vendor's side of the next call, after it has sent the first frame. */
function nextCall(): Promise<{ request: VendorRequest; response: ServerResponse }> {
  return new Promise((resolve) => {
    vendor.reply = (request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(firstFrame)
      resolve({ request, response })
    }
  })
}

describe('a gateway as a function from Request to Response', () => {
  it('accepts a streamed request body', async () => {
    const bytes = Buffer.from(JSON.stringify(question))
    const pieces = async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte)
    }
    expect((await handle(chat(false, streamedBody(pieces())))).status).toBe(200)
    expect(vendor.requests.at(-1)?.json).toMatchObject(question)
  })

  it('rejects a streamed body that becomes too large or breaks off', async () => {
    expect((await handle(chat(false, streamedBody(large())))).status).toBe(413)
    expect((await handle(chat(false, streamedBody(broken())))).status).toBe(499)
  })

  it('does not read the body of an unauthenticated request', async () => {
    const request = chat(false, { headers: { 'content-type': 'application/json' } })
    expect((await handle(request)).status).toBe(401)
    expect(await request.json()).toMatchObject(question)
  })

  it('rejects a request whose body has already been read', async () => {
    const request = chat(false)
    await request.text()
    const answer = await handle(request)
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('was read before')])
  })

  it('aborts the vendor request when the reader cancels or the request is aborted', async () => {
    const abort = new AbortController()
    for (const disconnect of [(answer: Response) => answer.body?.cancel(), () => abort.abort()]) {
      const called = nextCall()
      const answer = await handle(chat(true, { signal: abort.signal }))
      const { request } = await called
      await disconnect(answer)
      if (!request.signal.aborted) await once(request.signal, 'abort')
    }
  })

  it('aborts the vendor request when the request is aborted before the response', async () => {
    const abort = new AbortController()
    const called = new Promise<VendorRequest>((resolve) => {
      vendor.reply = (request) => resolve(request)
    })
    const answer = handle(chat(false, { signal: abort.signal }))
    const { signal } = await called
    abort.abort()
    expect((await answer).status).toBe(499)
    if (!signal.aborted) await once(signal, 'abort')
    expect((await handle(chat(false, { signal: abort.signal }))).status).toBe(499)
  })

  it('reads from the vendor no faster than the client reads the response', async () => {
    const called = nextCall()
    const answer = await handle(chat(true))
    const { response } = await called
    const large = frame('x'.repeat(256 * 1024))
    const drained = () =>
      Promise.race([once(response, 'drain'), new Promise((resolve) => setTimeout(resolve, 60, 'full'))])
    let written = 0
    while (written < 128 && (response.write(large) || (await drained()) !== 'full')) written++
    expect(written * large.length).toBeLessThan(20 * 1024 * 1024)
    response.end(lastFrames)
    const text = await answer.text()
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(text.split('"content":"xxx').length - 1).toBe(written + 1)
  })

  it('ends a failed stream with an error event, not with a broken body', async () => {
    const called = nextCall()
    const answer = await handle(chat(true))
    const { response } = await called
    response.destroy()
    expect(await answer.text()).toMatch(/data: \{"error":\{.*\}\}\n\n$/)
  })

  it('serves only paths below the prefix', async () => {
    const below = mount(gateway, { prefix: '/ai/' })
    const status = async (path: string) =>
      (await below(new Request(`http://host${path}`, { headers: jsonHeaders }))).status
    expect(await status('/ai/v1/models')).toBe(200)
    for (const path of ['/v1/models', '/aiv1/models', '/ai', '/ai/ai/v1/models', '/AI/v1/models']) {
      expect([path, await status(path)]).toEqual([path, 404])
    }
  })
})
