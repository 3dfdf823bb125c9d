import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readJson } from '../../src/http/body.ts'
import type { Exchange, RequestBody } from '../../src/http/exchange.ts'
import { sizes } from './json.ts'

function exchange(
  body: RequestBody,
  headers: Exchange['headers'] = {},
  signal = new AbortController().signal,
): Exchange {
  return { method: 'POST', target: '/v1/x', headers: { 'content-type': 'application/json', ...headers }, body, signal }
}

const unread = (...pieces: (string | Uint8Array)[]): RequestBody => ({
  state: 'unread',
  stream: Readable.from(
    pieces.map((piece) => Buffer.from(piece)),
    { objectMode: false },
  ),
})

/** The value that was read, or the status of the error. */
async function outcome(asked: Exchange, limits = sizes): Promise<unknown> {
  try {
    return (await readJson(asked, limits)).value
  } catch (error) {
    return (error as { status: number }).status
  }
}

const chat = { model: 'small', text: 'Größe 👋' }
const text = JSON.stringify(chat)

describe('a body that the host has not read', () => {
  it('is read however it is split into chunks', async () => {
    const bytes = Buffer.from(text)
    for (let at = 0; at <= bytes.length; at++) {
      expect(await outcome(exchange(unread(bytes.subarray(0, at), bytes.subarray(at))))).toEqual(chat)
    }
  })

  it('counts as an empty object when it is empty', async () => {
    expect(await outcome(exchange(unread()))).toEqual({})
    expect(await outcome(exchange({ state: 'text', text: '' }))).toEqual({})
  })

  it('is rejected with 413 by its declared length, without being read', async () => {
    const stream = new PassThrough()
    const body: RequestBody = { state: 'unread', stream }
    expect(await outcome(exchange(body, { 'content-length': String(sizes.jsonBytes + 1) }))).toBe(413)
    expect(stream.readableDidRead).toBe(false)
  })

  it('is rejected with 413 as soon as it is too large, and the rest is discarded', async () => {
    const stream = new PassThrough()
    const refused = outcome(exchange({ state: 'unread', stream }), { ...sizes, jsonBytes: 10 })
    stream.write('01234567890')
    expect(await refused).toBe(413)
    stream.end('more')
    await new Promise((resolve) => stream.on('close', resolve))
    expect(stream.readableEnded).toBe(true)
  })

  it('is rejected with 408 when it stops arriving, but not when it arrives slowly', async () => {
    const patience = { ...sizes, bodyIdleMs: 60 }
    const silent = new PassThrough()
    silent.write('{')
    expect(await outcome(exchange({ state: 'unread', stream: silent }), patience)).toBe(408)
    const slow = new PassThrough()
    const read = outcome(exchange({ state: 'unread', stream: slow }), patience)
    for (const character of '{"a":12}') {
      slow.write(character)
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
    slow.end()
    expect(await read).toEqual({ a: 12 })
  })

  it.each<[string, (stream: PassThrough, client: AbortController) => void]>([
    ['before it is read', (stream) => stream.destroy()],
    ['with an error', (stream) => stream.destroy(new Error('ECONNRESET'))],
    ['as the host has seen', (_, client) => client.abort()],
  ])('fails with 499 when the client disconnects %s', async (_, leave) => {
    for (const early of [true, false]) {
      const stream = new PassThrough()
      const client = new AbortController()
      stream.on('error', () => undefined)
      if (early) leave(stream, client)
      const read = outcome(exchange({ state: 'unread', stream }, {}, client.signal))
      if (!early) leave(stream, client)
      expect(await read).toBe(499)
    }
  })

  it('removes its listeners afterwards', async () => {
    const stream = new PassThrough()
    const read = outcome(exchange({ state: 'unread', stream }))
    stream.end(text)
    expect(await read).toEqual(chat)
    expect([stream.listenerCount('data'), stream.listenerCount('end')]).toEqual([0, 0])
  })

  it.each([
    ['text/plain'],
    ['application/json; charset=latin1'],
    ['application/json\t'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/json, application/json'],
  ])('is rejected with 415 with content type %j', async (type) => {
    expect(await outcome(exchange(unread(text), { 'content-type': type }))).toBe(415)
  })

  it.each([
    ['application/json'],
    ['APPLICATION/JSON; charset=UTF-8'],
    ['application/json;charset="utf-8"'],
    [undefined],
  ])('is accepted with content type %j', async (type) => {
    expect(await outcome(exchange(unread(text), { 'content-type': type }))).toEqual(chat)
  })

  it('is rejected with 415 if its encoding is unknown, or if there are several', async () => {
    for (const encoding of ['identity, gzip', 'gzip, br', 'x']) {
      expect(await outcome(exchange(unread(text), { 'content-encoding': encoding }))).toBe(415)
    }
    expect(await outcome(exchange(unread(text), { 'content-encoding': 'Identity' }))).toEqual(chat)
  })
})

describe('a body that the host’s parser has read', () => {
  it('is accepted as text or as a parsed value', async () => {
    expect(await outcome(exchange({ state: 'text', text }))).toEqual(chat)
    expect(await outcome(exchange({ state: 'text', text: Buffer.from(text) }))).toEqual(chat)
    expect(await outcome(exchange({ state: 'parsed', value: chat }))).toEqual(chat)
  })

  it('is not decompressed again, even if the header is still present', async () => {
    expect(await outcome(exchange({ state: 'text', text }, { 'content-encoding': 'gzip' }))).toEqual(chat)
  })

  it.each([
    [400, 400],
    [403, 400],
    [413, 413],
    [415, 415],
    [500, 500],
  ])('and rejected with %d is rejected with %d', async (status, expected) => {
    expect(await outcome(exchange({ state: 'failed', status }))).toBe(expected)
  })

  it('and discarded is rejected with advice for the host', () => {
    expect(() => readJson(exchange({ state: 'lost' }), sizes)).toThrow('before the body parser')
  })
})
