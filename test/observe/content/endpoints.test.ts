/** What is kept of each endpoint: conversations in the form inside, all else as its JSON. */
import { createHash } from 'node:crypto'
import { anthropic, gemini, openai } from 'modelhatch/providers'
import { anthropicDialect } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { scriptedDialect } from '../../../src/testing/scripted-dialect.ts'
import { formOf } from '../../endpoints/forms.ts'
import { vendorFor } from '../../hosted.ts'
import { wav } from '../../sound.ts'
import { textsIn, worldWith } from './world.ts'

const messages = [{ role: 'user', content: 'Who?' }]
const contents = [{ role: 'user', parts: [{ text: 'Who?' }] }]

const conversations: Readonly<Record<string, readonly [path: string, body: object]>> = {
  'chat.completions': ['/v1/chat/completions', { model: 'm', messages }],
  messages: ['/v1/messages', { model: 'm', max_tokens: 9, messages }],
  responses: ['/v1/responses', { model: 'm', input: 'Who?' }],
  completions: ['/v1/completions', { model: 'm', prompt: 'Who?' }],
  'content.generate': ['/v1beta/models/m:generateContent', { contents }],
}

/** A vendor that answers each of them. */
async function saying(text: string) {
  const vendor = await vendorFor(scriptedDialect(anthropicDialect, () => ({ text })).reply)
  return worldWith({ models: { m: anthropic({ baseURL: vendor.baseURL, apiKey: 'k' }) } })
}

describe.each(Object.entries(conversations))('%s', (endpoint, [path, body]) => {
  test('is kept as a conversation and its answer', async () => {
    const { post, kept } = await saying('It was me.')
    const found = await kept(await post(path, body))
    expect(found).toMatchObject({ endpoint, model: 'm', account: 'acme', outcome: 'completed', isWhole: true })
    expect(textsIn(found.request.conversation?.turns)).toEqual(['Who?'])
    expect(textsIn(found.answer.answer?.choices)).toEqual(['It was me.'])
    expect(found.answer.answer?.choices[0]?.end?.reason).toBe('stop')
    expect(found.request.body).toBeUndefined()
  })

  test('is kept alike when it is streamed', async () => {
    const { post, kept } = await saying('It was me.')
    const [to, asked] = endpoint.startsWith('content')
      ? ['/v1beta/models/m:streamGenerateContent?alt=sse', body]
      : [path, { ...body, stream: true }]
    const found = await kept(await post(to, asked))
    expect(found).toMatchObject({ stream: true, isWhole: true, outcome: 'completed' })
    expect(textsIn(found.answer.answer?.choices)).toEqual(['It was me.'])
    expect(found.answer.answer?.choices[0]?.end?.reason).toBe('stop')
  })
})

test('a stream of Google that is a list is kept alike', async () => {
  const { post, kept } = await worldWith({}, { text: 'It was me.' })
  const found = await kept(await post('/v1beta/models/m:streamGenerateContent', { contents }))
  expect(textsIn(found.answer.answer?.choices)).toEqual(['It was me.'])
})

test('calls of tools, their results and reasoning are kept, without signatures', async () => {
  const call = { id: 'call_1', name: 'look', input: { at: 'Mars' } }
  const vendor = await vendorFor(scriptedDialect(anthropicDialect, () => ({ reasoning: 'Hm.', calls: [call] })).reply)
  const { post, kept } = await worldWith({ models: { m: anthropic({ baseURL: vendor.baseURL, apiKey: 'k' }) } })
  const found = await kept(
    await post('/v1/messages', {
      model: 'm',
      max_tokens: 9,
      messages: [
        ...messages,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Well.', signature: 'c2lnbmF0dXJl' },
            { type: 'tool_use', id: 'call_0', name: 'look', input: { at: 'Moon' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: 'Dust.' }] },
      ],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
    }),
  )
  expect(textsIn(found.request.conversation?.turns)).toEqual(['Who?', 'Well.', 'Dust.'])
  expect(found.answer.answer?.choices[0]?.blocks).toMatchObject([
    { kind: 'reasoning', text: 'Hm.' },
    { kind: 'call', name: 'look', input: '{"at":"Mars"}' },
  ])
  expect(JSON.stringify(found)).not.toContain('c2lnbmF0dXJl')
})

test('prompts of one request are turns, and prompts of tokens stay as they are', async () => {
  const { post, kept } = await worldWith({}, ({ body }, response) => {
    const { prompt } = JSON.parse(body.toString()) as { prompt: unknown[] }
    response.setHeader('content-type', 'application/json')
    const choices = prompt.map((_, index) => ({ index, text: `${index}.`, finish_reason: 'length', logprobs: null }))
    response.end(JSON.stringify({ id: 'c', object: 'text_completion', created: 1, model: 'm', choices }))
  })
  const texts = await kept(await post('/v1/completions', { model: 'm', prompt: ['One', 'Two'] }))
  expect(texts.request.conversation?.turns.map(({ blocks }) => textsIn(blocks)[0])).toEqual(['One', 'Two'])
  expect(texts.answer.answer?.choices.map(({ end }) => end?.reason)).toEqual(['length', 'length'])
  const tokens = await kept(await post('/v1/completions', { model: 'm', prompt: [1, 2] }))
  expect(tokens.request.body).toMatchObject({ prompt: [1, 2] })
})

