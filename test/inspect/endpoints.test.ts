/** The table of what is inspected, endpoint by endpoint: no vendor gets a value of any request, in whatever wire format it is asked. */
import { askChat, defineEndpoint, jsonReply, mask, type Inspector } from 'modelhatch'
import { anthropic, gemini, openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { ownEndpoints } from '../../src/endpoints/routes.ts'
import { documentAt, inCode, marked, rows } from '../documents.ts'
import { formOf, send } from '../endpoints/forms.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { wav } from '../sound.ts'

const email = 'ada@example.org'
const ask = `Write to ${email}`
const chatMessages = [{ role: 'user', content: ask }]
const contents = [{ role: 'user', parts: [{ text: ask }] }]
const file = new Blob([wav({ seconds: 1 })], { type: 'audio/wav' })
const png = new Blob([Buffer.from('iVBORw0KGgo=', 'base64')], { type: 'image/png' })

/** A request of each endpoint that reaches a vendor: its path and its body. */
const requests: Readonly<Record<string, readonly [path: string, body: object | FormData]>> = {
  'chat.completions': ['/v1/chat/completions', { model: 'm', messages: chatMessages }],
  messages: ['/v1/messages', { model: 'claude', max_tokens: 9, messages: chatMessages }],
  'content.generate': ['/v1beta/models/gem:generateContent', { contents }],
  'content.stream': ['/v1beta/models/gem:streamGenerateContent', { contents }],
  responses: ['/v1/responses', { model: 'm', input: ask }],
  'responses.compact': ['/v1/responses/compact', { model: 'm', input: ask }],
  completions: ['/v1/completions', { model: 'm', prompt: ['Hi', ask] }],
  embeddings: ['/v1/embeddings', { model: 'm', input: [ask, 'x'] }],
  'embeddings 2': ['/v1beta/models/m:embedContent', { content: { parts: [{ text: ask }] } }],
  moderations: ['/v1/moderations', { model: 'm', input: [{ type: 'text', text: ask }] }],
  rerank: ['/v1/rerank', { model: 'm', query: ask, documents: [{ text: 'x', source: email }, ask] }],
  'images.generations': ['/v1/images/generations', { model: 'm', prompt: ask }],
  'images.edits': ['/v1/images/edits', formOf(['model', 'm'], ['image', png, 'a.png'], ['prompt', ask])],
  decisions: ['/v1/decisions', { model: 'm', input: ask, questions: [{ type: 'predicate', instructions: ask }] }],
  'audio.speech': ['/v1/audio/speech', { model: 'm', input: ask, voice: 'alloy', instructions: `As ${email}` }],
  // The field behind the file arrives last.
  'audio.transcriptions': [
    '/v1/audio/transcriptions',
    formOf(['model', 'm'], ['file', file, 'a.wav'], ['prompt', ask]),
  ],
  'audio.translations': ['/v1/audio/translations', formOf(['model', 'm'], ['file', file, 'a.wav'], ['prompt', ask])],
  'videos.create': ['/v1/videos', { model: 'video', prompt: ask }],
  'videos.generations.create': ['/v1/videos/generations', { model: 'video', prompt: ask }],
  'messages.count_tokens': ['/v1/messages/count_tokens', { model: 'claude', messages: chatMessages }],
  'responses.input_tokens': ['/v1/responses/input_tokens', { model: 'm', input: ask }],
  'content.count_tokens': ['/v1beta/models/gem:countTokens', { contents }],
}

const reaching = ownEndpoints.filter((endpoint) => 'ask' in endpoint || endpoint.limited !== undefined)
const table = rows(marked(documentAt('src/inspect/README.md'), 'inspected'))
const without = ['no vendor gets it', 'the image: nothing']
const unsent = new Set(table.flatMap(([first, request = '']) => (without.includes(request) ? inCode(first) : [])))

test('the table has each endpoint that reaches a vendor, and so has this test', () => {
  const names = [...new Set(reaching.map(({ name }) => name))].sort()
  expect(names.length).toBeGreaterThan(15)
  expect(table.flatMap(([first]) => inCode(first)).sort()).toEqual(names)
  expect([...new Set(Object.keys(requests).map((name) => name.replace(' 2', '')))].sort()).toEqual(
    names.filter((name) => !unsent.has(name)),
  )
  for (const [, ...cells] of table) for (const cell of cells) expect(cell).not.toBe('')
})

async function world(inspector: Inspector | ReturnType<typeof mask>, reply: VendorReply) {
  const vendor = await vendorFor(reply)
  const options = { baseURL: vendor.baseURL, apiKey: 'k' }
  const { url } = await hostedWith({
    models: {
      m: openai({ ...options, responses: true }),
      claude: anthropic(options),
      gem: gemini(options),
      video: openai({ ...options, name: 'video' }),
    },
    inspect: [inspector],
  })
  const post = (path: string, body: object | FormData) =>
    body instanceof FormData
      ? send(url, path.replace('/v1', ''), body)
      : fetch(`${url}${path}`, {
          method: 'POST',
          headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
  return { vendor, post }
}

const refusing: VendorReply = (_, response) => {
  response.writeHead(400, { 'content-type': 'application/json' })
  response.end('{"error":{"message":"no","type":"invalid_request_error","code":null,"param":null}}')
}

describe.each(Object.entries(requests))('%s', (name, [path, body]) => {
  test('shows its texts to inspectors, and sends vendors what these let pass', async () => {
    const { vendor, post } = await world(mask(), refusing)
    await (await post(path, body)).text()
    const counts = name.includes('tokens')
    if (!counts) await expect.poll(() => vendor.requests.length).toBeGreaterThan(0)
    expect(vendor.requests.map(({ body: sent }) => sent.toString('latin1')).join('\n')).not.toContain(email)
    if (counts) expect(vendor.requests).toEqual([])
    else expect(vendor.requests.some(({ body: sent }) => /EMAIL_[A-Z]{8}/.test(sent.toString('latin1')))).toBe(true)
  })

  test('can be refused', async () => {
    const { vendor, post } = await world({ request: () => ({ refuse: 'Not here.' }) }, refusing)
    const response = await post(path, body)
    const text = await response.text()
    expect(vendor.requests).toEqual([])
    if (name.includes('tokens')) return expect(response.status).toBe(200)
    expect(response.status).toBe(400)
    expect(text).toContain('Not here.')
  })
})

const json = (body: object): VendorReply =>
  function reply({ body: asked }, response) {
    const [placeholder = ''] = /EMAIL_[A-Z]{8}/.exec(asked.toString('latin1')) ?? []
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body).replaceAll('PLACE', placeholder))
  }

test('an endpoint of the host is inspected where it asks for a chat, and in the fields that it names', async () => {
  const vendor = await vendorFor(({ body }, response) => {
    const [placeholder = ''] = /EMAIL_[A-Z]{8}/.exec(body.toString()) ?? []
    const message = { role: 'assistant', content: `For ${placeholder}` }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  const seen: unknown[] = []
  const summaries = defineEndpoint<{ model: string; text: string }, object>({
    method: 'POST',
    path: '/v1/summaries',
    name: 'summaries',
    makes: 'text',
    async ask(provider, call, context) {
      const messages = [{ role: 'user', content: call.request.text }] as const
      const { choices } = await askChat(provider, call, context, { messages })
      return { summary: choices[0]?.message.content }
    },
  })
  const named = defineEndpoint<{ model: string; text: string }, object>({
    ...summaries,
    path: '/v1/named',
    name: 'named',
    texts: ['text'],
    ask: async (_, call) => (seen.push(call.request.text, call.field('text')), { said: 1 }),
    whole: (answer: object) => jsonReply(answer),
  })
  const { url } = await hostedWith({
    models: { m: openai({ baseURL: vendor.baseURL, apiKey: 'k' }) },
    inspect: [mask()],
    endpoints: [summaries, named],
  })
  const post = (path: string) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', text: ask }),
    })
  expect(await (await post('/v1/summaries')).json()).toEqual({ summary: `For ${email}` })
  expect(vendor.requests[0]?.body.toString()).not.toContain(email)
  await (await post('/v1/named')).text()
  expect(seen).toHaveLength(2)
  for (const each of seen) expect(each).toMatch(/^Write to EMAIL_[A-Z]{8}$/)
})

test('what is revised of a prompt is seen', async () => {
  const { post } = await world(
    mask(),
    json({ created: 1, data: [{ b64_json: 'AAAA', revised_prompt: 'A letter to PLACE' }] }),
  )
  const answer = await (await post(...(requests['images.generations'] as (typeof requests)[string]))).json()
  expect(answer).toMatchObject({ data: [{ revised_prompt: `A letter to ${email}` }] })
})

test.each(['json', 'verbose_json', 'srt', 'text'])('a transcript as %s is seen', async (format) => {
  const segments = [{ id: 0, start: 0, end: 1, text: 'To PLACE' }]
  const words = [{ word: 'PLACE', start: 0, end: 1 }]
  const logprobs = [{ token: 'PLACE', logprob: -1 }]
  const transcript = { text: 'To PLACE', language: 'english', duration: 1, segments, words, logprobs }
  const { post } = await world(mask(), json(transcript))
  const form = formOf(['model', 'm'], ['response_format', format], ['file', file, 'a.wav'], ['prompt', ask])
  const text = await (await post('/v1/audio/transcriptions', form)).text()
  expect(text).toContain(`To ${email}`)
  expect(text).not.toContain('EMAIL_')
})

test('a streamed transcript is seen once it is complete', async () => {
  const { post } = await world(mask(), ({ body: asked }, response) => {
    const [placeholder = ''] = /EMAIL_[A-Z]{8}/.exec(asked.toString('latin1')) ?? []
    response.setHeader('content-type', 'text/event-stream')
    for (const delta of ['To ', placeholder.slice(0, 8), placeholder.slice(8)])
      response.write(`data: ${JSON.stringify({ type: 'transcript.text.delta', delta })}\n\n`)
    response.end(`data: ${JSON.stringify({ type: 'transcript.text.done', text: `To ${placeholder}` })}\n\n`)
  })
  const form = formOf(['model', 'm'], ['stream', 'true'], ['file', file, 'a.wav'], ['prompt', ask])
  const text = await (await post('/v1/audio/transcriptions', form)).text()
  expect(text).toContain(`"delta":"To ${email}"`)
  expect(text).not.toContain('EMAIL_')
})
