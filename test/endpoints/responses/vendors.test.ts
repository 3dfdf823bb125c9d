/** Responses by vendors with their own formats: their signatures are sent back to them on the next turn. */
import { anthropic, gemini } from 'modelhatch/providers'
import { expect, describe, test } from 'vitest'
import type { ResponseObject } from '../../../src/wire/responses.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { hasShared, sharedBytes, sharedJson } from '../../shared.ts'
import { post } from '../ask.ts'

const tools = [
  { type: 'function', name: 'get_user_country', parameters: { type: 'object', properties: {} } },
  { type: 'function', name: 'weather', parameters: { type: 'object', properties: { location: { type: 'string' } } } },
]

describe.skipIf(!hasShared)('the second turn after a recorded first one', () => {
  test.each([true, false])("sends Anthropic's thinking back with its signature (stored: %s)", async (store) => {
    const path = 'recordings/anthropic/thinking-text-tool-no-args.json'
    const vendor = await vendorFor((_, response) => void response.end(sharedBytes(path)))
    const second = await secondTurn(anthropic({ apiKey: 'k', baseURL: vendor.baseURL }), store)
    expect(second.status).toBe(200)
    const { messages } = Object(vendor.requests[1]?.json) as { messages: { content: { type: string }[] }[] }
    const { content } = sharedJson(path) as { content: object[] }
    expect(messages[1]?.content).toMatchObject(content)
    expect(messages[2]?.content).toMatchObject([{ type: 'tool_result' }])
  })

  test.each([true, false])("sends Gemini's signature back with its call (stored: %s)", async (store) => {
    const path = 'recordings/gemini/tool-stream-signature.sse'
    const events = sharedBytes(path)
    const vendor = await vendorFor((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events)
    })
    await secondTurn(gemini({ apiKey: 'k', baseURL: vendor.baseURL }), store, true)
    const signature = /"thoughtSignature": ?"([^"]+)"/.exec(events.toString())?.[1] ?? 'none'
    expect(vendor.requests).toHaveLength(2)
    expect(vendor.requests[1]?.body.toString()).toContain(signature)
  })
})

describe('a conversation that an earlier version has begun', () => {
  const packed = (state: object) => Buffer.from(JSON.stringify(state)).toString('base64url')
  const call = { type: 'function_call', call_id: 'toolu_1', name: 'weather', arguments: '{}' }
  const result = { type: 'function_call_output', call_id: 'toolu_1', output: 'Rain' }
  const question = { role: 'user', content: 'Weather?' }

  async function sent(provider: ReturnType<typeof anthropic>, items: readonly object[], asked: () => unknown) {
    const { url } = await hostedWith({ models: { m: provider }, retry: { maxAttempts: 1 } })
    await post(url, '/responses', { model: 'm', tools, store: false, input: [question, ...items, call, result] })
    return asked()
  }

  test("sends Claude's thinking back, which it had packed into a chat's message", async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(400).end('{}'))
    const details = [
      { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'c2VhbGVk', format: 'anthropic-claude-v1', index: 1 },
    ]
    const state = packed({ message: { reasoning_content: 'Hm.', reasoning_details: details } })
    const items = [{ type: 'reasoning', summary: [], encrypted_content: `mh1.anthropic.${state}` }]
    const provider = anthropic({ apiKey: 'k', baseURL: vendor.baseURL })
    const body = await sent(provider, items, () => vendor.requests[0]?.json)
    expect((body as { messages: { content: unknown }[] }).messages[1]?.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'c2VhbGVk' },
      { type: 'tool_use', id: 'toolu_1' },
    ])
  })

  test("sends Gemini's signature of a call back, which stood after the call", async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(400).end('{}'))
    const extra = { extra_content: { google: { thought_signature: 'c2lnbmF0dXJl' } } }
    const state = packed({ message: {}, calls: { toolu_1: extra }, last: true })
    const items = [{ type: 'reasoning', summary: [], encrypted_content: `mh1.google.${state}` }]
    const provider = gemini({ apiKey: 'k', baseURL: vendor.baseURL })
    const body = await sent(provider, items, () => vendor.requests[0]?.body.toString())
    expect(body).toContain('"thoughtSignature":"c2lnbmF0dXJl"')
  })
})

test.each<[string, object, string]>([
  ['claude-sonnet-5', { top_logprobs: 2 }, 'top_logprobs'],
  ['claude-sonnet-5', { include: ['message.output_text.logprobs'] }, 'include'],
  ['claude-sonnet-5', { text: { verbosity: 'low' } }, 'text.verbosity'],
  ['claude-3-haiku-20240307', { reasoning: { effort: 'low' } }, 'reasoning.effort'],
  ['claude-sonnet-5', { reasoning: { effort: 'huge' } }, 'reasoning.effort'],
  ['claude-opus-5-5', { tools, tool_choice: 'required' }, 'tool_choice'],
  ['claude-sonnet-5', { max_output_tokens: 999_999_999 }, 'max_output_tokens'],
  ['claude-sonnet-5', { input: 'too long' }, 'input'],
])('%s rejects %j with the field name of a response', async (model, body, param) => {
  const message = 'input' in body ? 'messages.0.content: too long' : 'max_tokens: too many'
  const refusal = JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } })
  const vendor = await vendorFor((_, response) => void response.writeHead(400).end(refusal))
  const provider = anthropic({ apiKey: 'k', baseURL: vendor.baseURL })
  const { url } = await hostedWith({ models: { m: { provider, providerModel: model } } })
  const { status, json } = await post(url, '/responses', { model: 'm', input: 'Hi', ...body })
  const { error } = json as { error: { param: string; message: string } }
  expect([status, error.param]).toEqual([400, param])
  expect(error.message).toContain(`"${param}"`)
})

async function secondTurn(provider: ReturnType<typeof anthropic>, store: boolean, stream = false) {
  const { url } = await hostedWith({ models: { m: provider }, retry: { maxAttempts: 1 } })
  const ask = async (body: object) =>
    post(url, '/responses', { model: 'm', tools, store, include: ['reasoning.encrypted_content'], ...body })
  const question = { role: 'user', content: 'Go.' }
  const first = await ask({ input: [question], stream })
  const completed = stream ? /^data: (\{"type":"response\.completed".*)$/m.exec(first.text)?.[1] : undefined
  const { id, output } = (
    completed === undefined ? first.json : (JSON.parse(completed) as { response: object }).response
  ) as ResponseObject
  const outputs = output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id: call }) => ({ type: 'function_call_output', call_id: call, output: 'done' }))
  return store
    ? ask({ previous_response_id: id, input: outputs, stream })
    : ask({ input: [question, ...output, ...outputs], stream })
}
