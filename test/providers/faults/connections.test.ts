import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { openai } from 'modelhatch/providers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { askChat, hostedWith } from '../../hosted.ts'
import { expectComplete, expectRefused, unavailable } from './answers.ts'
import { canary } from './canary.ts'
import { certificate } from './certificate.ts'
import { runFault } from './run-fault.ts'
import { rawVendor, type Line, type Script } from './raw-vendor.ts'
import { events, healthy, whole } from './healthy.ts'

const never: Script = () => expect.unreachable('the vendor got a request')

describe.each([
  { client: 'a non-streaming client', stream: false },
  { client: 'a streaming client', stream: true },
])('$client gets a 503 when', ({ stream }) => {
  const refused = async (vendor: Script, provider = {}) => {
    const met = await runFault({ vendor, provider }, stream)
    expectRefused(met, unavailable)
    return met
  }

  test('no server listens on the port', async () => {
    const server = createServer()
    const port = await portOf(server)
    await new Promise((resolve) => server.close(resolve))
    await refused(never, { baseURL: `http://127.0.0.1:${port}/v1` })
  })

  test('the host name does not resolve', async () => {
    await refused(never, { baseURL: 'https://vendor.canary.invalid/v1' })
  })

  test('the server does not speak TLS', async () => {
    const server = createServer((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 400 ${canary.text}\r\n\r\n`)),
    )
    await refused(never, { baseURL: `https://127.0.0.1:${await portOf(server)}/v1` })
  })

  test('the TLS handshake times out', async () => {
    const server = createServer((socket) => socket.resume())
    await refused(never, { baseURL: `https://127.0.0.1:${await portOf(server)}/v1`, connectMs: 50 })
  })

  test('the certificate is self-signed', async () => {
    const server = createTlsServer(certificate)
    server.on('tlsClientError', () => undefined)
    const { failures } = await refused(never, { baseURL: `https://localhost:${await portOf(server)}/v1` })
    expect(causesOf(failures)).toMatch(/the connection to the vendor failed: [A-Z_]*CERT[A-Z_]*/)
  })

  test.each<[string, Script]>([
    ['resets the connection', (line) => line.reset()],
    ['closes the connection', (line) => line.end()],
    ['closes in the middle of the status line', (line) => line.write('HTTP/1.1 2').end()],
    [
      'closes in the middle of the headers',
      (line) => line.write(`HTTP/1.1 200 OK\r\nx-debug: ${canary.vendorKey}\r\n`).end(),
    ],
    ['resets after the headers', (line) => line.head('200', { 'content-type': 'application/json' }).reset()],
    ['does not speak HTTP', (line) => line.write(`SSH-2.0-${canary.host}\r\n`)],
    ['sends malformed HTTP', (line) => line.write(`HTTP/1.1 abc ${canary.text}\r\n\r\n`)],
    ['sends an endless header', (line) => line.write(`HTTP/1.1 200 OK\r\nx-debug: ${'canary'.repeat(20_000)}`)],
    [
      'sends two content lengths',
      (line) => line.head('200', { 'content-length': '5\r\ncontent-length: 6' }).write('canary'),
    ],
    ['switches protocols', (line) => line.head('101', { connection: 'upgrade', upgrade: 'canary' })],
    ['sends only early hints', (line) => line.head('103', { link: '<canary>' }).end()],
    [
      'sends less than its content length',
      (line) => line.answer('200', 'application/json', whole, { 'content-length': '9999' }).end(),
    ],
    ['sends a broken chunk', (line) => line.events().write('canary\r\n')],
    ['closes in the middle of a chunk', (line) => line.events().write('ffff\r\ncanary').end()],
  ])('the vendor %s', async (_, vendor) => {
    const { vendor: raw } = await refused(vendor)
    await raw.quiet()
    expect(raw.connections).toHaveLength(1)
  })
})

describe.each([
  { client: 'a non-streaming client', stream: false },
  { client: 'a streaming client', stream: true },
])('$client gets its response when', ({ stream }) => {
  test('early hints precede it', async () => {
    const hints = `HTTP/1.1 103 Early Hints\r\nlink: <${canary.host}>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n`
    expectComplete(await runFault({ vendor: (line, asked) => healthy(line.write(hints), asked) }, stream), 'Hello!')
  })

  test('the vendor closes a reused connection while we send on it', async () => {
    const vendor = await rawVendor((line, asked) => (line.nth > 1 ? line.reset() : healthy(line, asked)))
    const provider = openai({ baseURL: vendor.baseURL })
    const { url, receipt } = await hostedWith({ models: { m: provider }, retry: { backoffMs: 1 } })
    for (const attempts of [1, 2]) {
      const response = await askChat(url, { stream })
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('!')
      expect(await receipt()).toMatchObject({ outcome: 'completed', attempts })
    }
    expect(vendor.connections.map(({ requests }) => requests)).toEqual([2, 1])
  })

  test('the vendor closed an idle connection before we send', async () => {
    const vendor = await rawVendor((line, asked) => {
      healthy(line, asked)
      line.end()
    })
    const provider = openai({ baseURL: vendor.baseURL })
    const { url, receipt } = await hostedWith({ models: { m: provider }, retry: { maxAttempts: 1 } })
    for (let asked = 1; asked <= 2; asked++) {
      const response = await askChat(url, { stream })
      expect(await response.text()).toContain('!')
      expect(await receipt()).toMatchObject({ outcome: 'completed', attempts: 1 })
      await vendor.quiet()
    }
  })

  test('several requests in sequence share one connection', async () => {
    const vendor = await rawVendor(healthy)
    const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    for (let asked = 1; asked <= 5; asked++) {
      await (await askChat(url, { stream })).text()
      await receipt()
    }
    expect(vendor.connections.map(({ requests }) => requests)).toEqual([5])
  })
})

/** Starts a server for the duration of the test and returns its port. */
async function portOf(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test('reuses a connection whose body ends a moment after [DONE]', async () => {
  let line: Line | undefined
  const vendor = await rawVendor((each) => (line = each.events().chunk(events.join(''))))
  const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
  for (let asked = 1; asked <= 3; asked++) {
    expect(await (await askChat(url, { stream: true })).text()).toContain('[DONE]')
    await receipt()
    line?.last()
    // Gives the bytes time to arrive within this process.
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  }
  expect(vendor.connections.map(({ requests }) => requests)).toEqual([3])
})

function causesOf(failures: unknown[]): string {
  return failures.map((failure) => String((failure as { error: Error }).error.cause)).join()
}
