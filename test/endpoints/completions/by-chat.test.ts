/** `POST /v1/completions` with a model that answers conversations. */
import { anthropic, defineProvider, demo, openai, type Call } from 'modelhatch/providers'
import { finish, text } from '../../chat-chunks.ts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ChatRequest } from '../../../src/wire/chat.ts'
import { usageOf } from '../../../src/wire/usage.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { clientOf, errorOf, post } from '../ask.ts'

/** Responds with each prompt reversed, letter by letter, once for each choice. */
function mirror(seen: ChatRequest[] = []) {
  return defineProvider({
    name: 'mirror',
    async *chat({ request }: Call<ChatRequest>) {
      seen.push(request)
      const prompt = request.messages[0]?.content as string
      for (let choice = 0; choice < (request.n ?? 1); choice++) {
        for (const letter of prompt.split('').toReversed()) {
          await new Promise((resolve) => setImmediate(resolve))
          yield text(letter, choice)
        }
        yield finish('stop', usageOf(prompt.length, prompt.length * (request.n ?? 1)), choice)
      }
    },
  })
}

async function gateway(seen?: ChatRequest[]) {
  const hosted = await hostedWith({ models: { m: mirror(seen) } })
  return { ...hosted, client: clientOf(hosted.url) }
}

/** The text of each choice of a stream by its index, and the usage. */
async function streamed(url: string, body: object) {
  const texts: string[] = []
  const ends: (string | null)[] = []
  let usage: unknown
  const stream = await clientOf(url).completions.create({
    model: 'm',
    prompt: '',
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  })
  for await (const chunk of stream) {
    expect(chunk.object).toBe('text_completion')
    for (const { index, text: piece, finish_reason: reason } of chunk.choices) {
      texts[index] = (texts[index] ?? '') + piece
      if ((reason as string | null) !== null) ends[index] = reason
    }
    usage = chunk.usage ?? usage
  }
  return { texts, ends, usage }
}

test.each([true, false])('Claude completes a prompt; streamed: %s', async (stream) => {
  const usage = { input_tokens: 3, output_tokens: 2 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', usage }
  const events = [
    { type: 'message_start', message: { ...message, content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'sun' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage },
    { type: 'message_stop' },
  ]
  const vendor = await vendorFor((_, response) => {
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
    const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    const whole = { ...message, content: [{ type: 'text', text: 'sun' }], stop_reason: 'max_tokens' }
    response.end(stream ? frames : JSON.stringify(whole))
  })
  const { url } = await hostedWith({ models: { m: anthropic({ baseURL: vendor.baseURL }) } })
  const body = { prompt: 'The ', max_tokens: 2, echo: true }
  if (stream) {
    expect(await streamed(url, body)).toMatchObject({
      texts: ['The sun'],
      ends: ['length'],
      usage: { total_tokens: 5 },
    })
  } else {
    const { choices } = await clientOf(url).completions.create({ model: 'm', ...body })
    expect(choices).toEqual([{ text: 'The sun', index: 0, logprobs: null, finish_reason: 'length' }])
  }
  expect(vendor.requests[0]?.json).toMatchObject({
    max_tokens: 2,
    messages: [{ role: 'user', content: [{ text: 'The ' }] }],
  })
})

describe('a prompt', () => {
  test('becomes one user message, and the reply becomes the text', async () => {
    const seen: ChatRequest[] = []
    const { client } = await gateway(seen)
    const answer = await client.completions.create({ model: 'm', prompt: 'abc', temperature: 0.5, stop: 'x', seed: 1 })
    expect(answer.choices).toEqual([{ text: 'cba', index: 0, logprobs: null, finish_reason: 'stop' }])
    expect(answer.id).toMatch(/^cmpl-/)
    expect(answer.object).toBe('text_completion')
    expect(seen).toEqual([
      { model: 'm', messages: [{ role: 'user', content: 'abc' }], temperature: 0.5, stop: ['x'], seed: 1 },
    ])
  })

  test('precedes each choice with "echo"', async () => {
    const { url, client } = await gateway()
    const { choices } = await client.completions.create({ model: 'm', prompt: ['ab', 'cd'], echo: true, n: 2 })
    expect(choices.map((choice) => choice.text)).toEqual(['abba', 'abba', 'cddc', 'cddc'])
    expect((await streamed(url, { prompt: ['ab', 'cd'], echo: true, n: 2 })).texts).toEqual([
      'abba',
      'abba',
      'cddc',
      'cddc',
    ])
  })

  test('of tokens is rejected', async () => {
    const { url } = await gateway()
    const answer = await post(url, '/completions', { model: 'm', prompt: [1, 2] })
    expect([answer.status, errorOf(answer)]).toMatchObject([400, { code: 'unsupported_value', param: 'prompt' }])
  })
})

describe('several prompts', () => {
  const prompt = Array.from({ length: 9 }, (_, index) => `${index}-`)
  const mirrored = prompt.map((each) => each.split('').toReversed().join(''))

  test('are completed in order, n choices for each, with the sum of their usage', async () => {
    const { url, client, receipt } = await gateway()
    const answer = await client.completions.create({ model: 'm', prompt, n: 2 })
    expect(answer.choices.map(({ index }) => index)).toEqual(Array.from({ length: 18 }, (_, index) => index))
    expect(answer.choices.map((choice) => choice.text)).toEqual(mirrored.flatMap((each) => [each, each]))
    expect(answer.usage).toMatchObject(usageOf(18, 36))
    expect((await receipt()).usage).toMatchObject(usageOf(18, 36))

    const stream = await streamed(url, { prompt, n: 2 })
    expect(stream.texts).toEqual(mirrored.flatMap((each) => [each, each]))
    expect(stream.ends).toEqual(Array.from({ length: 18 }, () => 'stop'))
    expect(stream.usage).toMatchObject(usageOf(18, 36))
  })

  test('are sent four at a time', async () => {
    let open = 0
    let most = 0
    const provider = defineProvider({
      name: 'counting',
      async *chat() {
        most = Math.max(most, ++open)
        await new Promise((resolve) => setTimeout(resolve, 5))
        yield text('x')
        open--
      },
    })
    const { url, client } = await hostedWith({ models: { m: provider } }).then((h) => ({
      ...h,
      client: clientOf(h.url),
    }))
    await client.completions.create({ model: 'm', prompt })
    expect(most).toBe(4)
    most = 0
    expect((await streamed(url, { prompt })).texts).toEqual(prompt.map(() => 'x'))
    expect(most).toBe(4)
  })

  test.each([false, true])(
    'fail together: the others are aborted before another deployment is tried (stream: %s)',
    async (stream) => {
      const stopped: string[] = []
      const provider = defineProvider({
        name: 'failing',
        async *chat({ request, signal }: Call<ChatRequest>) {
          const asked = request.messages[0]?.content as string
          if (asked === '2-') throw new Error('secret')
          yield* []
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))).catch(
            (error: unknown) => {
              stopped.push(asked)
              throw error
            },
          )
          yield text('never')
        },
      })
      const { url } = await hostedWith({ models: { m: { route: [{ provider }, { provider: mirror() }] } } })
      const answer = await post(url, '/completions', { model: 'm', prompt, stream })
      expect(answer.status).toBe(200)
      expect(stopped.sort()).toEqual(['0-', '1-', '3-'])
    },
  )
})

