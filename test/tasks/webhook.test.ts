import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { describe, expect, onTestFinished, test } from 'vitest'
import { publicLookup, publicUrl } from '../../src/http/public-address.ts'
import { deliver, type WebhookOptions } from '../../src/tasks/webhook.ts'
import { hasShared, sharedJson } from '../shared.ts'
import { caller, minutes, seconds, submission, World } from './world.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

interface Delivery {
  readonly headers: Record<string, string>
  readonly body: string
}

/** A customer's server that responds with these statuses in turn, then with the last one. */
async function customer(...statuses: number[]): Promise<{ url: string; deliveries: Delivery[] }> {
  const deliveries: Delivery[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      deliveries.push({ headers: request.headers as Record<string, string>, body })
      const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) as number
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, deliveries }
}

/** A world whose process calls a webhook. */
async function worldWith(options: WebhookOptions) {
  const world = new World({ kind: 'token', push: (task, now) => deliver(options, task, now) })
  const { tasks, sweep } = world.process()
  const task = await tasks.create(submission())
  const pass = async (ms: number) => {
    world.time += ms
    await sweep()
  }
  return { world, task, tasks, pass }
}

describe('a webhook', () => {
  test('receives a signed event that the official client verifies', async () => {
    const { url, deliveries } = await customer(200)
    const { task, pass, world } = await worldWith({ endpoint: () => ({ url, secret }), allowPrivateNetwork: true })
    await pass(60 * seconds)
    await pass(1 * seconds)
    expect(deliveries).toHaveLength(1)
    const { headers, body } = deliveries[0] as Delivery
    const client = new OpenAI({ apiKey: 'sk-none', webhookSecret: secret })
    // The tolerance is wide because the time of the world is virtual.
    await client.webhooks.verifySignature(body, headers, secret, 1e12)
    expect(JSON.parse(body)).toMatchObject({ type: 'video.completed', data: { id: task.id, status: 'completed' } })
    await pass(24 * 60 * minutes)
    expect(deliveries).toHaveLength(1)
    expect(world.stored(caller.account, task.id)?.dueAt).toBeNull()
  })

  test('that fails is retried with growing waits, also by another process, and then given up', async () => {
    const { url, deliveries } = await customer(500)
    const { pass, world, task } = await worldWith({ endpoint: () => ({ url, secret }), allowPrivateNetwork: true })
    await pass(60 * seconds)
    for (const wait of [1 * seconds, 5 * seconds, 1 * minutes, 5 * minutes]) await pass(wait)
    expect(deliveries).toHaveLength(4)
    await pass(29 * minutes)
    expect(deliveries).toHaveLength(4)
    world.time += 1 * minutes
    await world.process().sweep()
    for (const wait of [2 * 60 * minutes, 24 * 60 * minutes]) await pass(wait)
    expect(deliveries).toHaveLength(6)
    expect(world.stored(caller.account, task.id)?.dueAt).toBeNull()
  })

  test('that redirects is not followed', async () => {
    const { url, deliveries } = await customer(302, 200)
    const { pass } = await worldWith({ endpoint: () => ({ url, secret }), allowPrivateNetwork: true })
    await pass(60 * seconds)
    await pass(1 * seconds)
    await pass(5 * seconds)
    expect(deliveries).toHaveLength(2)
  })

  test('on a private network is not called without allowPrivateNetwork', async () => {
    const { url, deliveries } = await customer(200)
    const { pass } = await worldWith({ endpoint: () => ({ url, secret }) })
    await pass(60 * seconds)
    await pass(10 * seconds)
    expect(deliveries).toHaveLength(0)
  })

  test.each(['', 'whsec_', 'whsec_c2hvcnQ='])('with the secret "%s" is not called', async (bad) => {
    const { url, deliveries } = await customer(200)
    const { task } = await worldWith({ endpoint: () => undefined })
    await expect(
      deliver({ endpoint: () => ({ url, secret: bad }), allowPrivateNetwork: true }, task, 0),
    ).rejects.toThrow('24 bytes')
    expect(deliveries).toHaveLength(0)
  })

  test('that responds byte by byte, or whose endpoint() never resolves, times out', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
      const dripping = setInterval(() => socket.write('.'), 5)
      socket.on('close', () => clearInterval(dripping))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { task } = await worldWith({ endpoint: () => undefined })
    const dripping = deliver({ endpoint: () => ({ url, secret }), allowPrivateNetwork: true }, task, 0, 100)
    await expect(dripping).rejects.toMatchObject({ name: 'AbortError' })
    const unnamed = deliver({ endpoint: () => new Promise(() => undefined) }, task, 0, 20)
    await expect(unnamed).rejects.toThrow()
  })

  test('without an endpoint leaves nothing due', async () => {
    const { pass, world, task } = await worldWith({ endpoint: () => undefined })
    await pass(60 * seconds)
    await pass(1 * seconds)
    expect(world.stored(caller.account, task.id)?.dueAt).toBeNull()
  })
})

interface Disguise {
  readonly id: string
  readonly url: string
  readonly expect: string
  readonly resolver?: readonly (readonly string[])[]
  readonly redirect?: string
}

describe.skipIf(!hasShared)('URLs that disguise a private address', () => {
  const { urls } = hasShared ? (sharedJson('corpora/disguises.json') as { urls: Disguise[] }) : { urls: [] }
  // data: URLs have no address, and redirects are never followed.
  const called = urls.filter((each) => !each.url.startsWith('data:') && each.redirect === undefined)

  test.each(called)('$id', async ({ url, expect: expected, resolver = [] }) => {
    const results = resolver.map((each) => each.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
    const lookup = publicLookup((_, __, found) => found(null, results.shift() ?? []))
    const parsed = publicUrl(url)
    let open = parsed !== undefined
    let connected: string | undefined
    if (parsed !== undefined && resolver.length > 0) {
      const found = await new Promise<[Error | null, unknown]>((resolve) => {
        lookup(parsed.hostname, {}, (error, address) => resolve([error, address]))
      })
      open = found[0] === null
      connected = String(found[1])
    }
    // The connection uses the address that was checked, even if the name resolves to another one later.
    if (resolver.length > 1) expect(connected).toBe(resolver[0]?.[0])
    else if (expected === 'allow') expect(open).toBe(true)
    else if (expected !== 'allow-or-block') expect(open).toBe(false)
  })
})
