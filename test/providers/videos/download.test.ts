/** Downloads from the URLs of vendors. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Client } from '../../../src/providers/client.ts'
import { download } from '../../../src/providers/videos/download.ts'

test.each([
  [403, 'not_found', 'video/mp4'],
  [404, 'not_found', 'video/mp4'],
  [500, 'service_unavailable', 'video/mp4'],
  [200, 'service_unavailable', 'text/html; charset=utf-8'],
  [200, 'service_unavailable', 'application/json'],
])(
  'a response with %i that is no video leaves no connection open: %s, %s',
  async (status, code, type) => {
    const sockets: Socket[] = []
    const server = createServer({ keepAliveTimeout: 600_000 }, (_, response) => {
      response.writeHead(status, { 'content-type': type, 'keep-alive': 'timeout=600' }).end('canary')
    })
    server.on('connection', (socket) => sockets.push(socket))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/file`)
    const { signal } = new AbortController()
    const downloading = download(url, { signal }, ({ origin }) => new Client({ baseURL: origin }))
    await expect(downloading).rejects.toMatchObject({ code })
    const [socket] = sockets
    if (socket?.closed === false) await once(socket, 'close')
    expect(sockets).toHaveLength(1)
  },
  5_000,
)
