/** The official client: conversations, and responses in the background, over vendors with three wire formats. */
import OpenAI, { BadRequestError, NotFoundError } from 'openai'
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { anthropicDialect } from '../../src/testing/dialects/anthropic.ts'
import type { Dialect } from '../../src/testing/dialects/dialect.ts'
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { openaiDialect } from '../../src/testing/dialects/openai.ts'
import { scriptedDialect } from '../../src/testing/scripted-dialect.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

const vendors: readonly [name: string, dialect: Dialect, provider: (baseURL: string) => Provider][] = [
  ['openai', openaiDialect, (baseURL) => openai({ baseURL, apiKey: 'k' })],
  ['anthropic', anthropicDialect, (baseURL) => anthropic({ baseURL, apiKey: 'k' })],
  ['gemini', geminiDialect, (baseURL) => gemini({ baseURL, apiKey: 'k' })],
]

describe.each(vendors)('over %s', (_, dialect, provider) => {
  async function world() {
    const { reply, requests } = scriptedDialect(dialect, ({ turns }) => ({ text: `answer ${turns.length}` }))
    const { baseURL } = await vendorFor(reply)
    const { url } = await hostedWith({ models: { m: provider(baseURL) } })
    return { client: new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-test', maxRetries: 0 }), requests }
  }

  test('a conversation is begun, continued, listed, cut and deleted', async () => {
    const { client, requests } = await world()
    const { conversations, responses } = client
    const { id } = await conversations.create({ metadata: { topic: 'x' } })
    expect((await conversations.update(id, { metadata: { topic: 'y' } })).metadata).toEqual({ topic: 'y' })
    const first = await responses.create({ model: 'm', input: 'one', conversation: id })
    expect([first.conversation, first.output_text]).toEqual([{ id }, 'answer 1'])
    const stream = responses.stream({ model: 'm', input: 'two', conversation: { id } })
    expect((await stream.finalResponse()).output_text).toBe('answer 3')
    await conversations.items.create(id, { items: [{ role: 'user', content: 'three' }] })
    expect((await responses.create({ model: 'm', conversation: id })).output_text).toBe('answer 5')
    expect(requests.at(-1)?.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
    const items = []
    for await (const item of conversations.items.list(id, { order: 'asc', limit: 2 })) items.push(item)
    // Gemini's answers begin with an item for its signatures.
    const messages = items.filter((item) => item.type === 'message')
    expect(messages.map(({ content }) => Object(content[0]).text)).toEqual([
      'one',
      'answer 1',
      'two',
      'answer 3',
      'three',
      'answer 5',
    ])
    const last = items.at(-1)?.id as string
    expect(await conversations.items.retrieve(last, { conversation_id: id })).toEqual(items.at(-1))
    expect((await conversations.items.delete(last, { conversation_id: id })).id).toBe(id)
    expect((await conversations.items.list(id)).data).toHaveLength(items.length - 1)
    await conversations.delete(id)
    await expect(conversations.retrieve(id)).rejects.toThrow(NotFoundError)
  })

  test('a response in the background is polled, followed from an event on, and cancelled', async () => {
    const { client, requests } = await world()
    const { responses } = client
    const { id, status } = await responses.create({ model: 'm', input: 'one', background: true })
    expect(status).toBe('queued')
    await expect.poll(async () => (await responses.retrieve(id)).status).toBe('completed')
    const done = await responses.retrieve(id)
    expect(done.output_text).toBe('answer 1')
    const all = []
    for await (const event of await responses.retrieve(id, { stream: true })) all.push(event)
    expect(all.map((event) => event.sequence_number)).toEqual(all.map((_event, index) => index))
    const rest = []
    for await (const event of await responses.retrieve(id, { stream: true, starting_after: 4 })) rest.push(event)
    expect(rest).toEqual(all.slice(5))
    expect(done).toMatchObject({ ...(await responses.cancel(id)) })
    const streamed = []
    const body = { model: 'm', input: 'two', background: true, stream: true, previous_response_id: id } as const
    for await (const event of await responses.create(body)) streamed.push(event)
    expect(streamed.at(-1)).toMatchObject({ type: 'response.completed', response: { background: true } })
    expect(requests.at(-1)?.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    const foreground = await responses.create({ model: 'm', input: 'one' })
    await expect(responses.cancel(foreground.id)).rejects.toThrow(BadRequestError)
  })
})
