/** The memory of a large batch. `npm run test:long` runs it with 200 MB. */
import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { openai } from 'modelhatch/providers'
import { expect, onTestFinished, test } from 'vitest'
import { fileDirectory } from '../../../src/index.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { heapUsed } from '../../heap.ts'
import { hostedWith } from '../../hosted.ts'
import { long } from '../../long.ts'

const size = long ? { lines: 48_000, timeout: 600_000 } : { lines: 3_000, timeout: 60_000 }
const lineBytes = 4_300
const token = { authorization: 'Bearer sk-test' }

/** Takes files and batches, and keeps only how long the files are. */
async function countingVendor() {
  const uploads: number[] = []
  const server = createServer((incoming, response) => {
    let bytes = 0
    incoming.on('data', (piece: Buffer) => (bytes += piece.length))
    incoming.on('end', () => {
      const isFile = incoming.url === '/v1/files'
      if (isFile) uploads.push(bytes)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"made","status":"in_progress"}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { uploads, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

function* form(lines: number): Generator<Buffer, void, void> {
  yield Buffer.from('--x\r\ncontent-disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n')
  for (let index = 0; index < lines; index++) {
    const messages = [{ role: 'user', content: 'x'.repeat(lineBytes - 140) }]
    const body = { model: 'gpt', max_tokens: 10, messages }
    const line = { custom_id: `request-${index}`, method: 'POST', url: '/v1/chat/completions', body }
    yield Buffer.from(`${JSON.stringify(line)}\n`)
  }
  yield Buffer.from('\r\n--x\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--x--\r\n')
}

/** By a client that waits for the server, unlike `fetch`. */
async function upload(url: string): Promise<{ readonly id: string; readonly bytes: number }> {
  const headers = { ...token, 'content-type': 'multipart/form-data; boundary=x' }
  const sending = request(`${url}/v1/files`, { method: 'POST', headers })
  const answered = once(sending, 'response')
  await pipeline(Readable.from(form(size.lines)), sending)
  const [response] = (await answered) as [IncomingMessage]
  return JSON.parse(await text(response)) as { id: string; bytes: number }
}

test(
  'a large file is uploaded, checked, held and submitted without being in memory',
  { timeout: size.timeout },
  async () => {
    const vendor = await countingVendor()
    const folder = mkdtempSync(join(tmpdir(), 'modelhatch-large-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const storage = sqlite(join(folder, 'gateway.db'))
    const { url } = await hostedWith({
      storage,
      batches: { files: fileDirectory(join(folder, 'files')) },
      keys: { 'sk-test': { account: 'acme' } },
      models: {
        gpt: { provider: openai({ preset: 'openai', baseURL: vendor.baseURL }), price: { input: '1', output: '1' } },
      },
      billing: { currency: 'USD' },
      tasks: { sweepMs: 600_000 },
    })
    await storage.ledger.credit({ account: 'acme', amount: 1_000_000_000_000n, reference: 'start' })
    const begin = heapUsed()
    let most = 0
    // Buffers are freed some time after their collection, so only what holds them is measured.
    let looking: NodeJS.Timeout | undefined
    const look = () => {
      const before = performance.now()
      most = Math.max(most, heapUsed())
      // A collection takes long where other tests have left much: most of the time is for the batch.
      looking = setTimeout(look, Math.max(500, 5 * (performance.now() - before)))
    }
    look()
    onTestFinished(() => clearTimeout(looking))

    const { id, bytes } = await upload(url)
    expect(bytes).toBeGreaterThan(size.lines * (lineBytes - 100))
    const batch = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' }
    const created = await fetch(`${url}/v1/batches`, {
      method: 'POST',
      headers: { ...token, 'content-type': 'application/json' },
      body: JSON.stringify(batch),
    })
    const made = (await created.json()) as { request_counts?: { total: number } }
    expect(made.request_counts?.total).toBe(size.lines)
    expect(vendor.uploads[0]).toBeGreaterThan(bytes * 0.99)
    const grown = (most - begin) / 1024 ** 2
    if (long)
      process.stdout.write(
        `${Math.round(bytes / 1e6)} MB, ${size.lines} requests: the heap grew by ${Math.round(grown)} MB\n`,
      )
    // What is known of each request while all are held, and buffers.
    expect(grown).toBeLessThan(20 + size.lines / 1_000)
  },
)
