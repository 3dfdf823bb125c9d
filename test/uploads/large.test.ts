/** Large uploads through a gateway in a separate process, to measure its memory separately. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { file, multipart, boundary, text as field, type WrittenPart } from '../http/form.ts'
import { thorough } from '../long.ts'
import { sourceFlags } from '../source-flags.ts'

const megabyte = 1024 * 1024
/** Well above the memory limit of the test. */
const size = (thorough ? 300 : 120) * megabyte
const block = Buffer.alloc(64 * 1024, 'sound ')

let vendor: Server
let gateway: ChildProcess
let port: number
let folder: string
/** The upload that the vendor read last. */
let got: { bytes: number }
/** The memory that Node needs just to read and discard as many bytes, because it collects unused buffers late. */
let usual: number

beforeAll(async () => {
  vendor = createServer((incoming, response) => {
    let bytes = 0
    incoming.on('data', (piece: Buffer) => (bytes += piece.length))
    incoming.on('end', () => {
      got = { bytes }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Hello"}')
    })
  })
  vendor.listen(0, '127.0.0.1')
  await once(vendor, 'listening')
  folder = mkdtempSync(join(tmpdir(), 'modelhatch-test-'))
  const { port: vendorPort } = vendor.address() as AddressInfo
  gateway = fork(new URL('gateway.ts', import.meta.url), {
    execArgv: [...sourceFlags, '--expose-gc'],
    env: { ...process.env, TMPDIR: folder, VENDOR_URL: `http://127.0.0.1:${vendorPort}/v1` },
  })
  const [message] = (await once(gateway, 'message')) as [{ port: number }]
  port = message.port
  await send('/drain', upload([], 'file', size, []))
  usual = await peakOfMemory()
})

afterAll(() => {
  gateway.disconnect()
  vendor.close()
  rmSync(folder, { recursive: true })
})

async function peakOfMemory(): Promise<number> {
  const answer = once(gateway, 'message')
  gateway.send('memory')
  const [message] = (await answer) as [{ peak: number }]
  return message.peak
}

/** Writes the file block by block between the other parts. */
function* upload(before: WrittenPart[], name: string, bytes: number, after: WrittenPart[]) {
  const [head, tail] = multipart(...before, file(name, 'FILE', 'a.wav'), ...after)
    .toString()
    .split('FILE')
  yield Buffer.from(head as string)
  for (let sent = 0; sent < bytes; sent += block.length) yield block
  yield Buffer.from(tail as string)
}

async function send(path: string, body: Iterable<Buffer>): Promise<{ status: number; body: string }> {
  const headers = { authorization: 'Bearer sk-test', 'content-type': `multipart/form-data; boundary=${boundary}` }
  const outgoing = request({ port, host: '127.0.0.1', method: 'POST', path, headers })
  Readable.from(body).pipe(outgoing)
  const [response] = await once(outgoing, 'response')
  return { status: response.statusCode, body: await text(response) }
}

const model = field('model', 'm')

test.each([
  ['passed on while they arrive', [model], []],
  ['kept on disk', [], [model]],
])(
  'Large uploads, %s, take less than 40 MB of memory and leave nothing behind',
  async (_, before, after) => {
    const response = await send('/v1/audio/transcriptions', upload(before, 'file', size, after))
    expect(response, response.body).toMatchObject({ status: 200, body: '{"text":"Hello"}' })
    expect(got.bytes).toBeGreaterThan(size)
    expect(got.bytes).toBeLessThan(size + 1_000)
    expect(((await peakOfMemory()) - usual) / megabyte).toBeLessThan(40)
    expect(readdirSync(folder)).toEqual([])
  },
  60_000,
)
