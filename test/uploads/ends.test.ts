/** Uploads that are interrupted: the client disconnects, or the vendor rejects or fails, in the middle of one. */
import { once } from 'node:events'
import { createServer, request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayOptions } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import { boundary, file, multipart, temporaryFolder, text as field, type TemporaryFolder } from '../http/form.ts'
import { hostedWith } from '../hosted.ts'

let folder: TemporaryFolder

beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  while (folder.left().length > 0) await setImmediate()
  folder.remove()
})

const piece = Buffer.alloc(64 * 1024, 'sound ')
const model = field('model', 'm')

/** A vendor that handles requests before reading their bodies. */
async function vendorWith(answer: (incoming: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function gatewayBefore(baseURL: string, options: Partial<GatewayOptions> = {}) {
  const provider = openai({ baseURL })
  return hostedWith({
    models: { m: provider },
    sizes: { uploadMemoryBytes: 100_000 },
    retry: { maxAttempts: 2, backoffMs: 1 },
    ...options,
  })
}

/** An upload in progress: its headers and some bytes of its file are sent. */
function begin(url: string, before: ReturnType<typeof field>[], pieces: number): ClientRequest {
  const outgoing = request(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  outgoing.on('error', () => undefined)
  const [head = ''] = multipart(...before, file('file', 'FILE'))
    .toString()
    .split('FILE')
  outgoing.write(head)
  for (let sent = 0; sent < pieces; sent++) outgoing.write(piece)
  return outgoing
}

function finish(outgoing: ClientRequest, ...after: ReturnType<typeof field>[]): void {
  const [, tail] = multipart(file('file', 'FILE'), ...after)
    .toString()
    .split('FILE')
  outgoing.end(tail)
}

async function answerTo(outgoing: ClientRequest) {
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const { error } = JSON.parse(await text(response)) as { error: { code: string } }
  return { status: response.statusCode, code: error.code }
}

describe('a client that disconnects', () => {
  it('during an upload that is passed on aborts the request to the vendor', async () => {
    const cut = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const baseURL = await vendorWith((incoming) => {
      incoming
        .once('data', () => begun.resolve())
        .on('error', () => cut.resolve())
        .resume()
    })
    const { url, receipt } = await gatewayBefore(baseURL)
    const outgoing = begin(url, [model], 20)
    await begun.promise
    outgoing.destroy()
    await cut.promise
    expect(await receipt()).toMatchObject({ outcome: 'cancelled', attempts: 1 })
  })

  it('during an upload that is kept leaves no file, and the vendor is not called', async () => {
    let heard = 0
    const baseURL = await vendorWith(() => void heard++)
    const { url, receipts } = await gatewayBefore(baseURL)
    const outgoing = begin(url, [], 20)
    while (folder.left().length === 0) await setImmediate()
    outgoing.destroy()
    while (folder.left().length > 0) await setImmediate()
    expect([heard, receipts]).toEqual([0, []])
  })

  it('while the vendor processes a kept upload leaves no file', async () => {
    const asked = Promise.withResolvers<void>()
    const baseURL = await vendorWith((incoming) => incoming.on('end', () => asked.resolve()).resume())
    const { url, receipt } = await gatewayBefore(baseURL)
    const outgoing = begin(url, [], 20)
    finish(outgoing, model)
    await asked.promise
    expect(folder.left()).toHaveLength(1)
    outgoing.destroy()
    expect(await receipt()).toMatchObject({ outcome: 'cancelled' })
  })
})

describe('a vendor that', () => {
  it('rejects a request before reading it: the client gets the error before it has sent everything', async () => {
    const baseURL = await vendorWith((incoming, response) => {
      incoming.once('data', () => response.writeHead(401, { 'content-type': 'application/json' }).end('{}'))
    })
    const { url } = await gatewayBefore(baseURL)
    const outgoing = begin(url, [model], 20)
    expect(await answerTo(outgoing)).toEqual({ status: 503, code: 'service_unavailable' })
    outgoing.destroy()
  })

  it('disconnects in the middle of a passed-on upload: the client gets an error without a retry', async () => {
    let asked = 0
    const baseURL = await vendorWith((incoming) => {
      asked++
      incoming.once('data', () => incoming.destroy())
    })
    const { url, receipt } = await gatewayBefore(baseURL)
    const outgoing = begin(url, [model], 20)
    expect(await answerTo(outgoing)).toEqual({ status: 503, code: 'service_unavailable' })
    outgoing.destroy()
    expect(await receipt()).toMatchObject({ outcome: 'failed', attempts: 1 })
    expect(asked).toBe(1)
  })

  it('disconnects during a kept upload is called again', async () => {
    let asked = 0
    const baseURL = await vendorWith((incoming, response) => {
      if (asked++ === 0) incoming.once('data', () => incoming.destroy())
      else incoming.on('end', () => response.writeHead(500).end('{}')).resume()
    })
    const { url } = await gatewayBefore(baseURL)
    const outgoing = begin(url, [], 20)
    finish(outgoing, model)
    expect(await answerTo(outgoing)).toEqual({ status: 503, code: 'service_unavailable' })
    expect(asked).toBe(2)
  })

  it('does not read slows down the client', async () => {
    const baseURL = await vendorWith(() => undefined)
    const { url } = await gatewayBefore(baseURL)
    const outgoing = begin(url, [model], 0)
    let taken = 0
    const more = () => {
      for (; taken < 1_000; taken++) if (!outgoing.write(piece)) return
    }
    outgoing.on('drain', more)
    more()
    // No progress while other connections are served means that the upload is paused.
    for (let before = -1; before !== taken;) {
      before = taken
      for (let round = 0; round < 5; round++) await fetch(`${url}/v1/models`).then((response) => response.text())
    }
    expect(taken).toBeLessThan(400)
    outgoing.destroy()
  })
})

describe('an upload', () => {
  it.each([[[model]], [[model, field('stream', 'true')]]])(
    'that was kept is gone once it is answered: %o',
    async (after) => {
      const asked = Promise.withResolvers<void>()
      const baseURL = await vendorWith((incoming, response) => {
        incoming.on('end', () => {
          asked.resolve()
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Hello"}')
        })
        incoming.once('data', () => incoming.resume())
      })
      const { url, receipt } = await gatewayBefore(baseURL)
      const outgoing = begin(url, [], 20)
      finish(outgoing, ...after)
      await asked.promise
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
      expect(await text(response)).toContain('Hello')
      expect(await receipt()).toMatchObject({ outcome: 'completed' })
      while (folder.left().length > 0) await setImmediate()
    },
  )

  it.each([
    ['passed on', [model]],
    ['kept', []],
  ])('that stops arriving while it is %s is rejected with 408', async (_, before) => {
    const baseURL = await vendorWith((incoming) => void incoming.on('error', () => undefined).resume())
    const { url } = await gatewayBefore(baseURL, { sizes: { uploadMemoryBytes: 100_000, bodyIdleMs: 50 } })
    const outgoing = begin(url, before, 20)
    expect(await answerTo(outgoing)).toEqual({ status: 408, code: 'request_timeout' })
    outgoing.destroy()
  })

  it('for an unknown model is rejected, and leaves no file', async () => {
    const { url } = await gatewayBefore('http://127.0.0.1:1/v1')
    const outgoing = begin(url, [], 20)
    finish(outgoing, field('model', 'other'))
    expect(await answerTo(outgoing)).toEqual({ status: 404, code: 'model_not_found' })
  })

  it('that becomes too large is rejected before its end', async () => {
    const { url } = await gatewayBefore('http://127.0.0.1:1/v1', {
      sizes: { uploadMemoryBytes: 100_000, uploadBytes: 1_000_000 },
    })
    const outgoing = begin(url, [], 20)
    expect(await answerTo(outgoing)).toEqual({ status: 413, code: 'request_too_large' })
    outgoing.destroy()
  })

  it('in progress is aborted when the gateway closes', async () => {
    const begun = Promise.withResolvers<void>()
    const baseURL = await vendorWith((incoming) => {
      incoming
        .on('error', () => undefined)
        .once('data', () => begun.resolve())
        .resume()
    })
    const { url, gateway } = await gatewayBefore(baseURL)
    const outgoing = begin(url, [model], 20)
    await begun.promise
    const answer = answerTo(outgoing)
    await gateway.close({ graceMs: 10 })
    expect(await answer).toEqual({ status: 503, code: 'service_unavailable' })
    outgoing.destroy()
  })
})
