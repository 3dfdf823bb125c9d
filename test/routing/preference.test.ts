/** Deployments of equal order, by price or by time. */
import { expect, test } from 'vitest'
import type { Deployment, Model } from '../../src/models/contract.ts'
import { Price } from '../../src/money/prices/price.ts'
import { FirstContentTimes } from '../../src/routing/first-content-times.ts'
import { Preference } from '../../src/routing/preference.ts'
import { usageOf } from '../../src/wire/usage.ts'

const deployment = (name: string, price?: object, order = 0): Deployment => ({
  provider: { name },
  model: 'm',
  order,
  weight: 1,
  ...(price && { price: new Price(price) }),
})
const cheap = deployment('cheap', { input: '2', output: '2' })
const dear = deployment('dear', { input: '5', output: '5', cached: '0.5' })

function world(prefer: 'price' | 'latency', deployments: readonly Deployment[]) {
  let now = 0
  const times = new FirstContentTimes(() => now)
  const preference = new Preference(times)
  const model: Model = { id: 'm', created: 0, ownedBy: 'me', deployments, prefer }
  const names = (promptTokens: number, conversation?: string) =>
    preference.order(model, deployments, { promptTokens, conversation }).map(({ provider }) => provider.name)
  const serve = (by: Deployment, conversation: string, prompt: number, output: number) =>
    preference.served({
      model: 'm',
      deployment: by,
      conversation,
      promptTokens: prompt,
      usage: usageOf(prompt, output),
    })
  return { times, names, serve, later: (ms: number) => (now += ms) }
}

test('by price: the cheapest comes first, one without a price last, and the order of the host before both', () => {
  const late = deployment('late', { input: '1', output: '1' }, 1)
  const { names } = world('price', [deployment('unknown'), dear, cheap, late])
  expect(names(10_000)).toEqual(['cheap', 'dear', 'unknown', 'late'])
})

test('by price: a conversation stays where its beginning is cached while that is cheaper', () => {
  const { names, serve } = world('price', [cheap, dear])
  serve(dear, 'long', 50_000, 100)
  serve(dear, 'short', 100, 100)
  expect(names(51_000, 'long')).toEqual(['dear', 'cheap'])
  expect(names(51_000, 'another')).toEqual(['cheap', 'dear'])
  expect(names(5_000, 'short')).toEqual(['cheap', 'dear'])
})

test('by price: answers count with their mean length', () => {
  const reader = deployment('reader', { input: '1', output: '10' })
  const writer = deployment('writer', { input: '3', output: '3' })
  const { names, serve } = world('price', [reader, writer])
  for (let call = 0; call < 60; call++) serve(reader, `${call}`, 1_000, 10)
  expect(names(1_000)).toEqual(['reader', 'writer'])
  for (let call = 0; call < 60; call++) serve(reader, `${call}`, 1_000, 4_000)
  expect(names(1_000)).toEqual(['writer', 'reader'])
})

test('by latency: the one that begins soonest; similar ones keep their order, unknown ones are tried', () => {
  const [a, b, c] = [deployment('a'), deployment('b'), deployment('c')]
  const { names, times, serve, later } = world('latency', [a, b, c])
  for (let call = 0; call < 30; call++) {
    times.add(a, 900)
    times.add(b, 330)
  }
  expect(names(100)).toEqual(['b', 'c', 'a'])
  for (let call = 0; call < 30; call++) times.add(c, 300)
  expect(names(100)).toEqual(['b', 'c', 'a'])
  serve(a, 'warm', 5_000, 10)
  expect(names(100, 'warm')).toEqual(['a', 'b', 'c'])
  for (let call = 0; call < 30; call++) times.add(b, 2_000)
  expect(names(100)).toEqual(['c', 'a', 'b'])
  later(400_000)
  expect(names(100)).toEqual(['a', 'b', 'c'])
})

test('the usual time is known after 50 streams, and forgets', () => {
  const a = deployment('a')
  const times = new FirstContentTimes(() => 0)
  for (let call = 1; call < 50; call++) times.add(a, call)
  expect(times.p99Ms(a)).toBeUndefined()
  for (let call = 50; call <= 100; call++) times.add(a, call)
  expect(times.p99Ms(a)).toBe(99)
  for (let call = 0; call < 200; call++) times.add(a, 7)
  expect(times.p99Ms(a)).toBe(7)
})
