/** What only Anthropic's API does: refused at other vendors, and passed on to that one. */
import { anthropic } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { askMessage, scripted } from './scripted.ts'

const thread = { type: 'create', ttl: '1h' }
const hello = [{ choices: [{ delta: { content: 'Hello' }, finish_reason: 'stop' as const }] }]

describe('a thread', () => {
  test('is refused at other vendors in the words by which clients send the whole conversation instead', async () => {
    const { create } = await scripted(hello)
    const response = await create({ thread })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      },
    })
  })

  test('reaches Anthropic if the host allows it, and is refused in the same words otherwise', async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
    const provider = anthropic({ baseURL: vendor.baseURL })
    const models = { m: { provider, allow: ['thread'] }, guarded: provider }
    const { url } = await hostedWith({ models, retry: { maxAttempts: 1 } })
    await askMessage(url, { thread })
    expect(vendor.requests[0]?.json).toMatchObject({ thread })
    const refused = await askMessage(url, { thread, model: 'guarded' })
    expect(await refused.json()).toMatchObject({ error: { details: { error_code: 'thread_unsupported_request' } } })
  })
})

const billing = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.1; cc_entrypoint=cli; cch=1f2e3;' }
const system = [billing, { type: 'text', text: 'You are an agent.' }]

describe('the note for Anthropic’s billing, which changes with every prompt', () => {
  test('does not reach other vendors, whose caches it would make useless', async () => {
    const { create, asked } = await scripted(hello)
    await create({ system })
    expect(asked[0]?.messages[0]).toEqual({ role: 'system', content: 'You are an agent.' })
  })

  test.each([
    ['claude-opus-5', system],
    ['deepseek-v4', system.slice(1)],
  ])('in Anthropic’s format, for the model %s', async (model, expected) => {
    const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
    const provider = anthropic({ baseURL: vendor.baseURL })
    const { url } = await hostedWith({ models: { m: { provider, providerModel: model } }, retry: { maxAttempts: 1 } })
    await askMessage(url, { system })
    expect(vendor.requests[0]?.json).toMatchObject({ system: expected })
  })
})
