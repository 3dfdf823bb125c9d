/** What vendors reject that OpenAI accepts: it reaches them in the form that they accept, whichever wire the client speaks. */
import { openai, type OpenAIOptions } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { post } from '../../endpoints/ask.ts'

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, finish_reason: 'stop' }],
}

async function sent(preset: NonNullable<OpenAIOptions['preset']>, path: string, body: object) {
  const vendor = await vendorFor(
    (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion)),
  )
  const { url } = await hostedWith({ models: { m: openai({ preset, baseURL: vendor.baseURL, apiKey: 'k' }) } })
  const response = await post(url, path, { model: 'm', ...body })
  expect(response.status).toBe(200)
  const [request] = vendor.requests
  return (request?.json as { messages: Record<string, unknown>[] } | undefined)?.messages ?? []
}

test.each(['deepseek', 'mistral'] as const)(
  'instructions of a developer are those of the system at %s',
  async (preset) => {
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ]
    expect((await sent(preset, '/chat/completions', { messages }))[0]).toEqual({ role: 'system', content: 'Be brief.' })
  },
)

const long = 'call_0123456789abcdef'

test('ids of calls are nine letters or digits at Mistral, the same for a call and its result', async () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
  const messages = await sent('mistral', '/chat/completions', {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call(long), call('abc123XYZ')] },
      { role: 'tool', tool_call_id: long, content: 'a' },
      { role: 'tool', tool_call_id: 'abc123XYZ', content: 'b' },
    ],
  })
  const [first, second] = (messages[1]?.['tool_calls'] ?? []) as { id: string }[]
  expect(first?.id).toMatch(/^[a-zA-Z0-9]{9}$/)
  expect(second?.id).toBe('abc123XYZ')
  expect(messages.slice(2).map(({ tool_call_id: id }) => id)).toEqual([first?.id, second?.id])
})

test('so are those of a conversation that another wire carries', async () => {
  const messages = await sent('mistral', '/messages', {
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a' }] },
    ],
  })
  const [call] = (messages[1]?.['tool_calls'] ?? []) as { id: string }[]
  expect(call?.id).toMatch(/^[a-zA-Z0-9]{9}$/)
  expect(messages[2]?.['tool_call_id']).toBe(call?.id)
})
