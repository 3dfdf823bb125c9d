/** The official client against the quick start: all features, with the demo model and with that of a vendor. */
import OpenAI, { toFile } from 'openai'
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { serve, type Served } from './served.ts'

let served: Served
let client: OpenAI

beforeAll(async () => {
  served = await serve()
  client = served.client
})
afterAll(() => served?.stop())
afterEach(async () => {
  expect(await served.verdict()).toEqual([])
})

const weather: ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather at a place.',
    parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
  },
}

function user(content: string): ChatCompletionMessageParam[] {
  return [{ role: 'user', content }]
}

describe('models', () => {
  test('are listed, those of the vendor with its prefix', async () => {
    const list = await client.models.list()
    const ids = list.data.map(({ id }) => id)
    expect(ids).toContain('demo')
    expect(ids.filter((id) => id.startsWith('openai/'))).toEqual(['openai/gpt-9', 'openai/org/gpt 9'])
    const paged: string[] = []
    for await (const { id } of client.models.list()) paged.push(id)
    expect(paged).toEqual(ids)
  })

  test.each(['demo', 'openai/gpt-9', 'openai/org/gpt 9'])('%s is retrieved by its id', async (id) => {
    expect(await client.models.retrieve(id)).toMatchObject({ id, object: 'model' })
  })
})

describe.each(['demo', 'openai/gpt-9', 'openai/org/gpt 9'])('chat with %s', (model) => {
  test('a non-streaming response, with usage and a request id', async () => {
    const completion = await client.chat.completions.create({ model, messages: user('Count from 1 to 5.') })
    expect(completion.model).toBe(model)
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: '1, 2, 3, 4, 5' },
    })
    expect(completion.usage?.completion_tokens).toBe(9)
    expect(completion._request_id).toMatch(/^req_/)
  })

  test('a stream, without usage by default', async () => {
    const stream = await client.chat.completions.create({ model, messages: user('Count to 5'), stream: true })
    let said = ''
    let chunks = 0
    for await (const chunk of stream) {
      said += chunk.choices[0]?.delta.content ?? ''
      chunks++
      expect(chunk.usage ?? null).toBeNull()
      expect(chunk.choices).toHaveLength(1)
      expect(chunk.model).toBe(model)
    }
    expect(said).toBe('1, 2, 3, 4, 5')
    expect(chunks).toBeGreaterThan(5)
  })

  test('a stream with include_usage: usage in one last chunk, null before', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: user('Count to 5'),
      stream: true,
      stream_options: { include_usage: true },
    })
    const usages = []
    for await (const chunk of stream) usages.push(chunk.usage)
    expect(usages.pop()).toMatchObject({ completion_tokens: 9 })
    expect(new Set(usages)).toEqual(new Set([null]))
  })

  test('parts, images and further parameters are passed on', async () => {
    const completion = await client.chat.completions.create({
      model,
      n: 2,
      temperature: 0,
      top_p: 1,
      seed: 7,
      user: 'u',
      metadata: { a: 'b' },
      logprobs: true,
      top_logprobs: 1,
      max_completion_tokens: 100,
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
          ],
        },
      ],
    })
    expect(completion.choices.map(({ message }) => message.content)).toEqual([
      expect.stringContaining('image/png'),
      expect.stringContaining('image/png'),
    ])
    expect(completion.choices[1]?.logprobs?.content?.[0]?.token).toBe('I')
  })

  test('a tool call, and the response to its result', async () => {
    const messages = user('What is the weather in Paris?')
    const asked = await client.chat.completions.create({ model, messages, tools: [weather] })
    const [choice] = asked.choices
    const [call] = choice?.message.tool_calls ?? []
    if (choice === undefined || call?.type !== 'function') throw new Error('no call')
    expect(choice.finish_reason).toBe('tool_calls')
    expect(JSON.parse(call.function.arguments)).toEqual({ location: 'Paris' })
    messages.push(choice.message, { role: 'tool', tool_call_id: call.id, content: '21 degrees' })
    const answered = await client.chat.completions.create({ model, messages, tools: [weather] })
    expect(answered.choices[0]?.message.content).toContain('21 degrees')
  })

  test('streamed tool calls, collected by the helper', async () => {
    const stream = client.chat.completions.stream({
      model,
      messages: user('Use get_weather and get_time for Oslo, both.'),
      tools: [weather, { ...weather, function: { ...weather.function, name: 'get_time' } }],
    })
    const done: string[] = []
    stream.on('tool_calls.function.arguments.done', ({ name, index, arguments: input }) => {
      done.push(`${index} ${name} ${input}`)
    })
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]?.finish_reason).toBe('tool_calls')
    expect(done).toEqual(['0 get_weather {"location":"Oslo"}', '1 get_time {"location":"Oslo"}'])
  })

  test.each([false, true])('runTools calls the functions and returns a response (stream: %s)', async (stream) => {
    const calls: object[] = []
    const add = zodFunction({
      name: 'add',
      parameters: z.object({ a: z.int(), b: z.int() }),
      function({ a, b }: { a: number; b: number }) {
        calls.push({ a, b })
        return String(a + b)
      },
    })
    const params = { model, messages: user('Use the add tool on 19 and 23.'), tools: [add] }
    const runner = stream
      ? client.chat.completions.runTools({ ...params, stream: true })
      : client.chat.completions.runTools(params)
    expect(await runner.finalContent()).toBe('add says: 42')
    expect(calls).toEqual([{ a: 19, b: 23 }])
  })

  test('parse returns an object with the schema', async () => {
    const Person = z.object({
      name: z.string(),
      age: z.int().min(18),
      role: z.enum(['reader', 'writer']),
      pets: z.array(z.object({ kind: z.enum(['cat', 'dog']), nick: z.string().nullable() })),
    })
    const completion = await client.chat.completions.parse({
      model,
      messages: user('Invent a writer with name=Ada and age=36.'),
      response_format: zodResponseFormat(Person, 'person'),
    })
    expect(completion.choices[0]?.message.parsed).toMatchObject({ name: 'Ada', age: 36, role: 'writer' })
    const stream = client.chat.completions.stream({
      model,
      messages: user('Invent somebody.'),
      response_format: zodResponseFormat(Person, 'person'),
    })
    const final = await stream.finalChatCompletion()
    expect(Person.safeParse(final.choices[0]?.message.parsed).success).toBe(true)
  })

  test('a stream ends when its client disconnects', async () => {
    const stream = await client.chat.completions.create({ model, messages: user('Write 9000 words'), stream: true })
    let chunks = 0
    for await (const _ of stream) if (++chunks === 3) break
    expect(stream.controller.signal.aborted).toBe(true)
    if (model !== 'demo') {
      const { signal } = served.vendor.requests.at(-1) as { signal: AbortSignal }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
  })
})

