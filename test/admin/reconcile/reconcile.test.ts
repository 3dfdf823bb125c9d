/** A month of calls against the reports of a scripted vendor, with planted causes of differences. `npm run test:long`: 200,000 calls. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createGateway,
  csvReport,
  memoryUsageStore,
  openaiReport,
  anthropicReport,
  openrouterReport,
} from '../../../src/index.ts'
import { openai } from '../../../src/providers/index.ts'
import type { UsageRecord } from '../../../src/observe/usage/contract.ts'
import { eachUnit } from '../../../src/observe/usage/units.ts'
import { long } from '../../long.ts'
import { seeded } from '../../../src/testing/random.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const from = Date.parse('2026-10-01T00:00:00Z')
const to = Date.parse('2026-10-31T00:00:00Z')

/** Billionths of a dollar for a token: input, cached input, output. Absent: the host does not know the price. */
const rates: Readonly<Record<string, readonly [number, number, number]>> = {
  'gpt-5': [1_250, 125, 10_000],
  'gpt-5-mini': [250, 25, 2_000],
  'gpt-5-nano': [50, 5, 400],
  'gpt-4.1': [2_000, 500, 8_000],
  'gpt-4.1-mini': [400, 100, 1_600],
  mystery: [700, 70, 900],
}
const models = Object.keys(rates)

interface Call {
  readonly model: string
  readonly at: number
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly tier?: string
}

function costOf({ model, input, cached, output, tier }: Call): number {
  const [fresh, read, written] = rates[model] as readonly [number, number, number]
  return ((input - cached) * fresh + cached * read + output * written) * (tier === undefined ? 1 : 2)
}

/** Records of ours, what the vendor has seen, and where they differ. */
function month(calls: number) {
  const random = seeded(calls)
  const below = (most: number) => Math.floor(random() * most)
  const records: UsageRecord[] = []
  const seen: Call[] = []
  const planted = new Set<string>()
  const spent = { tier: 0, price: 0 }
  for (let number = 0; number < calls; number++) {
    const model = models[below(models.length)] as string
    const input = 500 + below(2_500)
    const own: Call = {
      model,
      at: from + below(to - from - minuteMs),
      input,
      cached: below(input),
      output: 50 + below(800),
    }
    let [theirs, mine]: [Call, Call] = [own, own]
    let rest: Partial<UsageRecord> = {}
    const plant = (cause: string, at = own.at) =>
      planted.add(`${cause} ${model} ${Math.floor(at / minuteMs) * minuteMs}`)
    const fate = random()
    if (fate < 0.0015) {
      mine = { ...own, output: below(own.output) }
      rest = { outcome: 'cancelled', basis: 'delivered' }
      plant('cut')
    } else if (fate < 0.003) {
      seen.push({ ...own, cached: 0, output: below(40) })
      rest = { attempts: 2 }
      plant('retry')
    } else if (fate < 0.004) {
      theirs = { ...own, cached: own.cached === 0 ? 1 : below(own.cached) }
      plant('cache')
    } else if (fate < 0.005) {
      const at = Math.floor(own.at / minuteMs) * minuteMs + minuteMs
      mine = { ...own, at: at - 1 - below(2_000) }
      theirs = { ...own, at: at + below(2_000) }
      plant('clock', mine.at)
      plant('clock', theirs.at)
    } else if (fate < 0.0065) {
      seen.push({ ...own, at: from + below(to - from) })
      plant('other', seen.at(-1)?.at)
    } else if (fate < 0.0085) {
      theirs = { ...own, tier: 'priority' }
      if (model !== 'mystery') spent.tier += costOf(theirs) - costOf(own)
    } else if (fate < 0.0105) rest = { attempts: 2 }
    seen.push(theirs)
    if (model === 'mystery') spent.price += costOf(theirs)
    records.push({
      id: `req_${number}`,
      account: 'acme',
      group: 'default',
      endpoint: 'chat.completions',
      model,
      provider: 'openai',
      providerModel: model,
      outcome: 'completed',
      attempts: 1,
      stream: true,
      ...eachUnit(() => 0),
      promptTokens: mine.input,
      cachedTokens: mine.cached,
      completionTokens: mine.output,
      cost: 0n,
      overage: 0n,
      basis: 'reported',
      ...(model !== 'mystery' && { vendorCost: BigInt(costOf(mine)) }),
      startedAt: mine.at,
      totalMs: 100,
      ...rest,
    })
  }
  return { records, seen, planted, spent }
}

