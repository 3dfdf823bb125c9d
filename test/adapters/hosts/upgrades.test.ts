/** WebSocket upgrades where none are mounted. Clients such as Codex fall back to HTTP immediately if they get a 426. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { hostedGateway, jsonHeaders } from './gateway.ts'
import { everyHost } from './hosts.ts'
import { head, RawConnection } from './raw.ts'

const { gateway, close } = await hostedGateway()
afterAll(close)

const upgrade = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
]
const hosts = everyHost.filter(({ http2, family }) => !http2 && family !== 'fetch')

async function send(port: number, target: string, headers: readonly string[]) {
  const connection = new RawConnection(port)
  onTestFinished(() => connection.destroy())
  await connection.send(head({ target, headers }))
  return connection.answer()
}

describe.each(hosts)('$name', (host) => {
  test('a WebSocket for responses is rejected with 426 and a message that names POST', async () => {
    const running = await host.start(gateway)
    const key = `authorization: ${jsonHeaders.authorization}`
    const target = `${host.path}/v1/responses`
    const refused = await send(running.port, target, [key, ...upgrade])
    expect(refused.status).toBe(426)
    expect(JSON.parse(refused.body)).toEqual({
      error: {
        message: expect.stringContaining('POST') as string,
        type: 'invalid_request_error',
        param: null,
        code: 'upgrade_required',
      },
    })
    expect((await send(running.port, target, [...upgrade])).status).toBe(401)
    expect((await send(running.port, target, [key])).status).toBe(405)
    expect((await send(running.port, `${host.path}/v1/models`, [key, ...upgrade])).status).toBe(200)
    await running.close()
  })
})

test('a host with its own upgrade handler can reject upgrades below the mount path as the readme recommends', async () => {
  const server = createServer((() => undefined) as RequestListener)
  server.on('upgrade', (request, socket) => {
    if (request.url?.startsWith('/ai/v1/') === true) {
      socket.end('HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  expect((await send(port, '/ai/v1/responses', upgrade)).status).toBe(426)
})
