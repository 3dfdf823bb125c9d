/** `POST /v1/rerank`: the official clients over each vendor's wire, its units, refusals, and what is charged. */
import { rerank as aiRerank } from 'ai'
import { MockRerankingModelV4 } from 'ai/test'
import { CohereClient, CohereClientV2 } from 'cohere-ai'
import { describe, expect, test } from 'vitest'
import { fromAiSdk } from '../../../adapters/bridges/ai-sdk/ai-sdk.ts'
import { memoryLedger, type GatewayOptions, type PriceOptions } from '../../../src/index.ts'
import {
  anthropic,
  cohereRerank,
  demo,
  jinaRerank,
  openai,
  teiRerank,
  voyageRerank,
  type Provider,
} from '../../../src/providers/index.ts'
import type { VendorReply } from '../../../src/testing/vendor.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { errorOf, post } from '../ask.ts'

const query = 'a small cat'
const documents = ['a dog', 'the small cat', 'a cat']
const ranked = [
  { index: 1, relevance_score: 0.9 },
  { index: 2, relevance_score: 0.5 },
]

interface Ranking {
  readonly make: (baseURL: string) => Provider
  readonly path: string
  readonly answer: unknown
  readonly received: object
  readonly used: object
}

const searched = { units: { own: { search: 1 } } }
const counted = { usage: { prompt_tokens: 26, completion_tokens: 0 }, usageSource: 'reported' }

const vendors: Readonly<Record<string, Ranking>> = {
  cohere: {
    make: (baseURL) => cohereRerank({ baseURL, apiKey: 'k' }),
    path: '/v1/rerank',
    answer: { id: 'x', results: ranked, meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } } },
    received: { model: 'm', query, documents, top_n: 2 },
    used: searched,
  },
  jina: {
    make: (baseURL) => jinaRerank({ baseURL, apiKey: 'k' }),
    path: '/v1/rerank',
    answer: { model: 'm', usage: { total_tokens: 26 }, results: ranked },
    received: { model: 'm', query, documents, top_n: 2, return_documents: false },
    used: counted,
  },
  voyage: {
    make: (baseURL) => voyageRerank({ baseURL, apiKey: 'k' }),
    path: '/v1/rerank',
    answer: { object: 'list', data: ranked, model: 'm', usage: { total_tokens: 26 } },
    received: { model: 'm', query, documents, top_k: 2 },
    used: counted,
  },
  openrouter: {
    make: (baseURL) => openai({ preset: 'openrouter', baseURL, apiKey: 'k' }),
    path: '/v1/rerank',
    answer: { id: 'x', model: 'm', results: ranked, usage: { search_units: 1, total_tokens: 26, cost: 0.002 } },
    received: { model: 'm', query, documents, top_n: 2 },
    used: { ...searched, ...counted },
  },
  vllm: {
    make: (baseURL) => openai({ preset: 'vllm', baseURL }),
    path: '/v1/rerank',
    answer: {
      id: 'x',
      model: 'm',
      usage: { total_tokens: 26 },
      results: ranked.map((each) => ({ ...each, document: { text: documents[each.index] } })),
    },
    received: { model: 'm', query, documents, top_n: 2 },
    used: counted,
  },
  tei: {
    make: (baseURL) => teiRerank({ baseURL }),
    path: '/v1/rerank',
    // All of them, and the gateway takes the best.
    answer: [{ index: 0, score: 0.1 }, ...ranked.map(({ index, relevance_score: score }) => ({ index, score }))],
    received: { query, texts: documents },
    used: { usageSource: 'estimated' },
  },
}

const replying =
  (answer: unknown): VendorReply =>
  (_, response) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))

async function over(reply: VendorReply, make: (baseURL: string) => Provider, more: Partial<GatewayOptions> = {}) {
  const vendor = await vendorFor(reply)
  const hosted = await hostedWith({ models: { m: make(vendor.baseURL) }, retry: { maxAttempts: 1 }, ...more })
  return { ...hosted, vendor }
}

const asked = { model: 'm', query, documents, top_n: 2 }

test.each(Object.entries(vendors))(
  '%s ranks, and says what it charges for',
  async (_, { make, path, answer, received, used }) => {
    const { url, vendor, receipt } = await over(replying(answer), make)
    const { status, json } = await post(url, '/rerank', asked)
    expect([status, json]).toMatchObject([200, { model: 'm', results: ranked }])
    expect(vendor.requests[0]?.url).toBe(path)
    expect(vendor.requests[0]?.json).toMatchObject(received)
    expect(await receipt()).toMatchObject({ endpoint: 'rerank', outcome: 'completed', stream: false, ...used })
  },
)

describe('the official clients', () => {
  test('cohere-ai, both versions', async () => {
    const { url } = await hostedWith({ models: { m: demo() } })
    const question = { model: 'm', query, documents, topN: 1 }
    const first = await new CohereClient({ token: 'sk-test', environment: url }).rerank({
      ...question,
      returnDocuments: true,
    })
    expect(first.results).toMatchObject([{ index: 1, document: { text: 'the small cat' } }])
    const second = await new CohereClientV2({ token: 'sk-test', environment: url }).rerank(question)
    expect(second.results.map(({ index }) => index)).toEqual([1])
    expect(second.meta?.billedUnits?.searchUnits).toBe(1)
  })

  test('AI SDK: a gateway whose model is a reranking model of the SDK, and the SDK itself', async () => {
    const model = new MockRerankingModelV4({
      doRerank: async () => ({
        ranking: ranked.map(({ index, relevance_score: relevanceScore }) => ({ index, relevanceScore })),
      }),
    })
    const { url } = await hostedWith({ models: { m: fromAiSdk(model) } })
    const { json } = await post(url, '/rerank', asked)
    const { ranking } = await aiRerank({ model, query, documents, topN: 2 })
    const { results } = json as { results: typeof ranked }
    expect(ranking.map(({ originalIndex, score }) => [originalIndex, score])).toEqual(
      results.map(({ index, relevance_score: score }) => [index, score]),
    )
  })
})

