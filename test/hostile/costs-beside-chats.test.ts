/**
 * The same as `costs.test.ts` for what is not one chat after another: conversations that are stored, small calls at once,
 * videos that are deleted. A customer with a balance of 1.00 tries it; the host owes no more than the customer has paid.
 */
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { memoryLedger, memoryTaskStore } from 'modelhatch'
import { anthropic, openaiVideo, seedanceVideo, xaiVideo } from 'modelhatch/providers'
import { sqlite } from 'modelhatch/sqlite'
import { key, parrot, world } from '../adapters/ws/world.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { thorough } from '../long.ts'
import { report } from './size.ts'

/** Micro-units. */
const balance = 1_000_000n
const account = 'acme'
const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }

async function ledgerWithBalance() {
  const ledger = memoryLedger()
  await ledger.credit({ account, amount: balance, reference: 'start' })
  const paid = async () => balance - ((await ledger.account(account))?.balance ?? 0n)
  return { ledger, paid }
}

test('conversations that a WebSocket only prepares are not stored', async () => {
  const database = new DatabaseSync(':memory:')
  const { ledger, paid } = await ledgerWithBalance()
  const { connect } = await world({
    options: {
      keys: { [key]: { account } },
      models: { m: { provider: parrot(), price: { input: '1', output: '1' } } },
      billing: { currency: 'EUR' },
      storage: { ...sqlite(database), ledger },
    },
  })
  const client = await connect()
  const input = [{ role: 'user', content: 'x'.repeat(1024 * 1024) }]
  for (let calls = 0; calls < 40; calls++) {
    client.create({ generate: false, store: true, input })
    expect((await client.response()).at(-1)).toMatchObject({ response: { status: 'completed' } })
  }
  const [row] = database.prepare('SELECT total(length(body)) AS owed FROM modelhatch_responses').all()
  report(
    `prepared conversations: the host stores ${String(row?.['owed'])} bytes, the customer has paid ${await paid()}`,
  )
  expect(row).toEqual({ owed: 0 })
})

test('a cap of tokens holds for small requests with tools, ten at once', async () => {
  // Of them some 350 for the vendor's own instructions for tools, which no text of the request tells.
  const usage = { input_tokens: 561, output_tokens: 10 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_sequence: null }
  const answer = { ...message, content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', usage }
  let owed = 0
  const { baseURL } = await vendorFor((_, response) => {
    owed += usage.input_tokens + usage.output_tokens
    response.writeHead(200, { 'content-type': 'application/json' })
    setTimeout(() => response.end(JSON.stringify(answer)), 20)
  })
  const { ledger } = await ledgerWithBalance()
  const { url } = await hostedWith({
    keys: { 'sk-test': { account } },
    models: {
      m: {
        provider: anthropic({ apiKey: 'x', baseURL }),
        providerModel: 'claude-sonnet-4-5',
        price: { input: '3', output: '15' },
      },
    },
    billing: { currency: 'EUR', caps: [{ name: 'daily', period: 'day', tokens: 2_000 }] },
    storage: { ledger },
  })
  const tools = [{ name: 'f', input_schema: { type: 'object' } }]
  const body = JSON.stringify({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], tools })
  const ask = async () => {
    const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body })
    await response.arrayBuffer()
    return response.status
  }
  const statuses: number[] = []
  for (let round = 0; round < 5; round++) {
    statuses.push(...(await Promise.all(Array.from({ length: 10 }, ask))))
    await expect.poll(async () => (await ledger.account(account))?.held).toBe(0n)
  }
  report(`small requests with tools: ${owed} of 2000 tokens`)
  expect(owed).toBeGreaterThan(0)
  expect(owed).toBeLessThanOrEqual(2_000)
  expect(statuses).toContain(429)
})

describe.runIf(thorough)('50 videos that are deleted as soon as the vendor has them', () => {
  /** 20 cents. */
  const [seconds, ofVideo] = [5, 200_000]

  test.each([
    ['cannot cancel', xaiVideo, 404, true],
    ['refuses to cancel', openaiVideo, 409, true],
    ['deletes the job', openaiVideo, 200, true],
    ['confirms that it made nothing', seedanceVideo, 200, false],
  ] as const)('at a vendor that %s', async (name, make, cancelled, bills) => {
    let jobs = 0
    const gone = new Set<string>()
    const vendor = await vendorFor(({ method, url }, response) => {
      const id = url.split('/').at(-1) ?? ''
      if (method === 'DELETE' && cancelled === 200) gone.add(id)
      if (method === 'POST') jobs++
      const made = { status: 'succeeded', url: 'https://v.example/1', video: { url: 'https://v.example/1' } }
      const state = gone.has(id) ? { status: 'cancelled' } : { ...made, status: 'running' }
      const job = { id: `job${jobs}`, request_id: `job${jobs}`, ...(method === 'GET' && state) }
      const status = method === 'DELETE' ? cancelled : bills && gone.has(id) ? 404 : 200
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(job))
    })
    const { ledger, paid } = await ledgerWithBalance()
    let passed = 0
    const { url, gateway } = await hostedWith({
      keys: { 'sk-test': { account, caps: [{ name: 'daily', period: 'day', money: '0.8' }] } },
      models: { film: { provider: make({ baseURL: vendor.baseURL, apiKey: 'x' }), price: { second: '0.04' } } },
      billing: { currency: 'EUR' },
      storage: { ledger, tasks: memoryTaskStore() },
      tasks: { sweepMs: 10, deadlineMs: 60_000 },
      clock: () => Date.now() + passed,
    })
    const body = JSON.stringify({ model: 'film', prompt: 'x', duration: seconds })
    for (let calls = 0; calls < 50; calls++) {
      const response = await fetch(`${url}/v1/videos/generations`, { method: 'POST', headers, body })
      const { id } = (await response.json()) as { id?: string }
      if (id === undefined) continue
      expect((await fetch(`${url}/v1/videos/${id}`, { method: 'DELETE', headers })).status).toBe(200)
    }
    const clock = setInterval(() => (passed += 6_000), 10)
    await expect.poll(async () => (await ledger.account(account))?.held, { timeout: 20_000 }).toBe(0n)
    clearInterval(clock)
    await gateway.close()
    const owed = bills ? jobs * ofVideo : 0
    report(`videos at a vendor that ${name}: the host owes ${owed}, the customer has paid ${await paid()}`)
    expect(Number(await paid())).toBe(owed)
    // The cap counts them, too.
    if (bills) expect(jobs).toBe(4)
    else expect(jobs).toBeGreaterThanOrEqual(4)
  })
})
