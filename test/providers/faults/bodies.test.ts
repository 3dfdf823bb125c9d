import { gzipSync } from 'node:zlib'
import type { OpenAIOptions } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { badRequest, expectComplete, expectRefused, tooMany, unavailable, type Refusal } from './answers.ts'
import { vendorErrorBody } from './canary.ts'
import { runFault } from './run-fault.ts'
import type { Line, Script } from './raw-vendor.ts'
import { events, whole } from './healthy.ts'

const sse = 'text/event-stream'
const json = 'application/json'

const saying =
  (contentType: string, body: string | Uint8Array, headers: Record<string, string> = {}): Script =>
  (line) =>
    line.answer('200', contentType, body, headers)

function endlessSpace(line: Line): void {
  line.head('200', { 'content-type': json, 'transfer-encoding': 'chunked' })
  line.endlessly(`1000\r\n${' '.repeat(0x1000)}\r\n`)
}

function endlessEvent(line: Line): void {
  line.events().chunk('data: {"canary":"')
  line.endlessly(`10000\r\n${'x'.repeat(0x10000)}\r\n`)
}

function endlessComments(line: Line): void {
  line.events()
  line.endlessly(`1000\r\n${': canary\n\n'.padEnd(0x1000, '\n')}\r\n`)
}

const page = '<!doctype html><title>canary says no</title>'

describe.each([
  { client: 'a non-streaming client', stream: false },
  { client: 'a streaming client', stream: true },
])('$client gets a 503 without vendor text for a 200 with', ({ stream }) => {
  test.each<[string, Script]>([
    ['no body', saying(json, '')],
    ['no events', saying(sse, '')],
    ['only comments', saying(sse, ': canary\n\n: canary\n\n')],
    ['only [DONE]', saying(sse, 'data: [DONE]\n\n')],
    ['an HTML page', saying('text/html', page)],
    ['an HTML page with the content type of JSON', saying(json, page)],
    ['an HTML page with the content type of events', saying(sse, page)],
    ['JSON with the content type of events', saying(sse, '{"error":"canary"}\n')],
    ['broken JSON', saying(json, whole.slice(0, -9))],
    ['JSON that is not an object', saying(json, '"canary"')],
    ['null', saying(json, 'null')],
    ['no choices', saying(json, '{"id":"canary"}')],
    ['an empty list of choices', saying(json, '{"choices":[]}')],
    ['choices that are not objects', saying(json, '{"choices":["canary",null]}')],
    ['an event that is not JSON', saying(sse, 'data: canary\n\n')],
    ['an event that is not a chunk', saying(sse, 'data: {"choices":[{"delta":"canary"}]}\n\n')],
    ['a tool call that is a string', saying(sse, 'data: {"choices":[{"delta":{"tool_calls":["canary"]}}]}\n\n')],
    ['an error, as JSON', saying(json, vendorErrorBody())],
    ['an error, as an event', saying(sse, `data: ${vendorErrorBody()}\n\n`)],
    ['an error in an event named "error"', saying(sse, 'event: error\ndata: {"message":"canary"}\n\ndata: [DONE]\n\n')],
    ['an error after the role', saying(sse, `${events[0]}data: ${vendorErrorBody()}\n\ndata: [DONE]\n\n`)],
    ['an error that is a string', saying(json, '{"error":"canary"}')],
  ])('%s', async (_, vendor) => {
    expectRefused(await runFault({ vendor }, stream), unavailable)
  })

  test.each<[string, Script]>([
    ['compression that was not requested', saying(json, gzipSync(whole), { 'content-encoding': 'gzip' })],
    ['compressed events', saying(sse, gzipSync(events.join('')), { 'content-encoding': 'gzip' })],
    ['several layers of compression', saying(json, gzipSync(whole), { 'content-encoding': 'gzip, gzip, br' })],
    ['a compression bomb', saying(json, gzipSync(Buffer.alloc(50_000_000, ' ')), { 'content-encoding': 'gzip' })],
  ])('%s, which is not decompressed', async (_, vendor) => {
    const met = await runFault({ vendor }, stream)
    expectRefused(met, unavailable)
    const [failure] = met.failures as { error: Error }[]
    expect(String(failure?.error.cause)).toBe(
      'Error: the vendor sent a compressed response to a request for an uncompressed one',
    )
  })

  test.each<[string, Script]>([
    ['only usage', saying(sse, `${events[4]}data: [DONE]\n\n`)],
    ['the finish reason "error" and usage', saying(json, whole.replace('"stop"', '"error"'))],
  ])('%s', async (_, vendor) => {
    expectRefused(await runFault({ vendor }, stream), { ...unavailable, billed: true }, true)
  })

  test.each<[string, OpenAIOptions, Script]>([
    ['more bytes than a non-streaming response may have', { answerBytes: 100_000 }, endlessSpace],
    ['an endless event', {}, endlessEvent],
    ['endless comments', { streamBytes: 1_000_000 }, endlessComments],
  ])('%s', async (_, provider, vendor) => {
    const met = await runFault({ vendor, provider }, stream)
    expectRefused(met, { ...unavailable, billed: true }, true)
    await met.vendor.quiet()
  })
})

