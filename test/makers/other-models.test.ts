/** Models other than Claude, served by Anthropic's Messages API: their signatures never reach Claude, nor Claude's them. */
import { anthropic } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { framesOf, post } from '../endpoints/ask.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { claude } from './claude.ts'
import { contentIn } from './collected.ts'
import { allMakers, gatewayOver, journey, type MakerName, type Way } from './journey.ts'
import { endEvents, endJson, type Sent } from './maker.ts'

const route: readonly MakerName[] = [
  'claude',
  'kimi',
  'gemini',
  'kimi',
  'claude',
  'gpt',
  'kimi',
  'claude',
  'kimi',
  'claude',
]

const ways: readonly Way[] = (['chat', 'responses', 'id', 'messages'] as const).flatMap((via) =>
  [false, true].map((stream) => ({ via, stream })),
)

test.each(ways)('each gets its own thinking back, through $via; streamed: $stream', async (way) => {
  const makers = { ...(await allMakers()), kimi: await claude('kimi-k3', 'kimi') }
  const { url } = await gatewayOver(makers)
  const steps = await journey(url, makers, route, way)
  expect(steps.map(({ maker, status, text }) => [maker, status, text])).toEqual(route.map((name) => [name, 200, '']))
  for (const { refusals, bodies, issued, issuedBefore, returned } of [makers.claude, makers.kimi]) {
    expect(refusals).toEqual([])
    expect(issued.length).toBeGreaterThan(2)
    expect(returned(bodies.at(-1))).toEqual(issued.slice(0, issuedBefore.at(-1)))
  }
})

/** Does not sign, and expects thinking with each tool call. */
async function deepseek() {
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: '' },
    { type: 'tool_use', id: 'a', name: 'now', input: {} },
  ]
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'deepseek-v4-pro', usage: {} }
  const vendor = await vendorFor(({ json }, response) => {
    const { stream, messages, thinking } = json as Sent
    const bare = messages.some(
      ({ role, content: blocks }: Sent) =>
        role === 'assistant' && !blocks.some(({ type }: Sent) => type === 'thinking'),
    )
    if (bare && thinking?.type !== 'disabled') {
      const message = 'The `content[].thinking` in the thinking mode must be passed back to the API.'
      response.writeHead(400, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }))
    }
    if (stream !== true) return endJson(response, { ...head, content, stop_reason: 'tool_use', stop_sequence: null })
    const events = [
      { type: 'message_start', message: { ...head, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: content[1] },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]
    endEvents(
      response,
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    )
  })
  const provider = anthropic({ baseURL: vendor.baseURL })
  const { url } = await hostedWith({ models: { m: { provider, providerModel: 'deepseek-v4-pro' } } })
  return { url, asked: () => vendor.requests.map(({ json }) => json as Sent) }
}

const body = (stream: boolean, ...turns: object[]) => ({
  model: 'm',
  stream,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hi' }, ...turns],
})
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'noon' }] }
const use = { type: 'tool_use', id: 'a', name: 'now', input: {} }

describe.each([false, true])('streamed: %s', (stream) => {
  test('thinking without a signature is sealed, because clients drop it otherwise, and returns', async () => {
    const { url, asked } = await deepseek()
    const answer = await post(url, '/messages', body(stream))
    const content = stream
      ? contentIn(framesOf(answer).map((frame) => JSON.parse(frame)))
      : (answer.json as Sent).content
    expect(content).toEqual([{ type: 'thinking', thinking: 'Hm.', signature: 'mh1.messages%2Fdeepseek.' }, use])
    expect((await post(url, '/messages', body(stream, { role: 'assistant', content }, result))).status).toBe(200)
    expect(asked()[1].messages[1].content).toEqual([{ type: 'thinking', thinking: 'Hm.', signature: '' }, use])
  })

  test("Claude's thinking is left out, and thinking switched off if the vendor misses it", async () => {
    const { url, asked } = await deepseek()
    const content = [
      { type: 'thinking', thinking: 'So.', signature: 'EqRoClaude' },
      { type: 'redacted_thinking', data: 'Ev' },
      use,
    ]
    const { status } = await post(url, '/messages', body(stream, { role: 'assistant', content }, result))
    expect(status).toBe(200)
    expect(asked().map(({ messages, thinking }) => [messages[1].content, thinking])).toEqual([
      [[use], undefined],
      [[use], { type: 'disabled' }],
    ])
  })
})