describe('the price', () => {
  async function billed(reply: VendorReply, make: (baseURL: string) => Provider, price: PriceOptions) {
    const ledger = memoryLedger()
    await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
    const vendor = await vendorFor(reply)
    return hostedWith({
      keys: { 'sk-test': { account: 'acme' } },
      models: { m: { provider: make(vendor.baseURL), price } },
      storage: { ledger },
      billing: { currency: 'USD' },
    })
  }

  test('of searches, by Cohere’s rule: $2 for a thousand', async () => {
    const { make, answer } = vendors['cohere'] as Ranking
    const { url, receipts } = await billed(replying(answer), make, { units: { search: '0.002' } })
    for (let nth = 0; nth < 10; nth++) await post(url, '/rerank', asked)
    expect(receipts.map(({ charge }) => charge?.cost)).toEqual(Array.from({ length: 10 }, () => '0.002'))
  })

  test('of tokens, by Voyage’s rule: $0.05 for a million', async () => {
    const { make, answer } = vendors['voyage'] as Ranking
    const { url, receipt } = await billed(replying(answer), make, { input: '0.05' })
    await post(url, '/rerank', asked)
    // 26 × 0.05 / 1,000,000, rounded up.
    expect((await receipt()).charge?.cost).toBe('0.000002')
  })

  test('is held by the length of the documents: 500 long ones are more than five searches', async () => {
    const { make, answer } = vendors['cohere'] as Ranking
    const { url, receipts } = await billed(replying(answer), make, { units: { search: '0.1' } })
    const long = Array.from({ length: 500 }, () => 'word '.repeat(1_000))
    const answered = await post(url, '/rerank', { ...asked, documents: long })
    expect([answered.status, receipts.length]).toEqual([429, 0])
  })

  test('a price without a part for it is refused', async () => {
    const { make, answer } = vendors['cohere'] as Ranking
    await expect(billed(replying(answer), make, { output: '1' })).rejects.toThrow('charges nothing for its rankings')
  })
})

describe('documents', () => {
  test('may be objects, of which named fields are compared, and come back as they were', async () => {
    const { make, answer } = vendors['cohere'] as Ranking
    const { url, vendor } = await over(replying(answer), make)
    const objects = documents.map((text, id) => ({ id, text, title: `Title ${id}` }))
    const { json } = await post(url, '/rerank', {
      ...asked,
      documents: objects,
      rank_fields: ['title', 'text'],
      return_documents: true,
    })
    expect(vendor.requests[0]?.json).toMatchObject({
      documents: documents.map((text, id) => `title: Title ${id}\ntext: ${text}`),
    })
    expect(json).toMatchObject({ results: [{ document: objects[1] }, { document: objects[2] }] })
  })

  test('fields that are objects are compared as JSON', async () => {
    const { make, answer } = vendors['cohere'] as Ranking
    const { url, vendor } = await over(replying(answer), make)
    const objects = documents.map((text) => ({ text, author: { name: 'Ada' }, tags: ['a', 1] }))
    await post(url, '/rerank', { ...asked, documents: objects, rank_fields: ['author', 'tags'] })
    expect(vendor.requests[0]?.json).toMatchObject({
      documents: documents.map(() => 'author: {"name":"Ada"}\ntags: ["a",1]'),
    })
  })

  test.each<[object, string]>([
    [{ documents: undefined }, 'documents'],
    [{ documents: [] }, 'documents'],
    [{ documents: 'a' }, 'documents'],
    [{ documents: ['a', 7] }, 'documents[1]'],
    [{ documents: [{ image: 'x' }] }, 'documents[0]'],
    [{ query: '' }, 'query'],
    [{ top_n: 0 }, 'top_n'],
    [{ model: 7 }, 'model'],
  ])('%j is refused by name', async (more, param) => {
    const { url } = await hostedWith({ models: { m: demo() } })
    const answer = await post(url, '/rerank', { ...asked, ...more })
    expect([answer.status, errorOf(answer).param]).toEqual([400, param])
  })
})

test.each<[string, Provider]>([
  ['a vendor without it', anthropic({ apiKey: 'k' })],
  ['OpenAI itself', openai({ apiKey: 'k' })],
])('%s refuses by name', async (_, provider) => {
  const { url } = await hostedWith({ models: { m: provider } })
  const answer = await post(url, '/rerank', asked)
  expect([answer.status, errorOf(answer).param]).toEqual([400, 'model'])
})

test.each<[number, unknown]>([
  [500, { message: 'secret' }],
  [200, { message: 'secret' }],
  [200, { results: [{ index: 1, relevance_score: 1 }] }],
  [
    200,
    {
      results: [
        { index: 3, relevance_score: 1 },
        { index: 0, relevance_score: 1 },
      ],
    },
  ],
  [
    200,
    {
      results: [
        { index: 1, relevance_score: 1 },
        { index: 1, relevance_score: 1 },
      ],
    },
  ],
  [
    200,
    {
      results: [
        { index: 1, relevance_score: 'secret' },
        { index: 0, relevance_score: 1 },
      ],
    },
  ],
])('an answer %i %j that is no ranking becomes an error of the gateway', async (status, body) => {
  const { url } = await over(
    (_, response) => void response.writeHead(status).end(JSON.stringify(body)),
    (baseURL) => cohereRerank({ baseURL }),
  )
  const answer = await post(url, '/rerank', asked)
  expect([answer.status, answer.text.includes('secret')]).toEqual([503, false])
})
