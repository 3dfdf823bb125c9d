/** Messages whose usage the vendor does not report, or not in numbers. */
import { anthropic } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { hostedWith, vendorFor } from '../../hosted.ts'

const text = 'A text of many words, which nobody has counted.'
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }

const whole = (usage: unknown) =>
  JSON.stringify({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage })

const streamed = (usage: unknown) =>
  [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')

const usages = [
  undefined,
  null,
  {},
  { input_tokens: '10', output_tokens: 'twenty' },
  { input_tokens: 10 },
  { input_tokens: -1, output_tokens: -1 },
]

test.each(
  usages.flatMap((usage) =>
    [true, false].flatMap((stream) => ['messages', 'chat/completions'].map((path) => ({ usage, stream, path }))),
  ),
)('are charged by an estimate: $usage, stream $stream, $path', async ({ usage, stream, path }) => {
  const vendor = await vendorFor((_, response) => {
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json')
    response.end(stream ? streamed(usage) : whole(usage))
  })
  const { url, receipt } = await hostedWith({ models: { m: anthropic({ baseURL: vendor.baseURL }) } })
  const answer = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', max_tokens: 99, stream, messages: [{ role: 'user', content: 'Say much.' }] }),
  })
  expect(await answer.text()).toContain('nobody has counted')
  const { usage: counted, usageSource } = await receipt()
  expect(usageSource).toBe('estimated')
  expect(counted.prompt_tokens).toBeGreaterThan(0)
  expect(counted.completion_tokens).toBe(12)
})
