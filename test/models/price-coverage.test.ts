/** Prices that would make the output of a model free by mistake. */
import { describe, expect, test } from 'vitest'
import {
  createGateway,
  memoryLedger,
  memoryTaskStore,
  type GatewayOptions,
  type PriceOptions,
} from '../../src/index.ts'
import { demo, openai, text, type Provider } from '../../src/providers/index.ts'
import { ask } from '../endpoints/ask.ts'
import { publishedFailures } from '../failures.ts'
import { hosted } from '../hosted.ts'

async function* write() {
  yield text('hello')
}
const writer: Provider = { name: 'writer', generate: write }
const embedder: Provider = { name: 'embedder', embed: () => ({ data: [] }) }
const listener: Provider = { name: 'listener', transcribe: () => '' }
const painter: Provider = { name: 'painter', generateImages: () => ({ data: [] }) as never }
const filmer: Provider = {
  name: 'filmer',
  video: { submit: 'token', start: async () => ({}), check: async () => ({ state: 'pending' }) },
}

const create = (provider: Provider, price: PriceOptions) =>
  createGateway({ models: { m: { provider, price } }, billing: { currency: 'CNY' } })

describe('when the gateway is created', () => {
  test.each<[Provider, PriceOptions, string]>([
    [writer, { input: '1' }, 'output'],
    [writer, { input: '1', request: '1' }, 'output'],
    [writer, { second: '1' }, 'output'],
    [writer, { image: '1' }, 'output'],
    [filmer, { input: '1', output: '2' }, 'second'],
    [filmer, { image: '1' }, 'second'],
    [painter, { input: '1' }, 'image'],
    [painter, { second: '1' }, 'image'],
    [listener, { image: '1' }, 'second'],
    [listener, { input: '1', output: '1' }, 'inputAudio'],
    [embedder, { output: '1' }, 'input'],
  ])('rejects %o with the price %o: no price per %s', (provider, price, part) => {
    expect(() => create(provider, price)).toThrow(
      new RegExp(`^models\\["m"\\]\\.price charges nothing for .*: add "${part}", or ${part}: '0' to make it free`),
    )
  })

  test.each<[Provider, PriceOptions]>([
    [writer, { input: '1', output: '0' }],
    [writer, { output: '1' }],
    [writer, { request: '1' }],
    [writer, { input: '0' }],
    [filmer, { request: '1' }],
    [filmer, { second: '0', input: '1' }],
    [painter, { input: '1', output: '2' }],
    [listener, { inputAudio: '1' }],
    [embedder, { input: '1' }],
    [openai({ apiKey: 'x' }), { input: '1' }],
  ])('accepts %o with the price %o', (provider, price) => {
    expect(() => create(provider, price)).not.toThrow()
  })

  test('checks a route against the prices of its models', () => {
    const models = { a: { route: ['b'] }, b: { provider: writer, price: { second: '1' } } }
    expect(() => createGateway({ models })).toThrow(/models\["a"\]\.price charges nothing/)
  })
})

describe('a provider with several kinds of output', () => {
  async function request(models: GatewayOptions['models'], path: string, body: object) {
    const ledger = memoryLedger()
    await ledger.credit({ account: 'a', amount: 1_000_000_000n, reference: 'start' })
    const gateway = createGateway({
      keys: { 'sk-test': { account: 'a' } },
      models,
      billing: { currency: 'CNY' },
      storage: { ledger, tasks: memoryTaskStore() },
    })
    const url = await hosted(gateway)
    const published = publishedFailures()
    const { status } = await ask(url, 'POST', path, { model: 'm', ...body })
    const failures = published.map(({ error }) => String((error as Error).cause))
    return { status, failures, ...(await ledger.account('a')) }
  }
  const chat = { messages: [{ role: 'user', content: 'hi' }] }
  const video = { prompt: 'x', duration: 5 }

  test.each<[string, PriceOptions, object, string]>([
    ['/chat/completions', { input: '1' }, chat, 'output'],
    ['/chat/completions', { second: '1' }, chat, 'output'],
    ['/responses', { image: '1' }, { input: 'hi' }, 'output'],
    ['/videos/generations', { input: '1', output: '1' }, video, 'second'],
    ['/images/generations', { second: '1' }, { prompt: 'x' }, 'image'],
  ])('%s is rejected with the price %o, and the reason is published', async (path, price, body, part) => {
    const { status, failures, balance, held } = await request({ m: { provider: demo(), price } }, path, body)
    expect(status).toBe(503)
    expect(failures).toEqual([expect.stringContaining(`add "${part}"`)])
    expect({ balance, held }).toEqual({ balance: 1_000_000_000n, held: 0n })
  })

  test.each<[string, PriceOptions, object]>([
    ['/embeddings', { input: '1' }, { input: 'hi' }],
    ['/chat/completions', { input: '1', output: '0' }, chat],
    ['/videos/generations', { second: '1' }, video],
  ])('%s is served with the price %o', async (path, price, body) => {
    expect(await request({ m: { provider: demo(), price } }, path, body)).toMatchObject({ status: 200, failures: [] })
  })

  test('is rejected in a custom registry with such a price too', async () => {
    const model = {
      id: 'm',
      created: 1,
      ownedBy: 'us',
      price: { input: '1' },
      deployments: [{ provider: writer, model: 'm', order: 0, weight: 1 }],
    }
    const { status, failures } = await request({ find: () => model, list: () => [model] }, '/chat/completions', chat)
    expect([status, failures]).toEqual([503, [expect.stringContaining('add "output"')]])
  })
})
