/** Prices that a group has for single models: a plan, or one customer. */
import { expect, test } from 'vitest'
import { createGateway, memoryLedger, type GatewayOptions } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { withGroupPrice } from '../../src/models/group-prices.ts'
import { askChat, hostedWith } from '../hosted.ts'

const usage = { input: '0', output: '0', request: '1' }
const models = {
  demo: { provider: demo({ paceMs: 1 }), price: usage },
  'demo-embedding': { provider: demo(), price: usage },
  'demo-video': { provider: demo({ videoSeconds: 0 }), price: { second: '1' } },
}
const groups: NonNullable<GatewayOptions['groups']> = {
  default: { models: '*' },
  acme: {
    models: '*',
    priceMultiplier: '0.5',
    prices: { demo: { ...usage, request: '0.2' }, 'demo-v*': { second: '0.4' }, '*': { ...usage, request: '9' } },
  },
}

/** What a call of each group costs, holds and is quoted. */
async function scene(group: string) {
  const ledger = memoryLedger()
  await ledger.open({ id: 'acme', unlimited: true })
  const hosted = await hostedWith({
    keys: { 'sk-test': { account: 'acme', group } },
    groups,
    models,
    storage: { ledger },
    billing: { currency: 'EUR', showPrices: true },
    tasks: { sweepMs: 10 },
  })
  const post = async (path: string, body: object) => {
    const response = await fetch(`${hosted.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await response.json()) as Record<string, unknown>
  }
  return { ...hosted, ledger, post }
}

test.each([
  ['default', '1', '1', '5'],
  // Half of 0.2, of 9, and of five times 0.4.
  ['acme', '0.1', '4.5', '1'],
])('%s pays %s for a chat, %s for embeddings and %s for a video', async (group, chat, embedding, video) => {
  const { url, receipt, post, gateway } = await scene(group)
  const messages = [{ role: 'user', content: 'Hi' }]
  expect(await post('cost', { endpoint: 'chat/completions', body: { model: 'demo', messages } })).toMatchObject({
    held: chat,
    likely: { cost: chat },
  })
  await (await askChat(url, { model: 'demo' })).text()
  expect((await receipt()).charge?.cost).toBe(chat)
  await post('embeddings', { model: 'demo-embedding', input: 'Hi' })
  expect((await receipt()).charge?.cost).toBe(embedding)
  await post('videos/generations', { model: 'demo-video', prompt: 'x', duration: 5 })
  expect((await receipt()).charge?.cost).toBe(video)
  const listed = await gateway.admin.models(group)
  const expected = group === 'acme' ? ['0.2', '9', undefined] : ['1', '1', undefined]
  expect(listed.map(({ price }) => price?.options.request)).toEqual(expected)
})

test('the price of the exact name comes first, then that of the longest one; models are made once', () => {
  const prices = { a: usage, 'a*': { output: '1' }, 'ab*': { output: '2' } }
  const model = (id: string) => ({ id, created: 0, ownedBy: 'x', deployments: [] })
  const priceOf = (id: string) => withGroupPrice(model(id), { prices }).price?.options
  expect([priceOf('a'), priceOf('ac'), priceOf('abc'), priceOf('b')]).toEqual([
    usage,
    prices['a*'],
    prices['ab*'],
    undefined,
  ])
  const once = model('a')
  expect(withGroupPrice(once, { prices })).toBe(withGroupPrice(once, { prices }))
  expect(withGroupPrice(once, {})).toBe(once)
})

test.each([
  [{ demo: { inptu: '1' } }, /groups.acme.prices: "demo": price: unknown option "inptu"/],
  [{ demo: { input: 1 } }, /groups.acme.prices: "demo": price.input: 1 is not a decimal/],
  [{ demo: '0.5' }, /groups.acme.prices: "demo"/],
  [[], /groups.acme.prices: must map names of models to prices/],
])('a price that cannot be meant is refused: %j', (prices, message) => {
  expect(() => createGateway({ models, groups: { acme: { models: '*', prices } } as never })).toThrow(message)
})
