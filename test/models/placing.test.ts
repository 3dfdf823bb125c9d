/** A request that limits where it may be processed, or what may be kept of it, is kept to or refused, on every endpoint of every vendor. */
import { anthropic, demo, gemini, openai, type Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { hostedWith } from '../hosted.ts'
import { world, type Fields } from './world.ts'

const makers: [string, (baseURL: string) => Provider][] = [
  ['anthropic', (baseURL) => anthropic({ baseURL })],
  ['gemini', (baseURL) => gemini({ baseURL })],
  ['no preset', (baseURL) => openai({ baseURL })],
  ['all endpoints', (baseURL) => openai({ baseURL, responses: true, messages: true })],
  ['openai', (baseURL) => openai({ preset: 'openai', baseURL, responses: true })],
  ['openrouter', (baseURL) => openai({ preset: 'openrouter', baseURL })],
  ['mistral', (baseURL) => openai({ preset: 'mistral', baseURL })],
  ['vllm', (baseURL) => openai({ preset: 'vllm', baseURL })],
]
const paths = ['/chat/completions', '/completions', '/responses', '/messages', '/embeddings', '/images/generations']

const limits: [string, Fields][] = [
  ['inference_geo', { inference_geo: 'us' }],
  ['provider', { provider: { data_collection: 'deny' } }],
  ['provider', { provider: { zdr: true } }],
]

describe.each(makers)('%s', (_, make) => {
  test.each(limits)('%s: %j', async (name, limit) => {
    for (const allow of [[], [name]]) {
      const { ask, sent } = await world(make, { allow })
      for (const path of paths) {
        const asked = { max_tokens: 10, ...limit, ...(path === '/completions' && { prompt: 'Hi' }) }
        const refused = await ask(path === '/messages' ? asked : { ...asked, stream: false }, path)
        if (refused === undefined) expect(sent(), path).toMatchObject(limit)
        else expect(refused, path).toContain(name)
      }
      expect(await ask({ inference_geo: 'global', provider: null })).toBeUndefined()
    }
  })
})

test('chats that are made of other requests ask a vendor that keeps chats not to', async () => {
  const { ask, sent } = await world((baseURL) => openai({ preset: 'openai', baseURL, responses: false }))
  for (const path of ['/responses', '/messages']) {
    await ask({ max_tokens: 10 }, path)
    expect(sent(), path).toMatchObject({ store: false, messages: [{ content: 'Hi' }] })
  }
  await ask({ store: false })
  expect(sent()).toMatchObject({ store: false })
  const other = await world((baseURL) => openai({ preset: 'mistral', baseURL }))
  await other.ask({}, '/responses')
  expect(other.sent()).not.toHaveProperty('store')
})

test('a service tier that a translated message cannot have is named as left out', async () => {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  const { costs } = openai({ apiKey: 'sk' })
  const { url } = await hostedWith({ models: { m: { ...demo(), ...(costs && { costs }) } } })
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, service_tier: 'priority', speed: 'fast' }),
  })
  expect(response.headers.get('x-modelhatch-omitted')).toBe('service_tier, speed')
})