describe.each([
  { client: 'a non-streaming client', stream: false },
  { client: 'a streaming client', stream: true },
])('$client gets the status that an error inside a 200 implies:', ({ stream }) => {
  test.each<[string, object, Refusal]>([
    ['a number in code', { code: 400 }, badRequest],
    ['a number in status_code', { status_code: 429 }, tooMany],
    ['a number as a string', { code: '429' }, tooMany],
    ['a word in code', { code: 'rate_limit_exceeded' }, tooMany],
    ['a word in type', { type: 'invalid_request_error', code: null }, badRequest],
    ['no credit left', { type: 'insufficient_quota', code: 429 }, unavailable],
    ['a code that is not an error status', { code: 200 }, unavailable],
  ])('%s', async (_, error, refusal) => {
    const body = vendorErrorBody(error)
    expectRefused(await runFault({ vendor: saying(json, body) }, stream), refusal)
    expectRefused(await runFault({ vendor: saying(sse, `data: ${body}\n\n`) }, stream), refusal)
  })
})

describe.each([
  { client: 'a non-streaming client', stream: false },
  { client: 'a streaming client', stream: true },
])('$client gets its response from a vendor that', ({ stream }) => {
  test.each<[string, Script]>([
    ['always streams', saying(sse, events.join(''))],
    ['never streams', saying(json, whole)],
    ['sends the content type in mixed case, with a charset', saying('Application/JSON; Charset="UTF-8"', whole)],
    ['sends "content-encoding: Identity"', saying(json, whole, { 'content-encoding': 'Identity' })],
    ['answers 201', (line) => line.answer('201', json, whole)],
    [
      'ends its body by closing the connection',
      (line) => line.head('200', { 'content-type': json }).write(whole).end(),
    ],
    [
      'begins with a byte order mark and ends lines with CR LF',
      (line) => line.answer('200', `${sse}; charset=utf-8`, `\ufeff${events.join('').replaceAll('\n', '\r\n')}`),
    ],
  ])('%s', async (_, vendor) => {
    expectComplete(await runFault({ vendor }, stream), 'Hello!')
  })
})

test('an error that is compressed, although that was not requested, has its status', async () => {
  const vendor: Script = (line) => line.answer('429', json, gzipSync('{}'), { 'content-encoding': 'gzip' })
  for (const stream of [false, true]) expectRefused(await runFault({ vendor }, stream), tooMany)
})

test('a non-streaming client gets JSON of any content type; a streaming client gets a 503', async () => {
  expectComplete(await runFault({ vendor: saying('text/plain', whole) }, false), 'Hello!')
  const met = await runFault({ vendor: saying('text/plain', whole) }, true)
  expectRefused(met, unavailable)
  expect(met.vendor.requests).toHaveLength(1)
})