test.each([
  ['suffix', { suffix: 'end' }],
  ['logprobs', { logprobs: 0 }],
  ['best_of', { best_of: 3, n: 2 }],
  ['max_tokens', { max_tokens: 0 }],
])('"%s" is rejected because a chat does not support it', async (param, body) => {
  const { url } = await gateway()
  const answer = await post(url, '/completions', { model: 'm', prompt: 'x', ...body })
  expect([answer.status, errorOf(answer).param]).toEqual([400, param])
})

test('the demo model completes up to the token limit', async () => {
  const { url } = await hostedWith({ models: { m: demo({ paceMs: 0 }) } })
  const whole = await clientOf(url).completions.create({ model: 'm', prompt: 'Say something.', max_tokens: 3 })
  expect(whole.choices[0]?.finish_reason).toBe('length')
  expect(whole.usage?.completion_tokens).toBe(3)
  const { texts, ends } = await streamed(url, { prompt: 'Say something.', max_tokens: 3 })
  expect([texts[0], ends[0]]).toEqual([whole.choices[0]?.text, 'length'])
})

test('a vendor without completions for a model gets chats, and no second request for a completion', async () => {
  const paths: string[] = []
  const vendor = await vendorFor(({ url }, response) => {
    paths.push(url)
    if (url === '/v1/completions') {
      response
        .writeHead(404)
        .end('{"error":{"message":"This is a chat model","type":"invalid_request_error","param":"model","code":null}}')
    } else
      response.end(
        '{"choices":[{"message":{"role":"assistant","content":"Hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
      )
  })
  const { url } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
  const client = clientOf(url)
  for (const _ of [1, 2]) {
    expect((await client.completions.create({ model: 'm', prompt: 'x' })).choices[0]?.text).toBe('Hi')
  }
  expect(paths).toEqual(['/v1/completions', '/v1/chat/completions', '/v1/chat/completions'])
})

test('a model that once had no completions is asked for some again after ten minutes: it may have been a server that starts', async () => {
  const paths: string[] = []
  const vendor = await vendorFor(({ url }, response) => {
    const isFirst = paths.push(url.slice('/v1'.length)) === 1
    if (isFirst) return void response.writeHead(404).end('404 page not found')
    const said = url === '/v1/completions' ? { text: 'Hi' } : { message: { role: 'assistant', content: 'Hi' } }
    response.end(JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', ...said }] }))
  })
  const { url } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
  const ask = () => post(url, '/completions', { model: 'm', prompt: 'x' })
  await ask()
  const later = performance.now() + 601_000
  const clock = vi.spyOn(performance, 'now').mockReturnValue(later)
  onTestFinished(() => clock.mockRestore())
  await ask()
  expect(paths).toEqual(['/completions', '/chat/completions', '/completions'])
})
