import { request } from 'node:http'
import { PassThrough } from 'node:stream'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createGateway, type GatewayOptions } from 'modelhatch'
import { demo } from 'modelhatch/providers'
import type { Exchange } from '../../src/http/exchange.ts'
import { inflated } from '../../src/http/inflate.ts'
import { MultipartReader } from '../../src/http/multipart.ts'
import { defaultSizes } from '../../src/http/sizes.ts'
import { hosted } from '../hosted.ts'
import { wav } from '../sound.ts'
import { boundary, multipart, text } from './form.ts'

const json = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Reply with exactly: pong' }] })
const compressions: [string, (text: string | Uint8Array) => Buffer][] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
]

function served(options: Partial<GatewayOptions> = {}): Promise<string> {
  const models = { demo: demo(), 'demo-transcription': demo() }
  return hosted(createGateway({ keys: { 'sk-test': {} }, models, ...options }))
}

async function send(url: string, body: Uint8Array, encoding: string, more: Record<string, string> = {}) {
  const headers = {
    authorization: 'Bearer sk-test',
    'content-type': 'application/json',
    'content-encoding': encoding,
    ...more,
  }
  const answer = await fetch(url, { method: 'POST', headers, body: body as never })
  return { status: answer.status, json: (await answer.json()) as { error?: { message: string; code: string } } }
}

const chatOf = (url: string) => `${url}/v1/chat/completions`

/** A chat request whose text repeats one letter. */
function repeated(length: number): string {
  return JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'a'.repeat(length) }] })
}

describe('a compressed body', () => {
  const otherNames: typeof compressions = [
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
  ]
  test.each([...compressions, ...otherNames])('with %s is read', async (encoding, compress) => {
    expect(await send(chatOf(await served()), compress(json), encoding)).toMatchObject({
      status: 200,
      json: { choices: [{ message: { content: 'pong' } }] },
    })
  })

  test.each(compressions)('with %s may be a form', async (encoding, compress) => {
    const form = new FormData()
    form.set('model', 'demo-transcription')
    form.set('file', new File([wav({ seconds: 1 })], 'sound.wav'))
    const whole = new Response(form)
    const body = compress(new Uint8Array(await whole.arrayBuffer()))
    const type = { 'content-type': whole.headers.get('content-type') as string }
    expect(await send(`${await served()}/v1/audio/transcriptions`, body, encoding, type)).toMatchObject({
      status: 200,
      json: { text: expect.stringContaining('1 second') as string },
    })
  })

  test('may have the maximum size of a body after decompression', async () => {
    const url = chatOf(await served({ sizes: { jsonBytes: 10_000 } }))
    expect((await send(url, gzipSync(repeated(9_000)), 'gzip')).status).toBe(200)
    expect(await send(url, gzipSync(repeated(11_000)), 'gzip')).toMatchObject({
      status: 413,
      json: { error: { code: 'request_too_large' } },
    })
  })

  test.each(compressions)('with %s that exceeds the ratio is rejected', async (encoding, compress) => {
    const url = chatOf(await served())
    const { status, json: reply } = await send(url, compress(repeated(15_000_000)), encoding)
    expect([status, reply.error?.message]).toEqual([413, expect.stringContaining('more than 100 times')])
    // The first MiB is not subject to the ratio.
    expect((await send(url, compress(repeated(1_000_000)), encoding)).status).toBe(200)
  })

  test('may exceed the default ratio if the host allows it', async () => {
    const url = chatOf(await served({ sizes: { inflateRatio: 10_000 } }))
    expect((await send(url, gzipSync(repeated(5_000_000)), 'gzip')).status).toBe(200)
  })

  test.each(compressions)(
    'with %s that is corrupt, truncated or not compressed is rejected',
    async (encoding, compress) => {
      const url = chatOf(await served())
      const whole = compress(json)
      for (const body of [Buffer.from(json), whole.subarray(0, -8), Buffer.alloc(40, 255)]) {
        const { status, json: reply } = await send(url, body, encoding)
        expect([status, reply.error?.code]).toEqual([400, 'invalid_request_error'])
      }
    },
  )

  test.each(['gzip, br', 'klingon', 'constructor', 'gzip;q=1'])(
    'with the unknown encoding %j is rejected',
    async (encoding) => {
      const { status, json: reply } = await send(chatOf(await served()), gzipSync(json), encoding)
      expect([status, reply.error?.message]).toEqual([415, expect.stringContaining('gzip')])
    },
  )

  test('is not decompressed for a client without a valid key', async () => {
    const url = chatOf(await served())
    expect((await send(url, gzipSync(json), 'gzip', { authorization: 'Bearer sk-other' })).status).toBe(401)
  })

  test('whose client disconnects in the middle causes no error in the host', async () => {
    const url = await served()
    const asked = request(chatOf(url), {
      method: 'POST',
      headers: {
        authorization: 'Bearer sk-test',
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'content-length': 1_000,
      },
    })
    asked.on('error', () => undefined)
    await new Promise<void>((resolve) => asked.write(gzipSync(json).subarray(0, 20), () => resolve()))
    asked.destroy()
    expect((await send(chatOf(url), gzipSync(json), 'gzip')).status).toBe(200)
  })
})

test.each(['that is refused', 'behind the last part'])(
  'what is left of a form %s is not decompressed',
  async (which) => {
    const source = new PassThrough()
    const { signal } = new AbortController()
    const exchange = { headers: { 'content-encoding': 'gzip' }, signal } as unknown as Exchange
    const stream = inflated(exchange, source, defaultSizes)
    const reader = new MultipartReader({ stream, boundary, sizes: defaultSizes, signal })
    source.write(gzipSync(which === 'that is refused' ? `--${boundary}\r\n` : multipart(text('a', 'b'))))
    if (which === 'that is refused') reader.fail(new Error('refused'))
    else await reader.next()
    await expect.poll(() => stream.destroyed).toBe(true)
    // The connection carries the response.
    source.end(Buffer.alloc(1_000_000))
    await expect.poll(() => source.readableEnded).toBe(true)
  },
)