/** OpenAI's reports about calls: usage by minute, costs by day. */
async function scriptedVendor(seen: readonly Call[]): Promise<string> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://vendor')
    const ask = (name: string) => Number(url.searchParams.get(name))
    const isCosts = url.pathname.endsWith('/costs')
    const width = isCosts ? dayMs : minuteMs
    const start = ask('page') || ask('start_time') * 1000
    const end = Math.min(ask('end_time') * 1000, start + ask('limit') * width)
    const some = Map.groupBy(buckets(width), ([at]) => at >= start && at < end).get(true) ?? []
    const data = some.map(([at, calls]) => ({
      start_time: at / 1000,
      end_time: (at + width) / 1000,
      results: isCosts ? costs(calls) : usage(calls),
    }))
    const more = end < ask('end_time') * 1000
    expect(request.headers.authorization).toBe('Bearer sk-admin')
    response.end(JSON.stringify({ object: 'page', data, has_more: more, next_page: more ? String(end) : null }))
  })
  const known = new Map<number, [number, Call[]][]>()
  const buckets = (width: number) => {
    let found = known.get(width)
    if (found === undefined)
      known.set(width, (found = [...Map.groupBy(seen, ({ at }) => Math.floor(at / width) * width)]))
    return found
  }
  const sum = (calls: readonly Call[], of: (call: Call) => number) => calls.reduce((total, call) => total + of(call), 0)
  const usage = (calls: readonly Call[]) =>
    [...Map.groupBy(calls, ({ model, tier = 'default' }) => `${model} ${tier}`)].map(([key, own]) => ({
      model: `${key.split(' ')[0]}-2026-08-01`,
      service_tier: key.split(' ')[1],
      num_model_requests: own.length,
      input_tokens: sum(own, ({ input }) => input),
      input_cached_tokens: sum(own, ({ cached }) => cached),
      output_tokens: sum(own, ({ output }) => output),
    }))
  const costs = (calls: readonly Call[]) =>
    [...Map.groupBy(calls, ({ model }) => model)].flatMap(([model, own]) => {
      const value = sum(own, costOf) / 1e9
      // A line for each kind of token.
      const line = (kind: string, part: number) => ({
        line_item: `${model}-2026-08-01, ${kind}`,
        amount: { value: part, currency: 'usd' },
      })
      return [line('input_tokens', value * 0.25), line('output_tokens', value * 0.75)]
    })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function reconciled(records: readonly UsageRecord[], report: ReturnType<typeof openaiReport>, vendor = 'openai') {
  const usage = memoryUsageStore({ count: 1e6 })
  await usage.append(records)
  const perMillion = (rate: number | undefined) => String((rate ?? 0) / 1_000)
  const gateway = createGateway({
    keys: {},
    models: Object.fromEntries(
      models.map((model) => {
        const [input, cached, output] = (rates[model] ?? []).map(perMillion) as [string, string, string]
        const cost = { input, cached, output, serviceTiers: { priority: '2' } }
        const price = { input: '9', output: '9' }
        const deployment = { provider: openai({ apiKey: 'k' }), providerModel: model, price }
        return [model, model === 'mystery' ? deployment : { ...deployment, cost }]
      }),
    ),
    billing: { currency: 'USD' },
    storage: { usage },
  })
  onTestFinished(() => gateway.close())
  return gateway.admin.reconcile({ vendor, from, to, report })
}

