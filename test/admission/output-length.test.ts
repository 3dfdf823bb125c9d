/** `billing.defaults.enforce`: no vendor is asked for more output than is held, whatever field the request uses for it. */
import { describe, expect, test } from 'vitest'
import { memoryLedger, type Ledger } from '../../src/index.ts'
import { anthropic, gemini, openai, type Provider } from '../../src/providers/index.ts'
import { onlyChats, post } from '../endpoints/ask.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

const cap = 100

const providers: Readonly<Record<string, (baseURL: string) => Provider>> = {
  openai: (baseURL) => openai({ baseURL }),
  'openai with responses': (baseURL) => openai({ baseURL, responses: true }),
  'openai that renames': (baseURL) => openai({ baseURL, tokenLimit: 'max_completion_tokens' }),
  'openai that only chats': onlyChats,
  anthropic: (baseURL) => anthropic({ apiKey: 'x', baseURL }),
  gemini: (baseURL) => gemini({ apiKey: 'x', baseURL }),
}

const questions: Readonly<Record<string, object>> = {
  'chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  completions: { prompt: 'Hi' },
  responses: { input: 'Hi' },
}

const lengths = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n_predict',
  'max_new_tokens',
  'num_predict',
]
const own: Readonly<Record<string, readonly string[]>> = {
  'chat/completions': ['max_tokens', 'max_completion_tokens'],
  completions: ['max_tokens'],
  responses: ['max_output_tokens'],
}

async function ledgerOf(micros: bigint): Promise<Ledger> {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: micros, reference: 'start' })
  return ledger
}

async function stage(provider: string, micros: bigint, enforce: boolean) {
  const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
  const { url } = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    retry: { maxAttempts: 1 },
    breaker: { failures: 1e9 },
    billing: { currency: 'CNY', defaults: { outputTokens: cap, enforce } },
    models: { m: { provider: providers[provider]?.(vendor.baseURL) as Provider, price: { output: '1' } } },
    storage: { ledger: await ledgerOf(micros) },
  })
  return { vendor, url }
}

/** All values in a vendor request that limit the length of the output. */
function lengthsIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    [...lengths, 'maxOutputTokens'].includes(name) ? [inner as unknown] : lengthsIn(inner),
  )
}

describe.each(Object.keys(providers))('%s', (provider) => {
  test.each(Object.keys(questions))('/%s requests at most the output that is held', async (path) => {
    const { vendor, url } = await stage(provider, BigInt(cap), true)
    const cases = [{}, ...lengths.filter((name) => !own[path]?.includes(name)).flatMap(beyond)]
    for (const fields of cases) {
      const count = vendor.requests.length
      const { status } = await post(url, `/${path}`, { model: 'm', ...questions[path], ...fields })
      const sent = vendor.requests.slice(count).map(({ json }) => lengthsIn(json))
      // Chat completions validate some fields that text completions accept: then no vendor is called.
      if (status === 400) expect([fields, sent]).toEqual([fields, []])
      else expect([fields, sent]).toEqual([fields, sent.map((each) => each.map(() => cap))])
      for (const each of sent) expect([fields, each.length]).not.toEqual([fields, 0])
    }
  })
})

function beyond(name: string): object[] {
  return [1_000_000, '1000000', -1].map((value) => ({ [name]: value }))
}

test.each(Object.entries(own))('/%s: a stated length is held and forwarded unchanged', async (path, names) => {
  const { vendor, url } = await stage('openai that only chats', 50n, true)
  for (const name of names) {
    await post(url, `/${path}`, { model: 'm', ...questions[path], [name]: 50 })
    expect(lengthsIn(vendor.requests.at(-1)?.json)).toEqual([50])
    const { length } = vendor.requests
    expect(await post(url, `/${path}`, { model: 'm', ...questions[path], [name]: 51 })).toMatchObject({ status: 429 })
    expect(vendor.requests).toHaveLength(length)
  }
})

test.each(Object.keys(questions))('/%s: without enforce, a length in any of the known fields is held', async (path) => {
  const { vendor, url } = await stage('openai that only chats', 999_999n, false)
  for (const name of lengths) {
    const body = { model: 'm', ...questions[path], [name]: 1_000_000 }
    expect([name, (await post(url, `/${path}`, body)).status]).toEqual([name, 429])
  }
  expect(vendor.requests).toHaveLength(0)
})
