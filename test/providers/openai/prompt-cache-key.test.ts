/** The key under which a vendor keeps the prompts of a conversation together. */
import { openai, type OpenAIOptions } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { hostedWith, vendorFor } from '../../hosted.ts'

const chat = { path: 'chat/completions', body: { messages: [{ role: 'user', content: 'Hi' }] } }
const responses = { path: 'responses', body: { input: 'Hi' } }
const messages = { path: 'messages', body: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 } }

interface Sent {
  readonly headers: Record<string, unknown>
  readonly json: Record<string, unknown>
}

async function hosted(options: OpenAIOptions, affinity: 'auto' | 'none' = 'auto') {
  const sent: Sent[] = []
  const vendor = await vendorFor((request, response) => {
    sent.push(request as unknown as Sent)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{}')
  })
  const provider = openai({ apiKey: 'k', baseURL: vendor.baseURL, ...options })
  const { url } = await hostedWith({
    keys: { 'sk-test': { account: 'one' }, 'sk-other': { account: 'two' } },
    models: { m: provider },
    affinity,
  })
  return async ({ path, body }: { path: string; body: object }, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'm', ...body }),
    })
    await response.arrayBuffer()
    return sent.at(-1) as Sent
  }
}

const session = { 'x-session-id': 'customer-4711' }

describe('a vendor that takes prompt_cache_key', () => {
  test.each([
    ['chats', chat, {}],
    ['responses', responses, { responses: true }],
    ['messages that become chats', messages, {}],
  ])('gets one for %s of a session, which does not tell its name', async (_, request, options) => {
    const ask = await hosted({ preset: 'openai', responses: false, ...options })
    const [first, second] = [await ask(request, session), await ask(request, session)]
    expect(first.json['prompt_cache_key']).toMatch(/^[\da-f]{32}$/)
    expect(second.json['prompt_cache_key']).toBe(first.json['prompt_cache_key'])
  })

  test('gets another key for another session, and for the same name of another account', async () => {
    const ask = await hosted({ preset: 'openai' })
    const keys = [
      await ask(chat, session),
      await ask(chat, { 'x-session-id': 'customer-4712' }),
      await ask(chat, { ...session, authorization: 'Bearer sk-other' }),
    ].map(({ json }) => json['prompt_cache_key'])
    expect(new Set(keys).size).toBe(3)
  })

  test("gets the client's own key unchanged", async () => {
    const ask = await hosted({ preset: 'openai' })
    const { json } = await ask({ ...chat, body: { ...chat.body, prompt_cache_key: 'mine' } }, session)
    expect(json['prompt_cache_key']).toBe('mine')
  })

  test.each([
    ['the client names no session', {}, 'auto'],
    ['the client wants no affinity', { ...session, 'x-modelhatch-affinity': 'none' }, 'auto'],
    ['the host wants none', session, 'none'],
  ] as const)('gets none if %s', async (_, headers, affinity) => {
    const ask = await hosted({ preset: 'openai' }, affinity)
    expect((await ask(chat, headers)).json).not.toHaveProperty('prompt_cache_key')
  })

  test('gets none with embeddings', async () => {
    const ask = await hosted({ preset: 'openai' })
    const { json } = await ask({ path: 'embeddings', body: { input: 'Hi' } }, session)
    expect(json).not.toHaveProperty('prompt_cache_key')
  })
})

test('a vendor that takes a header gets the key there for chats, and in the body for responses', async () => {
  const ask = await hosted({ preset: 'xai', responses: true })
  const { headers, json } = await ask(chat, session)
  expect(headers['x-grok-conv-id']).toMatch(/^[\da-f]{32}$/)
  expect(json).not.toHaveProperty('prompt_cache_key')
  expect((await ask({ ...chat, body: { ...chat.body, prompt_cache_key: 'mine' } })).headers['x-grok-conv-id']).toBe(
    'mine',
  )
  expect((await ask(responses, session)).json['prompt_cache_key']).toBe(headers['x-grok-conv-id'])
})

test('a vendor without a preset gets none', async () => {
  const ask = await hosted({})
  const { headers, json } = await ask(chat, session)
  expect({ ...headers, ...json }).not.toHaveProperty('prompt_cache_key')
  expect(headers).not.toHaveProperty('x-grok-conv-id')
})
