/** Clients that read a large chunk slowly, behind each kind of host. */
import { connect } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { createGateway } from 'modelhatch'
import { defineProvider, finish, text } from 'modelhatch/providers'
import { plainHosts } from './hosts.ts'
import { head } from './raw.ts'

const bytes = 13_000_000
const stallMs = 800

const gateway = createGateway({
  keys: { 'sk-slow': {} },
  models: {
    m: defineProvider({
      name: 'at once',
      async *generate() {
        yield text('x'.repeat(bytes))
        yield finish('stop')
      },
    }),
  },
  timeouts: { stallMs },
})
afterAll(() => gateway.close({ graceMs: 0 }))

const hosts = plainHosts.filter(({ http2, family }) => !http2 && family !== 'fetch')

describe.each(hosts)('behind $name', (host) => {
  it('a client that reads a large chunk for longer than it may read nothing gets all of it', { retry: 2 }, async () => {
    const running = await host.start(gateway)
    const socket = connect(running.port, '127.0.0.1').on('error', () => undefined)
    const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
    socket.pause()
    let read = 0
    const start = performance.now()
    const lines = ['authorization: Bearer sk-slow', 'content-type: application/json', `content-length: ${body.length}`]
    socket.write(head({ method: 'POST', target: `${host.path}/v1/chat/completions`, headers: lines }) + body)
    // The kernel takes some megabytes at once.
    while (read < bytes && !socket.closed) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      read += (socket.read() as Buffer | null)?.length ?? 0
    }
    expect(read).toBeGreaterThanOrEqual(bytes)
    expect(performance.now() - start).toBeGreaterThan(2 * stallMs)
    socket.destroy()
    await running.close()
  })
})
