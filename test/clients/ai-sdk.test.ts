/** The AI SDK against the quick start, over its OpenAI provider in chat mode and its OpenAI-compatible provider. */
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, isStepCount, Output, streamText, tool, type LanguageModel } from 'ai'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { serve, type Served } from './served.ts'

let served: Served

beforeAll(async () => {
  served = await serve()
})
afterAll(() => served?.stop())
afterEach(async () => {
  expect(await served.verdict()).toEqual([])
})

type Clients = Record<string, (model: string, apiKey?: string) => LanguageModel>

const clients: Clients = {
  '@ai-sdk/openai': (model, apiKey = 'sk-demo') =>
    createOpenAI({ baseURL: served.baseURL, apiKey, fetch: served.fetch }).chat(model),
  '@ai-sdk/openai-compatible': (model, apiKey = 'sk-demo') =>
    createOpenAICompatible({
      name: 'modelhatch',
      baseURL: served.baseURL,
      apiKey,
      fetch: served.fetch,
      includeUsage: true,
      supportsStructuredOutputs: true,
    }).chatModel(model),
}

const weather = tool({
  description: 'The weather at a place.',
  inputSchema: z.object({ location: z.string() }),
  execute: ({ location }) => `Rain in ${location}`,
})
const time = tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `Noon in ${city}` })

const Recipe = z.object({
  name: z.string(),
  minutes: z.int().positive(),
  steps: z.array(z.object({ text: z.string().max(20), hot: z.boolean() })).min(2),
})

function failing(model: LanguageModel): Promise<unknown> {
  return generateText({ model, prompt: 'Hello', maxRetries: 0 }).catch((error: unknown) => error)
}

describe.each(Object.entries(clients))('%s', (_, modelOf) => {
  describe.each(['demo', 'openai/gpt-9'])('with %s', (id) => {
    test('text, with usage', async () => {
      const { text, usage, finishReason } = await generateText({ model: modelOf(id), prompt: 'Count from 1 to 5.' })
      expect(text).toBe('1, 2, 3, 4, 5')
      expect(finishReason).toBe('stop')
      expect(usage).toMatchObject({ outputTokens: 9, totalTokens: (usage.inputTokens ?? 0) + 9 })
    })

    test('a stream of text, with usage', async () => {
      const result = streamText({ model: modelOf(id), prompt: 'Count from 1 to 5.' })
      const pieces: string[] = []
      for await (const piece of result.textStream) pieces.push(piece)
      expect(pieces.join('')).toBe('1, 2, 3, 4, 5')
      expect(pieces.length).toBeGreaterThan(3)
      expect((await result.usage).outputTokens).toBe(9)
    })

    test('tools called in parallel, and the response to their results', async () => {
      const result = await generateText({
        model: modelOf(id),
        prompt: 'Tell me the weather and the time in Oslo.',
        tools: { weather, time },
        stopWhen: isStepCount(5),
      })
      expect(result.steps).toHaveLength(2)
      expect(result.steps[0]?.toolCalls.map(({ toolName, input }) => [toolName, input])).toEqual([
        ['weather', { location: 'Oslo' }],
        ['time', { city: 'Oslo' }],
      ])
      expect(result.text).toBe('weather says: Rain in Oslo\ntime says: Noon in Oslo')
    })

    test('streamed tool calls', async () => {
      const result = streamText({
        model: modelOf(id),
        prompt: 'Tell me the weather and the time in Oslo.',
        tools: { weather, time },
        stopWhen: isStepCount(5),
      })
      const kinds = new Set<string>()
      for await (const { type } of result.fullStream) kinds.add(type)
      expect([...kinds]).toEqual(expect.arrayContaining(['tool-input-delta', 'tool-call', 'tool-result', 'text-delta']))
      expect(kinds).not.toContain('error')
      expect(await result.text).toContain('Rain in Oslo')
    })

    test('an object with a schema, streamed and not', async () => {
      const output = Output.object({ schema: Recipe })
      const whole = await generateText({ model: modelOf(id), output, prompt: 'A recipe with name=Soup' })
      expect(whole.output).toMatchObject({ name: 'Soup', steps: expect.arrayContaining([]) })
      const streamed = streamText({ model: modelOf(id), output, prompt: 'A recipe with name=Soup' })
      let partial = 0
      for await (const _ of streamed.partialOutputStream) partial++
      expect(partial).toBeGreaterThan(3)
      expect(await streamed.output).toEqual(whole.output)
    })

    test('an image', async () => {
      const image = Buffer.from('iVBORw0KGgo=', 'base64')
      const { text } = await generateText({
        model: modelOf(id),
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'file', mediaType: 'image/png', data: image },
            ],
          },
        ],
      })
      expect(text).toContain('an image (image/png)')
    })
  })

  test('errors have status, body and whether a retry helps', async () => {
    const unknown = await failing(modelOf('gpt-4'))
    expect(APICallError.isInstance(unknown) && unknown).toMatchObject({ statusCode: 404, isRetryable: false })
    expect(await failing(modelOf('demo', 'sk-wrong'))).toMatchObject({ statusCode: 401, isRetryable: false })

    served.vendor.reply = (_, response) => void response.writeHead(500).end('{}')
    expect(await failing(modelOf('openai/gpt-9'))).toMatchObject({ statusCode: 503, isRetryable: true })
    served.vendor.reply = served.usual
  })
})
