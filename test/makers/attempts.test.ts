/** Fallback to another vendor within one request: each attempt gets the state of its own maker only. */
import { expect, test } from 'vitest'
import { hostedWith } from '../hosted.ts'
import { allMakers, journey, type MakerName, type Way } from './journey.ts'

const route: readonly MakerName[] = ['claude', 'gemini', 'gpt', 'deepseek', 'kimi']
const failing: readonly MakerName[] = [
  'claude',
  'deepseek',
  'gemini',
  'claude',
  'gpt',
  'kimi',
  'claude',
  'gemini',
  'gpt',
]

const ways: readonly Way[] = (['chat', 'responses', 'id', 'messages'] as const).flatMap((via) =>
  [false, true].map((stream) => ({ via, stream, model: 'any' })),
)

test.each(ways)('through $via; streamed: $stream', async (way) => {
  const makers = await allMakers()
  const steps = route.map((name) => ({ provider: makers[name].provider, providerModel: makers[name].providerModel }))
  const { url, receipts } = await hostedWith({
    models: { any: { route: steps } },
    retry: { maxAttempts: 1 },
    breaker: { failures: 1_000 },
  })
  const done = await journey(url, makers, failing, way)
  expect(done.map(({ status, text }) => `${status}${text}`)).toEqual(failing.map(() => '200'))
  expect(Object.values(makers).flatMap(({ refusals }) => refusals)).toEqual([])
  expect(receipts.map(({ attempts }) => attempts)).toEqual(failing.map((name) => route.indexOf(name) + 1))
  for (const { name, bodies, issued, issuedBefore, returned } of [makers.claude, makers.gpt]) {
    if (name === 'gpt' && way.via === 'chat') continue
    expect(issuedBefore.at(-1)).toBeGreaterThan(0)
    expect([name, returned(bodies.at(-1))]).toEqual([name, issued.slice(0, issuedBefore.at(-1))])
  }
})
