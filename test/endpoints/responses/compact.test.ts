/** Compactions: a few items replace a conversation, whichever models make and continue it. */
import { demo, openai } from 'modelhatch/providers'
import { finish, text } from '../../chat-chunks.ts'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import type { CompactionObject, ResponseObject } from '../../../src/wire/responses.ts'
import { usageOf } from '../../../src/wire/usage.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { ask, clientOf, errorOf, post } from '../ask.ts'
import { eventsOf, requireGood } from './rules.ts'
import { scripted } from './scripted.ts'

const conversation = [
  { role: 'developer', content: 'Speak like a pirate.' },
  { role: 'user', content: 'Count the ships.' },
  { type: 'function_call', call_id: 'a', name: 'count', arguments: '{}' },
  { type: 'function_call_output', call_id: 'a', output: '42' },
  { role: 'assistant', content: 'Forty-two, arr.' },
]
const more = { role: 'user', content: 'And boats?' }
const summary = 'There are 42 ships. (é)'

describe('a compaction by a model that only supports chat', () => {
  const made = [text(summary), finish('stop', usageOf(20, 5))]

  test('is a summary after what the user and the instructions say, and the conversation can be continued', async () => {
    const { url, create, asked, receipt } = await scripted(made)
    const { status, json } = await post(url, '/responses/compact', { model: 'm', input: conversation, tools: [] })
    expect(status).toBe(200)
    const compaction = json as CompactionObject
    expect(compaction).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response.compaction',
      created_at: expect.any(Number),
      output: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Speak like a pirate.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Count the ships.' }] },
        { type: 'compaction', id: expect.stringMatching(/^cmp_/), encrypted_content: expect.any(String) },
      ],
      usage: { input_tokens: 20, output_tokens: 5, total_tokens: 25 },
    })
    expect(asked[0]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    expect(asked[0]).not.toHaveProperty('tools')
    expect(await receipt()).toMatchObject({ endpoint: 'responses.compact', usage: { total_tokens: 25 } })

    await create({ input: [...compaction.output, more] })
    await create({ previous_response_id: compaction.id, input: [more] })
    for (const { messages } of asked.slice(1)) {
      expect(messages).toEqual([
        { role: 'system', content: 'Speak like a pirate.' },
        { role: 'user', content: expect.stringMatching(/^Count the ships\.[^]*42 ships\. \(é\)\n\nAnd boats\?$/) },
      ])
    }
  })

  test('works for a stored conversation, and is stored like a response', async () => {
    const { url, create, asked } = await scripted(made)
    const { id } = (await create({ input: 'Hi' })).json as ResponseObject
    const { json } = await post(url, '/responses/compact', {
      model: 'm',
      previous_response_id: id,
      instructions: 'Short.',
    })
    expect(asked[1]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    const compaction = json as CompactionObject
    expect((await ask(url, 'GET', `/responses/${compaction.id}`)).json).toEqual(compaction)
    const items = (await ask(url, 'GET', `/responses/${compaction.id}/input_items?order=asc`)).json
    expect(items).toMatchObject({ data: [{ role: 'user' }, { role: 'assistant' }] })
    expect((await ask(url, 'DELETE', `/responses/${compaction.id}`)).status).toBe(200)
    expect((await create({ previous_response_id: compaction.id, input: 'x' })).status).toBe(400)
    // Compacting again: the summary is part of the conversation.
    await post(url, '/responses/compact', { model: 'm', input: compaction.output, store: false })
    expect(asked.at(-1)?.messages[0]?.content).toContain(summary)
  })

  test.each([false, true])(
    'is the only item of a response that Codex asks for with its last item; streamed: %s',
    async (stream) => {
      const { url, create, asked, receipt } = await scripted(made)
      const tools = [{ type: 'function', name: 'count' }]
      const body = { input: [...conversation, { type: 'compaction_trigger' }], tools, stream }
      const { text: reply, json } = await create(body)
      const response = stream ? requireGood(eventsOf(reply)) : (json as ResponseObject)
      expect(response).toMatchObject({
        status: 'completed',
        output: [{ type: 'compaction', encrypted_content: expect.any(String) }],
        usage: { input_tokens: 20, output_tokens: 5 },
        tools: [{ name: 'count' }],
      })
      expect(asked[0]?.messages.at(-1)?.content).toMatch(/^Write a summary/)
      expect(asked[0]).not.toHaveProperty('tools')
      expect(await receipt()).toMatchObject({ endpoint: 'responses', usage: { total_tokens: 25 } })

      await create({ input: [...response.output, more] })
      await create({ previous_response_id: response.id, input: [more] })
      for (const { messages } of asked.slice(1)) {
        expect(messages).toEqual([{ role: 'user', content: expect.stringMatching(/42 ships\. \(é\)\n\nAnd boats\?$/) }])
      }
      const items = (await ask(url, 'GET', `/responses/${response.id}/input_items`)).json
      expect((items as { data: { type: string }[] }).data.map(({ type }) => type)).not.toContain('compaction_trigger')
    },
  )

  test('without reported usage is charged by an estimate', async () => {
    const { url, receipt } = await scripted([text('12345678'), finish('stop')])
    const { json } = await post(url, '/responses/compact', { model: 'm', input: 'Hi' })
    expect(await receipt()).toMatchObject({ usageSource: 'estimated', usage: { completion_tokens: 2 } })
    expect(json).toMatchObject({ usage: { output_tokens: 2 } })
  })

  test('is rejected as a stream, and fails without a summary', async () => {
    const { url } = await scripted([text(' '), finish('stop', usageOf(1, 1))])
    expect((await post(url, '/responses/compact', { model: 'm', input: 'Hi' })).status).toBe(503)
    const streamed = await post(url, '/responses/compact', { model: 'm', input: 'Hi', stream: true })
    expect([streamed.status, errorOf(streamed).param]).toEqual([400, 'stream'])
    const empty = await post(url, '/responses/compact', { model: 'm' })
    expect([empty.status, errorOf(empty).param]).toEqual([400, 'input'])
  })

  test('is charged by its tokens, and requires the balance for it', async () => {
    const price = { input: '1000', output: '1000' }
    const { url, gateway, receipt } = await hostedWith({
      models: { demo: { provider: demo(), price } },
      keys: { 'sk-test': { account: 'ada' }, 'sk-poor': { account: 'bob' } },
      billing: { currency: 'CNY' },
    })
    await gateway.admin.accounts.topUp({ account: 'ada', amount: '10', reference: 'r' })
    const { status } = await post(url, '/responses/compact', { model: 'demo', input: conversation })
    expect(status).toBe(200)
    const { usage, charge } = await receipt()
    expect(usage.total_tokens).toBeGreaterThan(0)
    expect(Number(charge?.cost)).toBeCloseTo(usage.total_tokens / 1000, 6)
    expect((await post(url, '/responses/compact', { model: 'demo', input: 'Hi' }, 'sk-poor')).status).toBe(429)
  })

  test('by the demo works with the official client', async () => {
    const { url } = await hostedWith({ models: { demo: demo() } })
    const client = clientOf(url)
    const compaction = await client.responses.compact({ model: 'demo', input: 'Count from 1 to 5' })
    expect(compaction.output.at(-1)?.type).toBe('compaction')
    const { output_text: said } = await client.responses.create({
      model: 'demo',
      input: [...(compaction.output as []), { role: 'user', content: 'Count from 1 to 3' }],
    })
    expect(said).toContain('3')
  })
})

