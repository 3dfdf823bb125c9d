/** A provider with responses of its own that does not stream, for clients that do. */
import OpenAI from 'openai'
import { defineProvider } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import type { ResponseObject } from '../../../src/wire/responses.ts'
import { hostedWith } from '../../hosted.ts'

const output = [
  { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'c2VjcmV0' },
  {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [
      { type: 'output_text', text: 'Let me see.', annotations: [], logprobs: [] },
      { type: 'refusal', refusal: 'Not that.' },
    ],
  },
  { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'rain' } },
  { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
]
const usage = { input_tokens: 5, output_tokens: 7, total_tokens: 12 }
const whole = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output, usage }

test('has the items, the usage and the sealed reasoning of the whole response', async () => {
  const provider = defineProvider({ name: 'maker', respond: async () => whole as unknown as ResponseObject })
  const { url, receipt } = await hostedWith({ models: { m: provider } })
  const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 0 })
  const stream = client.responses.stream({ model: 'm', input: 'Hi', reasoning: { summary: 'auto' } })
  let said = ''
  for await (const event of stream) if (event.type === 'response.output_text.delta') said += event.delta
  const response = await stream.finalResponse()
  expect(said).toBe('Let me see.')
  expect(response.output).toMatchObject([
    { type: 'reasoning', summary: [{ text: 'Hm.' }], encrypted_content: 'mh1.maker.c2VjcmV0' },
    { type: 'message', content: [{ text: 'Let me see.' }, { refusal: 'Not that.' }] },
    { type: 'web_search_call', action: { query: 'rain' } },
    { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
  ])
  expect(response.usage).toMatchObject(usage)
  const { output: kept } = await client.responses.retrieve(response.id)
  expect(kept.map(({ id }) => id)).toEqual(response.output.map(({ id }) => id))
  expect(await receipt()).toMatchObject({ outcome: 'completed', usage: { prompt_tokens: 5, completion_tokens: 7 } })
})
