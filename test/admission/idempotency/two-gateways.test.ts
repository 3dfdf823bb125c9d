/** The same key at two gateways that share a storage: one vendor request, one charge, one response. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { fresh } from '../../../src/testing/kit.ts'
import type { VendorReply } from '../../../src/testing/vendor.ts'
import { streamEvents, whole } from '../scene.ts'
import { everyBundle, type Open } from '../../every-bundle.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { ask, begin, gated, inTurn, KeyedClient, question, type Answer } from './keyed.ts'
import { childAt, optionsOf } from './sharing.ts'
import { slowness } from '../../cpu-time.ts'

const streamed = { ...question, stream: true }
const stream: VendorReply = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamEvents.join(''))
}

/** One vendor and one account with 9,000 micro-units; a request costs 30. */
async function shared(open: Open, reply: VendorReply, leaseMs?: number) {
  const vendor = await vendorFor(reply)
  const account = fresh('account')
  const sharing = { vendor: vendor.baseURL, account, ...(leaseMs !== undefined && { leaseMs }) }
  const { ledger } = await open()
  await ledger.credit({ account, amount: 9_000n, reference: fresh('r') })
  const gateway = async () => hostedWith(optionsOf(await open(), sharing))
  /** Waits until nothing is held, then returns the amount charged. */
  const paid = async () => {
    await expect.poll(async () => (await ledger.account(account))?.held).toBe(0n)
    return 9_000n - ((await ledger.account(account))?.balance ?? 0n)
  }
  return { vendor, sharing, gateway, paid }
}

async function pair(open: Open, reply: VendorReply) {
  const stage = await shared(open, reply)
  const [here, there] = [await stage.gateway(), await stage.gateway()]
  return { ...stage, here, there }
}

const retryable = { status: 409, code: 'conflict', shouldRetry: 'true' }
const final = { status: 409, code: 'conflict', shouldRetry: 'false' }

