/** Endpoints of the host: the same keys, limits, holds, charges, idempotency and errors as the gateway's own. */
import { defineProvider, demo, openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { askChat, createGateway, defineEndpoint, memoryLedger, type GatewayOptions } from '../../src/index.ts'
import type { CallEndpoint } from '../../src/endpoints/endpoint.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { errorOf, post } from './ask.ts'

interface Questions {
  readonly model: string
  readonly questions: readonly string[]
  readonly max_tokens?: number
}

/** Asks each question in a chat of its own, and counts the questions. */
const quiz: CallEndpoint<Questions, object> = defineEndpoint<Questions, object>({
  method: 'POST',
  path: '/v1/quizzes/run',
  name: 'quizzes',
  makes: 'text',
  lengthFields: ['max_tokens'],
  choices: ({ field }) => (field('questions') as string[]).length,
  units: (_, choices) => ({ own: { question: choices } }),
  async ask(provider, call, context) {
    const { questions, max_tokens = 50 } = call.request
    const answers: unknown[] = []
    for (const content of questions) {
      const { choices } = await askChat(provider, call, context, { messages: [{ role: 'user', content }], max_tokens })
      answers.push(choices[0]?.message.content)
    }
    context.meter.units = { own: { question: questions.length } }
    return { answers }
  },
})

const price = { input: '1', output: '1', units: { question: '0.25' } }

async function billed(options: Partial<GatewayOptions> = {}) {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const hosted = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: { m: { provider: demo(), price } },
    endpoints: [quiz],
    storage: { ledger },
    billing: { currency: 'EUR' },
    ...options,
  })
  return { ...hosted, ledger }
}

const ask = { model: 'm', questions: ['Reply with exactly: one', 'Reply with exactly: two'], max_tokens: 20 }

test('all chats of a request and its own units are on one receipt and one bill', async () => {
  const { url, receipt } = await billed()
  const { status, json } = await post(url, '/quizzes/run', ask)
  expect([status, json]).toEqual([200, { answers: ['one', 'two'] }])
  const { endpoint, outcome, usage, units, charge } = await receipt()
  expect([endpoint, outcome, units]).toEqual(['quizzes', 'completed', { own: { question: 2 } }])
  expect(usage.total_tokens).toBeGreaterThan(8)
  const tokens = (usage.prompt_tokens + usage.completion_tokens) / 1_000_000
  expect(Number(charge?.cost)).toBeCloseTo(0.5 + tokens, 6)
  expect(charge?.lines.map(({ item }) => item)).toEqual(['input', 'output', 'units.question'])
})

test('its units are held: what the balance does not cover is refused, and nothing is asked', async () => {
  const { url, receipts } = await billed()
  const answer = await post(url, '/quizzes/run', { ...ask, questions: ['a', 'b', 'c', 'd'] })
  expect([answer.status, errorOf(answer).code, receipts]).toEqual([429, 'insufficient_quota', []])
})

test('a request with an Idempotency-Key is answered once', async () => {
  const { url, receipts } = await billed()
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json', 'idempotency-key': 'k1' }
  const send = () => fetch(`${url}/v1/quizzes/run`, { method: 'POST', headers, body: JSON.stringify(ask) })
  const [first, second] = [await (await send()).text(), await (await send()).text()]
  expect([second, receipts.length]).toEqual([first, 1])
})

test('what earlier chats used is charged if a later one fails', async () => {
  let calls = 0
  const chat = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }
  const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 }
  const vendor = await vendorFor((_, response) => {
    if (++calls > 1) response.writeHead(500).end('secret')
    else response.end(JSON.stringify({ ...chat, usage }))
  })
  const models = { m: { provider: openai({ baseURL: vendor.baseURL }), price } }
  const { url, receipt } = await billed({ models })
  const answer = await post(url, '/quizzes/run', ask)
  expect([answer.status, calls, answer.text.includes('secret')]).toEqual([503, 2, false])
  expect(await receipt()).toMatchObject({ outcome: 'failed', usage, charge: { cost: '0.00101' } })
})

test('a vendor that answers text with a conversation, and one with chats, serve it', async () => {
  const provider = defineProvider({
    name: 'parrot',
    async *generate() {
      yield { kind: 'text', text: 'Polly' } as never
    },
  })
  const { url } = await hostedWith({ models: { m: provider }, endpoints: [quiz] })
  expect((await post(url, '/quizzes/run', { ...ask, questions: ['a'] })).json).toEqual({ answers: ['Polly'] })
})

describe('mistakes', () => {
  test.each([
    [{ path: '/summaries' }, 'must begin with "/v1/"'],
    [{ path: '/v1/chat/completions' }, 'already a POST /v1/chat/completions'],
  ])('%j is refused at the start', (change, message) => {
    const make = () => createGateway({ models: { m: demo() }, endpoints: [defineEndpoint({ ...quiz, ...change })] })
    expect(make).toThrow(message)
  })

  test('what no endpoint is', () => {
    expect(() => createGateway({ models: { m: demo() }, endpoints: [{ path: '/v1/x' } as never] })).toThrow(
      'must be made by defineEndpoint()',
    )
  })

  test('a request without a model, a wrong method, and an error in the endpoint', async () => {
    const broken = defineEndpoint<Questions, object>({ ...quiz, ask: () => Promise.reject(new Error('secret')) })
    const { url } = await hostedWith({ models: { m: demo() }, endpoints: [broken] })
    expect(errorOf(await post(url, '/quizzes/run', { questions: [] })).param).toBe('model')
    expect((await fetch(`${url}/v1/quizzes/run`, { headers: { authorization: 'Bearer sk-test' } })).status).toBe(405)
    const failed = await post(url, '/quizzes/run', ask)
    expect([failed.status, failed.text.includes('secret')]).toEqual([500, false])
  })
})
