/** Prices in the model list, where the host wants them. */
import { expect, test } from 'vitest'
import { Price, type GatewayOptions, type PriceOptions } from '../../src/index.ts'
import { scaledOptions } from '../../src/money/prices/scaled-options.ts'
import { demo } from '../../src/providers/index.ts'
import { hostedWith } from '../hosted.ts'

const price: PriceOptions = {
  input: '2.5',
  longPrompts: [{ above: 200_000, input: '5' }],
  output: '0.000001',
  image: { hd: '0.08', '*': '0.04' },
  tools: { '*': '0.01' },
  minimumSeconds: 3,
  serviceTiers: { flex: '0.5', priority: { input: '5', output: '20', longPrompts: [] } },
}

async function listed(billing: Partial<GatewayOptions['billing'] & {}>) {
  const route = [{ model: 'demo' }, { model: 'cheap' }]
  const { url } = await hostedWith({
    keys: { 'sk-test': { group: 'plus' } },
    groups: { plus: { models: '*', priceMultiplier: '1.1' } },
    models: { demo: { provider: demo(), price }, cheap: { provider: demo(), price: { output: '1' } }, both: { route } },
    billing: { currency: 'EUR', ...billing },
  })
  const ask = async (path: string) => {
    const response = await fetch(`${url}/v1/${path}`, { headers: { authorization: 'Bearer sk-test' } })
    return (await response.json()) as Record<string, unknown> & { readonly data: readonly Record<string, unknown>[] }
  }
  const prices = Object.fromEntries((await ask('models')).data.map((each) => [each['id'], each['price']]))
  return { prices, one: await ask('models/demo') }
}

test('are what the caller pays, with the factor of its group', async () => {
  const { prices, one } = await listed({ showPrices: true })
  const demoPrice = {
    currency: 'EUR',
    input: '2.75',
    longPrompts: [{ above: 200_000, input: '5.5' }],
    output: '0.0000011',
    image: { hd: '0.088', '*': '0.044' },
    tools: { '*': '0.011' },
    minimumSeconds: 3,
    serviceTiers: { flex: '0.5', priority: { input: '5.5', output: '22', longPrompts: [] } },
  }
  // Which deployment serves the route decides on its price.
  expect(prices).toEqual({ demo: demoPrice, cheap: { currency: 'EUR', output: '1.1' }, both: undefined })
  expect(one['price']).toEqual(demoPrice)
})

test('are absent unless the host wants them', async () => {
  const { prices, one } = await listed({})
  expect(prices).toEqual({ demo: undefined, cheap: undefined, both: undefined })
  expect(one).not.toHaveProperty('price')
})

test('cost what they say', () => {
  const usage = { prompt_tokens: 300_000, completion_tokens: 77_777, total_tokens: 377_777 }
  for (const serviceTier of [undefined, 'flex', 'priority']) {
    const consumed = { usage, units: { images: 3, quality: 'hd' }, serviceTier }
    const shown = new Price(scaledOptions(price, 1_100_000n))
    expect(shown.cost(consumed)).toBe(new Price(price).cost(consumed, 1_100_000n))
  }
})