describe('a compaction by a vendor that has the endpoint', () => {
  const jsonBody = { 'content-type': 'application/json' }
  const usage = { input_tokens: 30, output_tokens: 3, total_tokens: 33 }
  const item = { type: 'compaction', id: 'cmp_theirs', encrypted_content: 'gAAAA' }
  const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: summary }] }
  const response = { id: 'resp_1', object: 'response', status: 'completed', output: [said], usage, created_at: 1 }
  const vendor: VendorReply = ({ url, json }, reply) => {
    const { model } = json as { model: string }
    if (!url.endsWith('/compact'))
      return void reply.writeHead(200, jsonBody).end(JSON.stringify({ ...response, model }))
    if (model === 'older') return void reply.writeHead(404, jsonBody).end('{"error":{"message":"Invalid URL"}}')
    const made = { id: 'resp_cmp', object: 'response.compaction', created_at: 7, output: [item], usage }
    return void reply.writeHead(200, jsonBody).end(JSON.stringify(made))
  }

  async function over() {
    const one = await vendorFor(vendor)
    const provider = openai({ baseURL: one.baseURL, responses: true })
    const chats = { name: 'chats', chat: () => ({ choices: [] }) as never }
    const models = { m: provider, older: provider, chats }
    const hosted = await hostedWith({ models, retry: { maxAttempts: 1 } })
    const compact = (body: object) => post(hosted.url, '/responses/compact', { model: 'm', input: [more], ...body })
    const create = (body: object) => post(hosted.url, '/responses', { model: 'm', ...body })
    const asked = () => one.requests.map(({ url, json }) => [url.replace('/v1', ''), json as object] as const)
    return { ...hosted, compact, create, asked }
  }

  test('is that of the vendor, which only it can read', async () => {
    const { compact, create, asked, receipt } = await over()
    const { json } = await compact({ prompt_cache_key: 'k', input: [{ ...more, id: 'msg_mine' }] })
    expect(asked()).toEqual([['/responses/compact', { model: 'm', prompt_cache_key: 'k', input: [more] }]])
    const { id, output } = json as CompactionObject
    expect(json).toMatchObject({ id: 'resp_cmp', object: 'response.compaction', created_at: 7, usage })
    expect(output).toMatchObject([{ type: 'compaction', id: 'cmp_theirs' }])
    expect(output[0]?.['encrypted_content']).not.toBe('gAAAA')
    expect(await receipt()).toMatchObject({ endpoint: 'responses.compact', usage: { total_tokens: 33 } })

    const theirs = { type: 'compaction', encrypted_content: 'gAAAA' }
    await create({ input: [...output, more] })
    await create({ previous_response_id: id, input: [more] })
    for (const [, body] of asked().slice(1)) expect(body).toMatchObject({ input: [theirs, more] })

    const refused = await create({ model: 'chats', input: [...output, more] })
    expect([refused.status, errorOf(refused).param]).toEqual([400, 'input[0]'])
  })

  test('is a summary for a model without compactions, which is requested only once', async () => {
    const { compact, create, asked } = await over()
    const { json } = await compact({ model: 'older' })
    await compact({ model: 'older' })
    expect(asked().map(([url]) => url)).toEqual(['/responses/compact', '/responses', '/responses'])
    await create({ input: [...(json as CompactionObject).output, more] })
    expect(JSON.stringify(asked().at(-1))).toContain(summary)
  })

  test('is a summary if the output tokens are limited', async () => {
    const { compact, asked } = await over()
    expect((await compact({ max_output_tokens: 9 })).status).toBe(200)
    expect(asked()).toMatchObject([['/responses', { max_output_tokens: 9, store: false }]])
  })
})
