/** Decisions by OpenAI's client, over servers with its endpoint and over the demo model. */
import { defineProvider, demo, gemini, openai } from 'modelhatch/providers'
import { APIError, type OpenAI } from 'openai'
import { describe, expect, test } from 'vitest'
import { mask, memoryLedger, parseMoney } from '../../../src/index.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { clientOf } from '../ask.ts'

const questions: OpenAI.DecisionCreateParams['questions'] = [
  { type: 'predicate', name: 'twice', instructions: 'The customer was charged twice.' },
  { type: 'choice', instructions: 'What is it about?', choices: [{ value: 'billing' }, { value: true }] },
  { type: 'score', instructions: 'How urgent is it?', levels: [{ label: 'low' }, { label: 'high' }] },
  { type: 'predicate', instructions: 'It is harmful.' },
]

const answers = [
  { type: 'predicate', name: 'twice', probability: 0.98 },
  {
    type: 'choice',
    name: null,
    choice: 'billing',
    confidence: 0.9,
    probabilities: [
      { value: 'billing', probability: 0.9 },
      { value: true, probability: 0.1 },
    ],
  },
  {
    type: 'score',
    name: null,
    score: 0.7,
    confidence: 0.7,
    probabilities: [
      { value: 0, label: 'low', probability: 0.3 },
      { value: 1, label: 'high', probability: 0.7 },
    ],
  },
  { type: 'refusal', name: null },
]

function usageFor(input: number, cached = 0): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input,
  }
}

async function vendorWith(body: object, status = 200) {
  return vendorFor((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
}

const asked = { model: 'm', input: 'I was charged twice.', questions }

test('the vendor gets the request as it is, and the client its answers under the public name', async () => {
  const vendor = await vendorWith({ model: 'gpt-6-luna', answers, usage: usageFor(120, 20) })
  const provider = openai({ baseURL: vendor.baseURL, apiKey: 'k' })
  const { url, receipt } = await hostedWith({ models: { m: { provider, providerModel: 'gpt-6-luna' } } })
  const made = await clientOf(url).decisions.create({ ...asked, safety_identifier: 'u' })
  expect(vendor.requests[0]?.url).toBe('/v1/decisions')
  expect(vendor.requests[0]?.json).toEqual({ ...asked, model: 'gpt-6-luna', safety_identifier: 'u' })
  expect(made).toMatchObject({ model: 'm', answers, usage: { input_tokens: 120, output_tokens: 0 } })
  expect(await receipt()).toMatchObject({ endpoint: 'decisions', usageSource: 'reported' })
})

/** OpenAI's price: $0.10 for a million input tokens, and nothing else. */
const priced: [input: number, cost: string][] = [
  [0, '0'],
  [1, '0.000001'],
  [10, '0.000001'],
  [11, '0.000002'],
  [120, '0.000012'],
  [999, '0.0001'],
  [1_000, '0.0001'],
  [123_456, '0.012346'],
  [1_000_000, '0.1'],
  [1_050_000, '0.105'],
]

test.each(priced)('%i input tokens cost %s, held before and settled once', async (input, cost) => {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'a', amount: 10_000_000n, reference: 'start' })
  let held: bigint | undefined
  const provider = defineProvider({
    name: 'decider',
    async decide() {
      held = (await ledger.account('a'))?.held
      return { answers: answers as never, usage: usageFor(input) as never }
    },
  })
  const { url, receipt } = await hostedWith({
    keys: { 'sk-test': { account: 'a' } },
    models: { m: { provider, price: { input: '0.1' }, contextWindow: 1_050_000 } },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  // An input of about that many tokens.
  const body = { ...asked, input: 'word '.repeat(Math.max(1, input)) }
  const options = { headers: { 'idempotency-key': 'once' } }
  await clientOf(url).decisions.create(body, options)
  await clientOf(url).decisions.create(body, options)
  expect(await receipt()).toMatchObject({ charge: { cost: expect.stringMatching(new RegExp(`^${cost}$`)) as unknown } })
  const account = await ledger.account('a')
  expect([account?.balance, account?.held]).toEqual([10_000_000n - parseMoney(cost), 0n])
  expect(held).toBeGreaterThanOrEqual(parseMoney(cost))
})

test('the demo model decides by words', async () => {
  const { url } = await hostedWith({ models: { m: demo() } })
  const made = await clientOf(url).decisions.create({
    ...asked,
    input: 'About billing: charged twice. It is high time.',
  })
  expect(made.answers.map(({ type }) => type)).toEqual(['predicate', 'choice', 'score', 'predicate'])
  expect(made.answers[1]).toMatchObject({ choice: 'billing', name: null })
  expect(made.usage.output_tokens).toBe(0)
})

describe('refused', () => {
  test.each([
    ['no questions', { questions: [] }, 'questions'],
    ['an unknown type', { questions: [{ type: 'essay', instructions: 'x' }] }, 'questions[0].type'],
    ['no instructions', { questions: [{ type: 'predicate' }] }, 'questions[0].instructions'],
    [
      'one choice',
      { questions: [{ type: 'choice', instructions: 'x', choices: [{ value: 'a' }] }] },
      'questions[0].choices',
    ],
    ['no levels', { questions: [{ type: 'score', instructions: 'x' }] }, 'questions[0].levels'],
    ['no input', { input: '' }, 'input'],
    ['another tier', { service_tier: 'priority' }, 'service_tier'],
  ])('%s', async (_, change, param) => {
    const vendor = await vendorWith({ model: 'x', answers })
    const { url } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    const made = clientOf(url).decisions.create({ ...asked, ...change } as never)
    await expect(made).rejects.toMatchObject({ status: 400, param })
    expect(vendor.requests).toEqual([])
  })

  test('by name where the vendor has none, without a call', async () => {
    const vendor = await vendorWith({})
    const { baseURL } = vendor
    const { url } = await hostedWith({
      models: { google: gemini({ baseURL, apiKey: 'k' }), groq: openai({ preset: 'groq', baseURL, apiKey: 'k' }) },
    })
    for (const model of ['google', 'groq']) {
      const made = clientOf(url).decisions.create({ ...asked, model })
      await expect(made).rejects.toMatchObject({ status: 400, code: 'unsupported_value', param: 'model' })
    }
    expect(vendor.requests).toEqual([])
  })
})

test.each([
  ['too few answers', { answers: answers.slice(1), usage: usageFor(1) }],
  ['no list', { answers: 'yes' }],
  ['an answer that is none', { answers: ['yes', 'no', 'yes', 'no'] }],
])('an answer with %s is a failure', async (_, body) => {
  const vendor = await vendorWith(body)
  const { url } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
  await expect(clientOf(url).decisions.create(asked)).rejects.toThrow(APIError)
})

test('a masked text in an answer is the client’s again', async () => {
  const email = 'ada@example.com'
  const vendor = await vendorFor(({ json }, response) => {
    const { questions: sent } = json as { questions: [{ choices: [{ value: string }] }] }
    const choice = sent[0].choices[0].value
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ answers: [{ type: 'choice', choice, confidence: 1, probabilities: [] }] }))
  })
  const { url } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) }, inspect: [mask()] })
  const { answers: made } = await clientOf(url).decisions.create({
    model: 'm',
    input: [{ role: 'user', content: [{ type: 'input_json', data: { from: email } }] }],
    questions: [{ type: 'choice', instructions: 'Who?', choices: [{ value: email }, { value: 'x' }] }],
  })
  expect(vendor.requests[0]?.body.toString()).not.toContain(email)
  expect(made[0]).toMatchObject({ choice: email })
})