test('bodies of several megabytes are passed on to the vendor', async () => {
  const file = await toFile(Buffer.alloc(3_000_000, 7), 'big.png')
  const url = `data:image/png;base64,${Buffer.from(await file.arrayBuffer()).toString('base64')}`
  const completion = await client.chat.completions.create({
    model: 'openai/gpt-9',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  })
  expect(completion.choices[0]?.message.content).toContain('image/png')
  expect(served.vendor.requests.at(-1)?.body.length).toBeGreaterThan(4_000_000)
})

test('embeddings, in base64, the default of the client, and as numbers', async () => {
  const input = ['a cat sat', 'a cat sits', 'stock prices fell']
  const packed = await client.embeddings.create({ model: 'demo-embedding', input })
  const plain = await client.embeddings.create({ model: 'demo-embedding', input, encoding_format: 'float' })
  expect(packed.data).toHaveLength(3)
  for (const [index, { embedding }] of packed.data.entries()) {
    expect(embedding.length).toBeGreaterThan(10)
    expect(embedding[0]).toBeCloseTo(plain.data[index]?.embedding[0] ?? NaN, 5)
  }
})

test('legacy completions, streamed and not', async () => {
  const prompt = 'Count to 4'
  const whole = await client.completions.create({ model: 'demo', prompt })
  expect(whole.choices[0]).toMatchObject({ text: '1, 2, 3, 4', finish_reason: 'stop' })
  let said = ''
  for await (const { choices } of await client.completions.create({ model: 'demo', prompt, stream: true })) {
    said += choices[0]?.text ?? ''
  }
  expect(said).toBe('1, 2, 3, 4')
})