describe('the books and the bill', () => {
  test('a month: at most a thousandth is unexplained, and planted causes are found', { timeout: 300_000 }, async () => {
    const { records, seen, planted, spent } = month(long ? 200_000 : 20_000)
    const baseURL = await scriptedVendor(seen)
    const result = await reconciled(records, openaiReport({ adminKey: 'sk-admin', grain: '1m', baseURL }))
    expect(result.unexplainedShare).toBeLessThan(0.001)
    expect(Number(result.theirs)).toBeCloseTo(seen.reduce((sum, call) => sum + costOf(call), 0) / 1e9, 6)
    const found = new Set(result.findings.map(({ cause, model, at }) => `${cause} ${model} ${at}`))
    const both = [...found].filter((each) => planted.has(each)).length
    const [precision, recall] = [both / found.size, both / planted.size]
    console.log({ calls: records.length, planted: planted.size, precision, recall, share: result.unexplainedShare })
    expect(precision).toBeGreaterThanOrEqual(0.99)
    expect(recall).toBeGreaterThanOrEqual(0.99)
    expect(Number(result.causes.tier) / (spent.tier / 1e9)).toBeCloseTo(1, 2)
    expect(Number(result.causes.price) / (spent.price / 1e9)).toBeCloseTo(1, 1)
    const sums = [...Object.values(result.causes), result.unexplained].reduce((sum, each) => sum + Number(each), 0)
    expect(sums).toBeCloseTo(Number(result.difference), 6)
  })

  test('without differences nothing is found', async () => {
    const { records } = month(500)
    const own = records.filter(({ basis, model }) => basis === 'reported' && model !== 'mystery')
    const seen = own.map(
      ({ model, startedAt: at, promptTokens: input, cachedTokens: cached, completionTokens: output }): Call => ({
        model,
        at,
        input,
        cached,
        output,
      }),
    )
    const result = await reconciled(
      own,
      openaiReport({ adminKey: 'sk-admin', grain: '1m', baseURL: await scriptedVendor(seen) }),
    )
    // The report has floating-point numbers.
    expect(Number(result.difference)).toBeCloseTo(0, 7)
    expect(result).toMatchObject({ causes: {}, findings: [] })
  })

  test('a bill that is a tenth higher for no reason is unexplained', async () => {
    const { records } = month(200)
    const own = records.filter(({ model }) => model === 'gpt-5')
    const rows = own.map(({ startedAt, promptTokens, cachedTokens, completionTokens, vendorCost = 0n }) =>
      [
        new Date(startedAt).toISOString().slice(0, 10),
        'gpt-5',
        1,
        promptTokens,
        cachedTokens,
        completionTokens,
        (Number(vendorCost) / 1e9) * 1.1,
      ].join(','),
    )
    const csv = ['day,model,requests,input_tokens,cached_tokens,output_tokens,cost', ...rows].join('\n')
    const result = await reconciled(own, csvReport(csv))
    expect(result.unexplainedShare).toBeCloseTo(0.1 / 1.1, 3)
    expect(result.findings).toEqual([])
  })
})

