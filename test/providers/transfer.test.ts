/** The timeouts of a vendor's response, which run only while a reader waits. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Client, type ClientOptions } from '../../src/providers/client.ts'
import { WholeBody } from '../../src/providers/whole-body.ts'
import type { Transfer } from '../../src/providers/transfer.ts'
import { vendorFor } from '../hosted.ts'

const idleMs = 60

/** A response whose body the test writes piece by piece. */
async function transferOf(
  options: Partial<ClientOptions> = { idleMs },
): Promise<{ transfer: Transfer; pieces: AsyncIterator<Buffer>; write: (piece: string) => void }> {
  const begun = Promise.withResolvers<(piece: string) => void>()
  const vendor = await vendorFor((_, response) => {
    response.writeHead(200).flushHeaders()
    begun.resolve((piece) => void response.write(piece))
  })
  const client = new Client({ baseURL: vendor.baseURL, ...options })
  onTestFinished(() => client.close())
  const transfer = await client.send({ path: '/', signal: new AbortController().signal })
  return { transfer, pieces: transfer[Symbol.asyncIterator](), write: await begun.promise }
}

test('a slow reader does not cause a timeout', async () => {
  const { pieces, write } = await transferOf()
  write('one')
  expect(String((await pieces.next()).value)).toBe('one')
  await pause(idleMs * 3)
  write('two')
  expect(String((await pieces.next()).value)).toBe('two')
})

test('a vendor that stops sending while the reader waits causes a timeout', async () => {
  const { pieces, write } = await transferOf()
  write('one')
  await pieces.next()
  await expect(pieces.next()).rejects.toMatchObject({ code: 'service_unavailable', retry: 'next' })
})

test('the timeout of the first byte ends with the first byte, even for a slow reader', async () => {
  const firstByteMs = 600
  const { pieces, write } = await transferOf({ firstByteMs })
  write('one')
  await pieces.next()
  await pause(firstByteMs * 1.2)
  write('two')
  expect(String((await pieces.next()).value)).toBe('two')
})

test('the timeout of a whole body applies even if the body arrives steadily', async () => {
  const { transfer, write } = await transferOf({})
  const dripping = setInterval(() => write('drip'), idleMs / 4)
  onTestFinished(() => clearInterval(dripping))
  await expect(transfer.read(new WholeBody(1_000_000), idleMs)).rejects.toMatchObject({ code: 'service_unavailable' })
})

test('a timeout may be very long', async () => {
  const { pieces, write } = await transferOf({ firstByteMs: Infinity, idleMs: Infinity, connectMs: Infinity })
  for (const piece of ['one', 'two']) {
    const next = pieces.next()
    await pause(5)
    write(piece)
    expect(String((await next).value)).toBe(piece)
  }
})

test('a client that is closed while its first request opens the connection sends nothing, then and later', async () => {
  const reached: unknown[] = []
  const vendor = await vendorFor((request, response) => {
    reached.push(request.url)
    response.end()
  })
  const client = new Client({ baseURL: vendor.baseURL })
  const send = () => client.send({ path: '/', signal: new AbortController().signal })
  const first = send()
  await Promise.all([client.close(), expect(first).rejects.toMatchObject({ code: 'service_unavailable' })])
  await expect(send()).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(reached).toEqual([])
})

test('a first request that is aborted at once rejects with the reason and is not sent', async () => {
  const reached: unknown[] = []
  const vendor = await vendorFor((request, response) => {
    reached.push(request.url)
    response.end()
  })
  const client = new Client({ baseURL: vendor.baseURL })
  onTestFinished(() => client.close())
  const control = new AbortController()
  const first = client.send({ path: '/first', signal: control.signal })
  control.abort(new Error('the client has gone'))
  await expect(first).rejects.toThrow('the client has gone')
  await client.send({ path: '/second', signal: new AbortController().signal })
  expect(reached).toEqual(['/v1/second'])
})
