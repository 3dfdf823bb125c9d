/** A conversation with tools changes its maker at any time: no vendor rejects it, and each gets its own state back. */
import { describe, expect, test } from 'vitest'
import { hostedWith } from '../hosted.ts'
import { long, thorough } from '../long.ts'
import { claude } from './claude.ts'
import { gpt } from './gpt.ts'
import { allMakers, gatewayOver, journey, permutations, type MakerName, type Makers, type Way } from './journey.ts'

const four: readonly MakerName[] = ['claude', 'gemini', 'gpt', 'deepseek']

const ways: readonly Way[] = (['chat', 'responses', 'id', 'messages'] as const).flatMap((via) =>
  [false, true].map((stream) => ({ via, stream })),
)

/** What each maker has issued before its last request, and what that request returned to it. */
function homecoming(
  makers: Makers,
): (readonly [name: string, issued: readonly string[], returned: readonly string[]])[] {
  const spoken = Object.values(makers).filter(({ bodies }) => bodies.length > 0)
  return spoken.map(({ name, bodies, issued, issuedBefore, returned }) => [
    name,
    issued.slice(0, issuedBefore.at(-1)),
    returned(bodies.at(-1)),
  ])
}

test.each(ways)(
  'DeepSeek and Kimi get the reasoning of others as text, through $via; streamed: $stream',
  async (way) => {
    for (const name of ['deepseek', 'kimi'] as const) {
      const makers = await allMakers()
      const { url } = await gatewayOver(makers)
      // Of Claude, the first turn has thinking without text in some arrangements.
      const steps = await journey(url, makers, ['claude', 'gemini', name], way)
      expect(steps.map(({ status }) => status)).toEqual([200, 200, 200])
      const past = makers[name].bodies[0].messages.filter(({ role }: { role: string }) => role === 'assistant')
      expect(past.map((message: Record<string, unknown>) => message['reasoning_content'])).toEqual([
        'Claude thinks in turn 0: “é\n…”',
        // Where the client does not ask for reasoning, the text is only in the envelope.
        way.via === 'messages' ? ' ' : 'Gemini thinks in turn 1: “é\n…”',
      ])
    }
  },
)

const thinking = { type: 'enabled', budget_tokens: 2_000 }

test.each([
  { via: 'chat', fields: { reasoning_effort: 'medium', max_tokens: 4_000 } },
  { via: 'chat', fields: { thinking, max_tokens: 4_000 } },
  { via: 'messages', fields: { thinking } },
  { via: 'messages', fields: { thinking: { type: 'adaptive' } } },
] as const)('Claude thinks with a budget after turns without thinking: $via $fields', async ({ via, fields }) => {
  const makers = { ...(await allMakers()), claude: await claude('claude-sonnet-4-5'), gpt: await gpt('k1', false) }
  const options = Object.entries(makers).map(([name, { provider, providerModel }]) => {
    return [name, { provider, providerModel, allow: ['thinking'] }] as const
  })
  const { url } = await hostedWith({ models: Object.fromEntries(options), retry: { maxAttempts: 1 } })
  for (const stream of [false, true]) {
    const route = (['claude', 'gpt', 'claude', 'gemini', 'claude', 'gpt', 'gpt', 'claude', 'claude'] as const).slice()
    const steps = await journey(url, makers, route, { via, stream, fields })
    expect(steps.map(({ maker, status, text }) => [maker, status, text])).toEqual(route.map((name) => [name, 200, '']))
  }
})

const orders = permutations(four)

describe.each(ways.map((way, at) => ({ ...way, at })))('through $via; streamed: $stream', ({ at, ...way }) => {
  // In the short form, each order is taken in two or three ways; in a plain run, most are taken in one.
  const stride = thorough ? 3 : 12
  const chosen = long ? orders : orders.filter((_, order) => (order + at) % stride === 0)

  test(`${chosen.length} orders of four makers, each three times`, { timeout: 120_000 }, async () => {
    const makers = await allMakers()
    const { url } = await gatewayOver(makers)
    for (const order of chosen) {
      for (const { bodies, issued, issuedBefore } of Object.values(makers)) {
        bodies.length = issued.length = issuedBefore.length = 0
      }
      const route = [...order, ...order, ...order]
      const steps = await journey(url, makers, route, way)
      expect([order, Object.values(makers).flatMap(({ refusals }) => refusals)]).toEqual([order, []])
      expect(steps.map(({ status, text }) => `${status}${text}`)).toEqual(route.map(() => '200'))
      for (const [name, issued, returned] of homecoming(makers)) {
        expect([name, order, returned]).toEqual([name, order, issued])
        // Chats have no encrypted reasoning.
        if (name !== 'gpt' || way.via !== 'chat') expect(issued.length).toBeGreaterThan(1)
      }
    }
  })
})