describe.each(everyBundle())('sharing %s:', (kind, there, open, place) => {
  test.skipIf(!there).for([
    ['JSON', question, whole],
    ['a stream', streamed, stream],
  ] as const)('%s calls the vendor once, is charged once, and is the same at both', async ([, body, reply]) => {
    const { here, there, vendor, paid } = await pair(open, reply)
    const first = await ask(here.url, { body })
    // A client gets the end of a stream before the store does. The same gateway waits for the store; the other does not.
    const again = [await ask(here.url, { body }), await ask(there.url, { body })]
    expect([first.status, first.replayed]).toEqual([200, null])
    for (const { text, type, replayed } of again)
      expect([text, type, replayed]).toEqual([first.text, first.type, 'true'])
    expect(vendor.requests).toHaveLength(1)
    expect([here.receipts.length, there.receipts.length]).toEqual([1, 0])
    expect(await paid()).toBe(30n)
  })

  test.skipIf(!there).for([
    ['JSON', question, whole],
    ['a stream', streamed, stream],
  ] as const)('%s that is running at one gets a retryable 409 at the other', async ([, body, reply]) => {
    const gate = gated(reply)
    const { here, there, vendor, paid } = await pair(open, gate.reply)
    const first = ask(here.url, { body })
    await gate.received
    const joining = ask(here.url, { body })
    const early = await ask(there.url, { body })
    expect(early).toMatchObject(retryable)
    expect(early.headers.get('retry-after')).toBe('1')
    gate.open()
    const { text } = await first
    expect(await joining).toMatchObject({ status: 200, text, replayed: 'true' })
    expect(await ask(there.url, { body })).toMatchObject({ status: 200, text, replayed: 'true' })
    expect(vendor.requests).toHaveLength(1)
    expect(await paid()).toBe(30n)
  })

  test.skipIf(!there)(
    'a different request with the key is rejected at both, before and after the response',
    async () => {
      const gate = gated(whole)
      const { here, there, vendor } = await pair(open, gate.reply)
      const other = { ...question, n: 2 }
      const first = ask(here.url)
      await gate.received
      expect(await ask(there.url, { body: other })).toMatchObject(final)
      gate.open()
      await first
      for (const { url } of [here, there]) expect(await ask(url, { body: other })).toMatchObject(final)
      expect(vendor.requests).toHaveLength(1)
    },
  )

  test.skipIf(!there)('many concurrent requests at both call the vendor once', async () => {
    const { here, there, vendor, paid } = await pair(open, whole)
    const urls = Array.from({ length: 20 }, (_, index) => [here, there][index % 2]?.url as string)
    const responses = await Promise.all(urls.map(async (url) => ask(url)))
    const served = responses.filter(({ status }) => status === 200)
    expect(served.length).toBeGreaterThanOrEqual(10)
    expect(new Set(served.map(({ text }) => text)).size).toBe(1)
    for (const early of responses.filter(({ status }) => status !== 200)) expect(early).toMatchObject(retryable)
    const after = await Promise.all(urls.map(async (url) => ask(url)))
    expect(new Set(after.map(({ text }: Answer) => text))).toEqual(new Set([served[0]?.text]))
    expect(vendor.requests).toHaveLength(1)
    expect(await paid()).toBe(30n)
  })

  test.skipIf(!there)('after a disconnect at one, the other calls the vendor again', async () => {
    const gate = gated(whole)
    const { here, there, vendor, paid } = await pair(open, inTurn(gate.reply, whole))
    const disconnect = new AbortController()
    const failed = expect(begin(here.url, { signal: disconnect.signal })).rejects.toThrow()
    await gate.received
    disconnect.abort()
    await failed
    await expect.poll(async () => ask(there.url)).toMatchObject({ status: 200 })
    gate.open()
    expect(vendor.requests).toHaveLength(2)
    // The disconnected request is charged for its prompt, which the vendor had received.
    expect(await paid()).toBe(30n + BigInt(Math.ceil(JSON.stringify(question).length / 4)))
  })

  test.skipIf(!there)('the key of a killed process is free after its lease, not before', async () => {
    const gate = gated(whole)
    onTestFinished(gate.open)
    const leaseMs = Math.ceil(3_000 * Math.min(4, slowness()))
    const { vendor, sharing, gateway, paid } = await shared(open, inTurn(gate.reply, whole), leaseMs)
    const child = await childAt(place, sharing)
    onTestFinished(child.kill)
    const there = await gateway()
    // The lease starts after this.
    const beforeLease = performance.now()
    const failed = expect(ask(child.url)).rejects.toThrow()
    await gate.received
    await child.kill()
    await failed
    const responses: Answer[] = []
    const send = async () => {
      const response = await ask(there.url)
      responses.push(response)
      return response
    }
    const served = { status: 200, replayed: null }
    await expect.poll(send, { interval: 20, timeout: leaseMs + 30_000 }).toMatchObject(served)
    expect(performance.now() - beforeLease).toBeGreaterThan(leaseMs - 50)
    for (const early of responses.slice(0, -1)) expect(early).toMatchObject(retryable)
    expect((await ask(there.url)).replayed).toBe('true')
    expect(vendor.requests).toHaveLength(2)
    expect(await paid()).toBe(30n)
  })

  test.runIf(kind === 'SQLite')(
    'the official client gets the response of the first request by its own retries',
    async () => {
      const gate = gated(whole)
      const { here, there, vendor } = await pair(open, gate.reply)
      const first = ask(here.url, { body: question })
      await gate.received
      const opening: typeof fetch = async (...input) => {
        const answer = await fetch(...input)
        gate.open()
        return answer
      }
      const client = new KeyedClient({ baseURL: `${there.url}/v1`, apiKey: 'sk-test', fetch: opening })
      const { choices } = await client.chat.completions.create(question as never, { idempotencyKey: 'k' })
      expect(choices[0]?.message.content).toBe('Hi')
      expect((await first).status).toBe(200)
      expect(vendor.requests).toHaveLength(1)
    },
  )
})