test('what is no conversation is kept as its JSON', async () => {
  const { post, kept } = await worldWith({}, (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"m"}')
  })
  const found = await kept(await post('/v1/embeddings', { model: 'm', input: 'Who?' }))
  expect(found.request).toEqual({ body: { model: 'm', input: 'Who?' } })
  expect(found.answer.body).toMatchObject({ data: [{ embedding: [0.5] }] })
})

test('sound is kept by its hash, whichever way it goes', async () => {
  const sound = wav({ seconds: 1 })
  const reference = `sha256:${createHash('sha256').update(sound).digest('hex')}`
  const { post, kept } = await worldWith({}, ({ url }, response) => {
    if (url.includes('speech')) return void response.setHeader('content-type', 'audio/wav').end(sound)
    response.setHeader('content-type', 'application/json')
    response.end('{"text":"Hello"}')
  })
  const spoken = await kept(await post('/v1/audio/speech', { model: 'm', input: 'Hello', voice: 'alloy' }))
  expect(spoken).toMatchObject({ request: { body: { input: 'Hello' } }, answer: { body: reference } })
  expect(spoken.media).toEqual([{ reference, type: 'audio/wav', bytes: sound.length }])
  const file = new Blob([sound], { type: 'audio/wav' })
  const heard = await kept(
    await post('/v1/audio/transcriptions', formOf(['model', 'm'], ['file', file, 'a.wav'], ['prompt', 'Names'])),
  )
  expect(heard.request.body).toEqual({ model: 'm', prompt: 'Names', file: [reference] })
  expect(heard.answer.body).toMatchObject({ text: 'Hello' })
  expect(heard.media).toEqual([{ reference, type: 'audio/wav', bytes: sound.length }])
})

test('a call that fails is kept with its request and the code of its error', async () => {
  const { post, kept } = await worldWith({}, (_, response) => void response.writeHead(400).end('{}'))
  const found = await kept(await post('/v1/chat/completions', { model: 'm', messages }))
  expect(found).toMatchObject({ outcome: 'failed', isWhole: false, answer: {} })
  expect(found.code).toBeDefined()
  expect(textsIn(found.request.conversation?.turns)).toEqual(['Who?'])
})

test('a call that an inspector refuses is kept', async () => {
  const { post, kept } = await worldWith({ inspect: [{ request: () => ({ refuse: 'Not here.' }) }] })
  const found = await kept(await post('/v1/chat/completions', { model: 'm', messages }))
  expect(found).toMatchObject({ outcome: 'failed', code: 'content_policy_violation' })
})

test('a response in the background is kept once it has ended', async () => {
  const { post, settled, gateway } = await worldWith({}, { text: 'Done.' })
  const response = await post('/v1/responses', { model: 'm', input: 'Go', background: true })
  await response.text()
  await expect.poll(() => gateway.admin.content.counts().written).toBe(1)
  await settled()
  const found = await gateway.admin.content.get(response.headers.get('x-request-id') ?? '')
  expect(textsIn(found?.answer.answer?.choices)).toEqual(['Done.'])
})

test('an answer from the cache is kept as its own call, and a replayed one leads to the first', async () => {
  const { post, kept, gateway } = await worldWith({ cache: {} })
  const body = { model: 'm', temperature: 0, messages }
  const first = await kept(await post('/v1/chat/completions', body))
  const second = await kept(await post('/v1/chat/completions', body))
  expect(second.id).not.toBe(first.id)
  expect(second.answer.answer?.choices).toEqual(first.answer.answer?.choices)
  const keyed = { 'idempotency-key': 'one' }
  const third = await kept(await post('/v1/chat/completions', { model: 'm', messages }, keyed))
  const again = await kept(await post('/v1/chat/completions', { model: 'm', messages }, keyed))
  expect(again.id).toBe(third.id)
  expect(gateway.admin.content.counts().written).toBe(3)
})

test('every vendor: what the client got is kept, not what the vendor sent', async () => {
  const vendor = await vendorFor((_, response) => {
    response.setHeader('content-type', 'application/json')
    const parts = [{ text: 'It was me.' }]
    response.end(JSON.stringify({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }))
  })
  const { post, kept } = await worldWith({
    models: {
      m: gemini({ baseURL: vendor.baseURL, apiKey: 'k' }),
      n: openai({ baseURL: vendor.baseURL, apiKey: 'k' }),
    },
  })
  const found = await kept(await post('/v1/chat/completions', { model: 'm', messages }))
  expect(textsIn(found.answer.answer?.choices)).toEqual(['It was me.'])
  expect(found).toMatchObject({ endpoint: 'chat.completions', provider: 'gemini' })
})
