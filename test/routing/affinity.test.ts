import { describe, expect, test } from 'vitest'
import { createGateway, type GatewayOptions } from 'modelhatch'
import { defineProvider, type Provider } from 'modelhatch/providers'
import { finish, text } from 'modelhatch/providers/custom'
import type { Deployment } from '../../src/models/contract.ts'
import { attemptOrder } from '../../src/routing/attempt-order.ts'
import { hostedWith } from '../hosted.ts'

const never = () => {
  throw new Error('chance decides')
}

const deployment = (name: string, weight = 1, order = 0): Deployment => ({
  provider: { name },
  model: 'm',
  order,
  weight,
})
const chosen = (deployments: readonly Deployment[], conversation: string) =>
  attemptOrder(deployments, never, conversation)[0]?.provider.name ?? ''

const sessions = Array.from({ length: 30_000 }, (_, index) => `session ${index}`)

describe('the deployment of a conversation', () => {
  test('is chosen in proportion to the weights', () => {
    const deployments = [deployment('a', 5), deployment('b', 3), deployment('c', 2)]
    const counts: Record<string, number> = {}
    for (const session of sessions) {
      const name = chosen(deployments, session)
      counts[name] = (counts[name] ?? 0) + 1
    }
    for (const { provider, weight } of deployments) {
      expect(((counts[provider.name] ?? 0) * 10) / (sessions.length * weight)).toBeCloseTo(1, 1)
    }
  })

  test('changes only for the conversations of one that leaves, which return with it', () => {
    const all = [deployment('a'), deployment('b'), deployment('c')]
    for (const session of sessions.slice(0, 3_000)) {
      const [before, without] = [chosen(all, session), chosen(all.slice(0, 2), session)]
      if (before !== 'c') expect(without).toBe(before)
      expect(chosen(all.toReversed(), session)).toBe(before)
    }
  })

  test('is one of the first order', () => {
    expect(chosen([deployment('late', 100, 1), deployment('soon', 1, 0)], 'any')).toBe('soon')
  })
})

describe('requests of one conversation', () => {
  const deployments = Array.from({ length: 4 }, (_, index) => index)
  const hosted = async (options: Partial<GatewayOptions> = {}) => {
    const asked: number[] = []
    const provider = (index: number): Provider =>
      defineProvider({
        name: `vendor-${index}`,
        async *generate() {
          asked.push(index)
          yield text('pong')
          yield finish('stop')
        },
      })
    const models = { m: { route: deployments.map((index) => ({ provider: provider(index), order: 0 })) } }
    const { url } = await hostedWith({ models, random: chanceOf(), ...options })
    const ask = async (body: object, headers: Record<string, string> = {}, path = 'chat/completions') => {
      const response = await fetch(`${url}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
      })
      expect(response.status, await response.clone().text()).toBe(200)
      return response
    }
    return { asked, ask }
  }
  /** A chance that takes the deployments in turn. */
  const chanceOf = () => {
    let call = 0
    return () => ((call++ * 7) % 11) / 11
  }
  const user = (content: string) => ({ role: 'user', content })
  const distinct = (asked: readonly number[]) => new Set(asked).size

  const signs: readonly [string, object, Record<string, string>][] = [
    ['prompt_cache_key', { prompt_cache_key: 'one' }, {}],
    ['session_id', { session_id: 'one' }, {}],
    ...[
      'x-session-id',
      'x-session-affinity',
      'x-claude-code-session-id',
      'session-id',
      'session_id',
      'thread-id',
      'x-grok-conv-id',
    ].map((name): [string, object, Record<string, string>] => [name, {}, { [name]: 'one' }]),
  ]

  test.each(signs)('go to one deployment if they say so by %s', async (_, body, headers) => {
    const { asked, ask } = await hosted()
    for (let turn = 0; turn < 8; turn++) await ask({ ...body, messages: [user(`Question ${turn}`)] }, headers)
    expect(distinct(asked)).toBe(1)
  })

  test('go to one deployment by their instructions and first turn', async () => {
    const { asked, ask } = await hosted()
    const messages = [{ role: 'system', content: 'Be brief.' }, user('First question')]
    for (let turn = 0; turn < 8; turn++) {
      await ask({ messages })
      messages.push({ role: 'assistant', content: 'pong' }, user(`Question ${turn}`))
    }
    expect(distinct(asked)).toBe(1)
  })

  test('go to one deployment along a chain of stored responses', async () => {
    const { asked, ask } = await hosted()
    let previous: string | undefined
    for (let turn = 0; turn < 6; turn++) {
      const body = { messages: undefined, input: `Question ${turn}`, previous_response_id: previous }
      previous = ((await (await ask(body, {}, 'responses')).json()) as { id: string }).id
    }
    expect(distinct(asked)).toBe(1)
  })

  test('are spread over the deployments, conversation by conversation', async () => {
    const { asked, ask } = await hosted()
    for (let session = 0; session < 24; session++) await ask({}, { 'x-session-id': `session ${session}` })
    expect(distinct(asked)).toBe(4)
  })

  test.each([
    ['the client asks for any', {}, { 'x-modelhatch-affinity': 'none' }],
    ['the host chooses so', { affinity: 'none' } as const, {}],
  ])('go to any deployment if %s', async (_, options, headers) => {
    const { asked, ask } = await hosted(options)
    for (let turn = 0; turn < 24; turn++) await ask({}, { 'x-session-id': 'one', ...headers })
    expect(distinct(asked)).toBe(4)
  })

  test('are known by their beginning if their name is longer than 255 characters', async () => {
    const { asked, ask } = await hosted()
    for (let turn = 0; turn < 8; turn++) await ask({}, { 'x-session-id': `${turn}`.padEnd(256, 'x') })
    expect(distinct(asked)).toBe(1)
  })
})

test('an unknown value of the option is refused', () => {
  const affinity = 'always' as 'auto'
  expect(() => createGateway({ models: {}, affinity })).toThrow('affinity')
})
