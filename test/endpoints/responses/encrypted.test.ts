/** Encrypted reasoning is sent back to the vendor account that can read it, and to no other. */
import { openai, type Provider } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import type { OutputItem, ResponseObject } from '../../../src/wire/responses.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { post } from '../ask.ts'
import { eventsOf } from './rules.ts'

interface Sent {
  readonly model: string
  readonly stream?: boolean
  readonly include?: readonly string[]
  readonly input: readonly { readonly type?: string; readonly encrypted_content?: string }[]
}

const call = { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'f', arguments: '{}', status: 'completed' }
const first = { role: 'user', content: 'Hi' }
const done = { type: 'function_call_output', call_id: 'a', output: 'done' }

/** Encrypts for its organisation, and rejects what it cannot decrypt. Models named `plain…` do not reason. */
const vendor: VendorReply = ({ json, headers }, response) => {
  const { input, include = [], model, stream } = json as Sent
  const organisation = headers.authorization ?? ''
  const refuse = (error: object) => void response.writeHead(400, jsonBody).end(JSON.stringify({ error }))
  const message = 'Encrypted content is not supported with this model.'
  const encrypts = include.includes('reasoning.encrypted_content')
  if (encrypts && model.startsWith('plain')) return refuse({ message, param: 'include', code: null })
  const foreign = input.some(({ encrypted_content: opaque }) => opaque && opaque !== `gAAAA.${organisation}`)
  if (foreign) return refuse({ message: 'It could not be verified.', param: null, code: 'invalid_encrypted_content' })
  const opaque = encrypts ? { encrypted_content: `gAAAA.${organisation}` } : {}
  const output = [{ type: 'reasoning', id: 'rs_1', summary: [], ...opaque }, call]
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const whole = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model, output, usage }
  if (stream !== true) return void response.writeHead(200, jsonBody).end(JSON.stringify(whole))
  const events = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
    ...output.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item },
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: 'response.completed', response: whole },
  ]
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}

const jsonBody = { 'content-type': 'application/json' }

async function over(options: Parameters<typeof openai>[0] = {}) {
  const one = await vendorFor(vendor)
  const make = (apiKey: string): Provider => openai({ baseURL: one.baseURL, responses: true, apiKey, ...options })
  const models = { m: make('k1'), other: make('k2'), plain: { provider: make('k1'), providerModel: 'plain-4o' } }
  const { url } = await hostedWith({ models, retry: { maxAttempts: 1 } })
  const create = async (body: object) => {
    const { status, json, text } = await post(url, '/responses', { model: 'm', ...body })
    expect([status, text]).toEqual([200, text])
    const end = json ?? eventsOf(text).at(-1)?.response
    return { text, response: end as ResponseObject }
  }
  return { create, asked: () => one.requests.map(({ json }) => json as Sent) }
}

describe.each([false, true])('streamed: %s', (stream) => {
  test('is sent back by the items of a response, even if the client did not request it', async () => {
    const { create, asked } = await over()
    const { text, response } = await create({ input: [first], stream })
    expect(text).not.toContain('"gAAAA')
    await create({ input: [first, ...response.output, done], stream })
    expect(asked()[1]?.input[1]).toEqual({ type: 'reasoning', summary: [], encrypted_content: 'gAAAA.Bearer k1' })
  })

  test('is sent back by the id of the response', async () => {
    const { create, asked } = await over()
    const { response } = await create({ input: [first], stream })
    await create({ previous_response_id: response.id, input: [done], stream })
    expect(asked()[1]?.input[1]).toEqual({ type: 'reasoning', summary: [], encrypted_content: 'gAAAA.Bearer k1' })
  })

  test('of one organisation is not sent to another', async () => {
    const { create, asked } = await over()
    const { response } = await create({ input: [first], stream })
    await create({ model: 'other', input: [first, ...response.output, done], stream })
    expect(asked()).toHaveLength(2)
    expect(asked()[1]?.input.map(({ type }) => type)).toEqual([undefined, 'function_call', 'function_call_output'])
  })
})

test('encrypted reasoning is shared by two keys of one organisation', async () => {
  const { create, asked } = await over({ organization: 'org', headers: { authorization: 'Bearer same' } })
  const { response } = await create({ input: [first] })
  await create({ model: 'other', input: [first, ...response.output, done] })
  expect(asked()[1]?.input[1]?.encrypted_content).toBe('gAAAA.Bearer same')
})

test('encrypted reasoning that the vendor can no longer read is omitted in a second request', async () => {
  const { create, asked } = await over()
  const stale: OutputItem = { type: 'reasoning', id: 'rs_0', summary: [], encrypted_content: 'gAAAA.of another time' }
  await create({ input: [first, stale, call, done] })
  expect(asked().map(({ input }) => input.length)).toEqual([4, 3])
})

test('encrypted reasoning is requested only once from a model without it', async () => {
  const { create, asked } = await over()
  await create({ model: 'plain', input: [first], include: ['x'] })
  await create({ model: 'plain', input: [first] })
  expect(asked().map(({ include }) => include)).toEqual([['x', 'reasoning.encrypted_content'], ['x'], undefined])
})