/** Serves fixed answers, page by page. */
async function serving(
  pages: Readonly<Record<string, readonly object[]>>,
): Promise<{ baseURL: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://vendor')
    asked.push(`${url.pathname} ${String(request.headers['x-api-key'] ?? request.headers.authorization)}`)
    const all = pages[url.pathname] ?? []
    const at = Number(url.searchParams.get('page') ?? 0)
    const more = at + 1 < all.length
    response.statusCode = all.length === 0 ? 404 : 200
    response.end(JSON.stringify({ ...all[at], has_more: more, next_page: more ? String(at + 1) : null }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

describe('the readers', () => {
  const hour = { starting_at: '2026-10-01T00:00:00Z', ending_at: '2026-10-01T01:00:00Z' }

  test("Anthropic's reports: tokens written to a cache are input, and amounts are cents", async () => {
    const tokens = {
      uncached_input_tokens: 10,
      cache_read_input_tokens: 20,
      output_tokens: 5,
      service_tier: 'standard',
    }
    const written = { cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 } }
    const { baseURL, asked } = await serving({
      '/v1/organizations/usage_report/messages': [
        { data: [{ ...hour, results: [{ ...tokens, ...written, model: 'claude-sonnet-5-20260801' }] }] },
        { data: [{ ...hour, results: [{ ...tokens, model: 'claude-sonnet-5-20260801', service_tier: 'batch' }] }] },
      ],
      '/v1/organizations/cost_report': [
        { data: [{ ...hour, results: [{ amount: '12.5', model: 'claude-sonnet-5-20260801' }] }] },
      ],
    })
    const { usage, charges } = await anthropicReport({ adminKey: 'sk-admin', baseURL })({ from, to })
    expect(asked[0]).toBe('/v1/organizations/usage_report/messages sk-admin')
    const times = { start: from, end: from + 3_600_000, model: 'claude-sonnet-5-20260801' }
    expect(usage).toEqual([
      { ...times, inputTokens: 37, cachedTokens: 20, outputTokens: 5 },
      { ...times, inputTokens: 30, cachedTokens: 20, outputTokens: 5, tier: 'batch' },
    ])
    expect(charges).toEqual([{ day: '2026-10-01', model: 'claude-sonnet-5-20260801', cost: '0.125000000' }])
  })

  test("OpenRouter's activity, and only of the period", async () => {
    const row = { model: 'x/y', usage: 0.015, requests: 5, prompt_tokens: 50, completion_tokens: 125 }
    const { baseURL } = await serving({
      '/api/v1/activity': [
        {
          data: [
            { ...row, date: '2026-10-02' },
            { ...row, date: '2026-09-30' },
          ],
        },
      ],
    })
    const { usage, charges } = await openrouterReport({ adminKey: 'k', baseURL })({ from, to })
    expect(usage).toEqual([
      {
        start: from + dayMs,
        end: from + 2 * dayMs,
        model: 'x/y',
        requests: 5,
        inputTokens: 50,
        cachedTokens: 0,
        outputTokens: 125,
      },
    ])
    expect(charges).toEqual([{ day: '2026-10-02', model: 'x/y', cost: '0.015000000' }])
  })

  test('what Anthropic charges for no model, such as searches, has its description', async () => {
    const { baseURL } = await serving({
      '/v1/organizations/usage_report/messages': [{ data: [] }],
      '/v1/organizations/cost_report': [
        { data: [{ ...hour, results: [{ amount: '100', model: null, description: 'Web Search Usage' }] }] },
      ],
    })
    const { charges } = await anthropicReport({ adminKey: 'sk-admin', baseURL })({ from, to })
    expect(charges).toEqual([{ day: '2026-10-01', model: 'Web Search Usage', cost: '1.000000000' }])
  })

  const columns = 'day,model,input_tokens,cached_tokens,output_tokens,cost'

  test('CSV may have quotes around its cells, with commas and quotes in them', async () => {
    const csv = `\ufeff,${columns}\r\n,"2026-10-01","a ""new"", large model",5,0,"7","1.5"\r\n`
    const { usage, charges } = await csvReport(csv)({ from, to })
    expect(usage).toMatchObject([{ model: 'a "new", large model', inputTokens: 5, outputTokens: 7 }])
    expect(charges).toEqual([{ day: '2026-10-01', model: 'a "new", large model', cost: '1.500000000' }])
  })

  test.each([
    ['day,model,cost\n2026-10-01,m,1', 'csvReport: there is no column "input_tokens".'],
    [`${columns}\n10/01/2026,m,1,0,1,1`, 'csvReport: "10/01/2026" is no day, such as 2026-10-01.'],
  ])('CSV that would be read as nothing is refused: %j', (csv, message) => {
    expect(() => csvReport(csv)).toThrow(new TypeError(message))
  })

  test('a refusal names the status, and nothing of the key', async () => {
    const { baseURL } = await serving({})
    await expect(openaiReport({ adminKey: 'sk-secret', baseURL })({ from, to })).rejects.toThrow(
      /^127\.0\.0\.1 responded with 404/,
    )
  })
})
