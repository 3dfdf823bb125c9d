import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authorization, hostedGateway, question } from './gateway.ts'
import { plainHosts, type RunningHost } from './hosts.ts'
import { head, RawConnection } from './raw.ts'
import { calmly } from '../../cpu-time.ts'

const { gateway, vendor, close } = await hostedGateway({ sizes: { jsonBytes: 100_000, bodyIdleMs: 200 } })
afterAll(close)

const json = 'content-type: application/json'
const key = `authorization: ${authorization}`
const bodies = plainHosts.filter(({ http2, family }) => !http2 && family !== 'fetch')

describe.each(bodies)('a body that is not read completely, behind $name', (host) => {
  let running: RunningHost
  const connections: RawConnection[] = []
  beforeAll(async () => {
    running = await host.start(gateway)
  })
  afterAll(async () => {
    for (const connection of connections) connection.destroy()
    await running.close()
  })
  const connect = () => {
    const connection = new RawConnection(running.port)
    connections.push(connection)
    return connection
  }
  const chat = (...headers: string[]) =>
    head({ method: 'POST', target: `${host.path}/v1/chat/completions`, headers: [json, ...headers] })

  const refusals: [name: string, headers: string[], status: number][] = [
    ['too large', [key], 413],
    ['without a key', [], 401],
  ]

  it.each(refusals)(
    '%s: a client that sends everything before it reads still gets the response',
    async (_, headers, status) => {
      const client = connect()
      client.socket.pause()
      await client.send(chat(...headers, 'content-length: 12000000'))
      await client.send(Buffer.alloc(12_000_000))
      client.socket.resume()
      const answer = await client.answer()
      expect(answer.status).toBe(status)
      expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'invalid_request_error' } })
      expect(answer.headers['connection']).toBe('close')
      await client.closed()
    },
  )

  it('is rejected immediately if its content-length is too large', async () => {
    const client = connect()
    await client.send(chat(key, 'content-length: 10000000000'))
    const answer = await client.answer()
    expect(answer.status).toBe(413)
    expect(answer.headers['connection']).toBe('close')
  })

  it('is rejected as soon as it is too large if it has no content-length', async () => {
    const client = connect()
    await client.send(chat(key, 'transfer-encoding: chunked'))
    const answering = client.answer()
    const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`
    // Only up to the limit.
    for (let sent = 0; sent <= 100_000; sent += 0x4000) await client.send(piece)
    expect((await answering).status).toBe(413)
    // The client may finish its body: the connection is not reset.
    await client.send(`${piece}0\r\n\r\n`)
    await client.closed()
  })

  it('does not close the connection if only a small rest is missing', async () => {
    const client = connect()
    const body = JSON.stringify({ ...question, user: 'x'.repeat(1_000) })
    await client.send(chat(`content-length: ${Buffer.byteLength(body)}`))
    const refused = await client.answer()
    expect(refused.status).toBe(401)
    expect(refused.headers['connection']).not.toBe('close')
    await client.send(body.slice(0, 10))
    await client.send(body.slice(10) + head({ target: `${host.path}/v1/models`, headers: [key] }))
    expect((await client.answer()).status).toBe(200)
  })

  it('times out with 408', async () => {
    const client = connect()
    await client.send(`${chat(key, 'content-length: 100')}{"model"`)
    const answer = await client.answer()
    expect(answer.status).toBe(408)
    expect(answer.headers['connection']).toBe('close')
  })

  it('is requested with 100 if the client sends expect: 100-continue', async () => {
    const client = connect()
    const body = JSON.stringify(question)
    await client.send(chat(key, 'expect: 100-continue', `content-length: ${Buffer.byteLength(body)}`))
    expect((await client.answer()).status).toBe(100)
    await client.send(body)
    expect((await client.answer()).status).toBe(200)
  })

  it('does not reach the vendor if the client disconnects while sending', async () => {
    const before = vendor.requests.length
    const client = connect()
    await client.send(`${chat(key, 'content-length: 100')}{"model"`)
    client.destroy()
    const next = connect()
    await next.send(head({ target: `${host.path}/v1/models`, headers: [key] }))
    expect((await next.answer()).status).toBe(200)
    expect(vendor.requests.length).toBe(before)
  })
})

/** Slow, so it runs concurrently with the other tests. */
const lingering = (async () => {
  const running = await (bodies[0] as (typeof bodies)[0]).start(gateway)
  const client = new RawConnection(running.port)
  await client.send(head({ method: 'POST', target: '/v1/models', headers: ['content-length: 10000000000'] }))
  const { status } = await client.answer()
  const sending = setInterval(() => void client.send('x'.repeat(1_000)), 20)
  const from = performance.now()
  await client.closed()
  clearInterval(sending)
  const ms = performance.now() - from
  await running.close()
  return { status, ms }
})()

it('a client that continues to send after its response is disconnected after a while', async () => {
  const { status, ms } = await lingering
  expect(status).toBe(401)
  expect(ms).toBeGreaterThan(2_000)
  expect(calmly(ms, 5_000)).toBeLessThan(5_000)
})
