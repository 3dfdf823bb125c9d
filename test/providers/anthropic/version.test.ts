/** The version of the API that the host chooses. */
import { anthropic } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { hostedWith, vendorFor } from '../../hosted.ts'

const sampling = { temperature: 0.5, top_p: 0.9, top_k: 5 }
const question = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...sampling }

const message = { id: 'msg_1', type: 'message', content: [], stop_reason: 'end_turn', usage: {} }

async function sent(path: string, headers: Record<string, string>) {
  const vendor = await vendorFor(
    (_, response) => void response.setHeader('content-type', 'application/json').end(JSON.stringify(message)),
  )
  const provider = anthropic({ baseURL: vendor.baseURL, headers })
  const { url } = await hostedWith({
    models: { m: { provider, providerModel: 'claude-3-5-haiku-latest' } },
    retry: { maxAttempts: 1 },
  })
  const reply = await fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify(question),
  })
  await reply.text()
  const [request] = vendor.requests
  return {
    version: request?.headers['anthropic-version'],
    body: request?.json,
    omitted: reply.headers.get('x-modelhatch-omitted'),
  }
}

const later = { 'Anthropic-Version': '2026-10-21' }

describe.each(['/chat/completions', '/messages'])('a request of %s', (path) => {
  test('has the version of the host, and the first one by default', async () => {
    expect((await sent(path, later)).version).toBe('2026-10-21')
    expect((await sent(path, {})).version).toBe('2023-06-01')
  })
})

test('chats have no sampling in versions without it, and the client is told', async () => {
  const { body, omitted } = await sent('/chat/completions', later)
  for (const name of Object.keys(sampling)) expect(body).not.toHaveProperty(name)
  expect(omitted).toBe('temperature, top_p, top_k')
  expect((await sent('/chat/completions', {})).body).toMatchObject(sampling)
})

test('messages reach the vendor as the client wrote them', async () => {
  expect((await sent('/messages', later)).body).toMatchObject(sampling)
})
