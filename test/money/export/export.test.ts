/** kill -9 while charges are exported: a scripted Stripe has each of them once. `npm run test:long` kills fifty times. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stripeMeter, type ExportBatch } from '../../../src/index.ts'
import { scene, whole } from '../../admission/scene.ts'
import { everyBundle } from '../../every-bundle.ts'
import { askChat } from '../../hosted.ts'
import { long, thorough } from '../../long.ts'
import { seeded } from '../../../src/testing/random.ts'
import { sourceFlags } from '../../source-flags.ts'

interface MeterEvent {
  readonly customer: string
  readonly value: bigint
}

/** Counts each identifier once. Some answers are errors although the event was counted, and some come late or never. */
async function scriptedStripe() {
  const random = seeded(7)
  const events = new Map<string, MeterEvent>()
  let repeated = 0
  const server = createServer((request, response) => void answer(request, response))
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request))
    expect(request.headers.authorization).toBe('Bearer sk_test')
    expect(form.get('event_name')).toBe('llm')
    const identifier = form.get('identifier') as string
    const value = {
      customer: form.get('payload[stripe_customer_id]') as string,
      value: BigInt(form.get('payload[value]') ?? 0),
    }
    const known = events.get(identifier)
    if (known !== undefined) {
      repeated++
      expect(value).toEqual(known)
    }
    events.set(identifier, value)
    const fate = random()
    if (fate < 0.1) return void response.destroy()
    if (fate < 0.2) response.statusCode = 500
    else if (known !== undefined) {
      response.statusCode = 400
      return void response.end('{"error":{"message":"An event already exists with identifier x."}}')
    }
    response.end('{}')
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const sums = () => {
    const found: Record<string, bigint> = {}
    for (const { customer, value } of events.values()) found[customer] = (found[customer] ?? 0n) + value
    return found
  }
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sums, repeated: () => repeated }
}

const kills = long ? 50 : 3
const accounts = ['one', 'two', 'three']

describe.each(everyBundle())('%s', (kind, available, open, place) => {
  test.runIf(available && thorough)(
    'each charge is exported once, whenever processes are killed',
    { timeout: 600_000 },
    async () => {
      const random = seeded(kills)
      const { ledger } = await open()
      for (const account of accounts)
        await ledger.credit({ account, amount: 10_000_000n, reference: `start ${account}` })
      const stripe = await scriptedStripe()
      const start = async (charges: boolean): Promise<ChildProcess> => {
        const argument = JSON.stringify({ ...place, charges, accounts, baseURL: stripe.baseURL })
        const child = fork(`${import.meta.dirname}/charger.ts`, [argument], {
          execArgv: [...sourceFlags],
        })
        onTestFinished(() => void child.kill('SIGKILL'))
        await once(child, 'message')
        return child
      }
      // Two processes at a time, one of which is killed.
      let other = await start(true)
      for (let kill = 0; kill < kills; kill++) {
        const next = await start(true)
        await new Promise((resolve) => setTimeout(resolve, 700 + random() * 1_300))
        other.kill('SIGKILL')
        other = next
      }
      other.kill('SIGKILL')
      await start(false)
      const charged = async () => {
        const found: Record<string, bigint> = {}
        for (const account of accounts) found[`cus_${account}`] = (await ledger.lots?.read(account))?.settled ?? 0n
        return found
      }
      await expect.poll(stripe.sums, { timeout: 60_000, interval: 200 }).toEqual(await charged())
    },
  )
})

test('a gateway exports charges and payments, and a batch that was refused comes again as it was', async () => {
  const batches: ExportBatch[] = []
  const send = (batch: ExportBatch) => {
    batches.push(batch)
    if (batches.length === 1) throw new Error('not now')
  }
  const { url, gateway, receipt } = await scene(whole, { billing: { currency: 'EUR', export: { send, since: 0 } } })
  const state = async () => (await gateway.health()).export
  expect(await state()).toEqual({ waiting: 0 })
  await gateway.admin.accounts.topUp({ account: 'acme', amount: '1', reference: 'order-1' })
  await askChat(url)
  const { id } = await receipt()
  await expect.poll(state, { timeout: 20_000 }).toEqual({ waiting: 1, refusedAt: expect.any(Number) as number })
  // The payment can be exported before the charge is stored.
  const entries = () => batches.slice(1).flatMap((batch) => batch.entries)
  await expect.poll(() => entries().length, { timeout: 20_000 }).toBe(2)
  await expect.poll(async () => (await state())?.waiting, { timeout: 20_000 }).toBe(0)
  const { refusedAt = Infinity, sentAt = 0 } = (await state()) ?? {}
  expect(sentAt).toBeGreaterThan(refusedAt)
  expect(batches[1]).toEqual(batches[0])
  expect(batches[1]?.account).toBe('acme')
  expect(entries()).toMatchObject([
    { kind: 'credit', reference: 'order-1', amount: '1' },
    { kind: 'settle', reference: id, amount: '-0.00003' },
  ])
  expect(batches[1]?.id).toMatch(/^[\w-]{43}$/)
})

test('an account without a customer, and payments alone, are not metered', async () => {
  const stripe = await scriptedStripe()
  const options = { apiKey: 'sk_test', event: 'llm', baseURL: stripe.baseURL }
  const entry = { number: 1, reference: 'r', at: 1 }
  const charge = { ...entry, kind: 'settle', amount: '-1' } as const
  const payment = { ...entry, kind: 'credit', amount: '5' } as const
  await stripeMeter({ ...options, customer: () => undefined })({ id: 'a', account: 'acme', entries: [charge] })
  await stripeMeter({ ...options, customer: () => 'cus_1' })({ id: 'b', account: 'acme', entries: [payment] })
  expect(stripe.sums()).toEqual({})
})

test.each([
  ['apiKey', { apiKey: undefined }],
  ['event', { event: undefined }],
  ['customer', { customer: 'cus_1' }],
  ['baseUrl', { baseUrl: 'http://a' }],
])('stripeMeter rejects options whose "%s" is not valid', (name, wrong) => {
  const options = { apiKey: 'sk_test', event: 'llm', customer: () => 'cus_1', ...wrong }
  expect(() => stripeMeter(options as never)).toThrow(new RegExp(`^stripeMeter: .*"${name}"`))
})
