/** The AI SDK's OpenAI provider in its default mode, over responses, and its completion and embedding models. */
import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai'
import { embed, embedMany, generateText, isStepCount, Output, streamText, tool, type ModelMessage } from 'ai'
import { defineProvider, type Call } from 'modelhatch/providers'
import { finish, reasoning, text, toolCall } from '../chat-chunks.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { ChatRequest } from '../../src/wire/chat.ts'
import { usageOf } from '../../src/wire/usage.ts'
import { hostedWith } from '../hosted.ts'
import { twoGateways, type TwoGateways } from './two-gateways.ts'

let gateways: TwoGateways
let provider: OpenAIProvider

beforeAll(async () => {
  gateways = await twoGateways()
  provider = createOpenAI({ baseURL: gateways.baseURL, apiKey: 'sk-test' })
})
afterAll(() => gateways?.close())

const weather = tool({
  description: 'The weather at a place.',
  inputSchema: z.object({ location: z.string() }),
  execute: ({ location }) => `Rain in ${location}`,
})
const time = tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `Noon in ${city}` })

describe.each(['demo', 'passed'])('responses of %s', (id) => {
  test('text, with usage', async () => {
    const {
      text: said,
      usage,
      finishReason,
    } = await generateText({ model: provider(id), prompt: 'Count from 1 to 5.' })
    expect([said, finishReason, usage.outputTokens]).toEqual(['1, 2, 3, 4, 5', 'stop', 9])
  })

  test('a stream', async () => {
    const { textStream, finishReason, usage } = streamText({ model: provider(id), prompt: 'Count from 1 to 5.' })
    let said = ''
    for await (const piece of textStream) said += piece
    expect([said, await finishReason]).toEqual(['1, 2, 3, 4, 5', 'stop'])
    expect((await usage).outputTokens).toBe(9)
  })

  // By default the history is sent as references to stored items; without storing, completely.
  test.each([true, false])('tools over several steps (store: %s)', async (store) => {
    const options = {
      model: provider(id),
      tools: { weather, time },
      stopWhen: isStepCount(4),
      prompt: 'What are weather and time in Paris?',
      providerOptions: { openai: { store } },
    }
    const generated = await generateText(options)
    expect(generated.text).toContain('weather says: Rain in Paris')
    expect(generated.steps[0]?.toolCalls.map(({ toolName }) => toolName).sort()).toEqual(['time', 'weather'])
    const streamed = streamText(options)
    expect(await streamed.text).toContain('weather says: Rain in Paris')
  })

  test('a dialogue, with the history in each request', async () => {
    const messages: ModelMessage[] = [{ role: 'user', content: 'My name is Ada.' }]
    const first = await generateText({ model: provider(id), messages })
    messages.push(...first.responseMessages, { role: 'user', content: 'What is my name?' })
    expect((await generateText({ model: provider(id), messages })).text).toContain('Ada')
  })

  test('a dialogue continued by the id of the response', async () => {
    const first = await generateText({ model: provider(id), prompt: 'My name is Ada.' })
    const previousResponseId = first.providerMetadata?.['openai']?.['responseId'] as string
    const second = await generateText({
      model: provider(id),
      prompt: 'What is my name?',
      providerOptions: { openai: { previousResponseId } },
    })
    expect(second.text).toContain('Ada')
  })

  test('an object with a schema', async () => {
    const schema = z.object({ name: z.string(), minutes: z.int().positive() })
    const { output } = await generateText({
      model: provider(id),
      output: Output.object({ schema }),
      prompt: 'A recipe, name=Soup',
    })
    expect(output).toMatchObject({ name: 'Soup' })
    const streamed = streamText({
      model: provider(id),
      output: Output.object({ schema }),
      prompt: 'A recipe, name=Soup',
    })
    expect(await streamed.output).toMatchObject({ name: 'Soup' })
  })

  test('a response truncated at the limit', async () => {
    const { finishReason } = await generateText({
      model: provider(id),
      prompt: 'Count from 1 to 99',
      maxOutputTokens: 16,
    })
    expect(finishReason).toBe('length')
  })
})

test('reasoning is sent on request for a summary, and sent back to the model with its calls', async () => {
  const asked: ChatRequest[] = []
  const thinker = defineProvider({
    name: 'thinker',
    async *chat({ request }: Call<ChatRequest>) {
      asked.push(request)
      yield reasoning('Where is it?')
      if (request.messages.some(({ role }) => role === 'tool')) {
        yield text('Rain.')
        yield finish('stop', usageOf(1, 1))
      } else {
        yield toolCall({ id: 'call_1', name: 'weather', arguments: '{"location":"Rome"}' })
        // Signatures follow the content.
        yield { choices: [{ delta: { reasoning_details: [{ type: 'reasoning.text', signature: 'abc' }] } }] }
        yield finish('tool_calls', usageOf(1, 1))
      }
    },
  })
  const { url } = await hostedWith({ models: { o9: thinker } })
  const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-test' })('o9')
  for (const openai of [
    { reasoningSummary: 'auto', forceReasoning: true },
    { reasoningSummary: 'auto', forceReasoning: true, store: false, include: ['reasoning.encrypted_content' as const] },
  ]) {
    const options = {
      model,
      tools: { weather },
      stopWhen: isStepCount(3),
      prompt: 'Weather?',
      providerOptions: { openai },
    }
    const generated = await generateText(options)
    expect([generated.text, generated.reasoningText]).toEqual(['Rain.', 'Where is it?'])
    const streamed = streamText(options)
    expect([await streamed.text, await streamed.reasoningText]).toEqual(['Rain.', 'Where is it?'])
  }
  const second = asked.filter(({ messages }) => messages.length > 1)
  expect(second).toHaveLength(4)
  for (const { messages } of second) {
    expect(messages[1]).toMatchObject({
      role: 'assistant',
      reasoning_content: 'Where is it?',
      reasoning_details: [{ signature: 'abc' }],
      tool_calls: [{ id: 'call_1' }],
    })
  }
})

describe.each(['demo', 'passed'])('%s', (id) => {
  test('completes text, streamed and not', async () => {
    const { text: said } = await generateText({ model: provider.completion(id), prompt: 'Count from 1 to 3' })
    expect(said).not.toBe('')
    expect(await streamText({ model: provider.completion(id), prompt: 'Count from 1 to 3' }).text).toBe(said)
  })

  test('embeds one text and several', async () => {
    const model = provider.embedding(id)
    const providerOptions = { openai: { dimensions: 16 } }
    const one = await embed({ model, value: 'a cat', providerOptions })
    const many = await embedMany({ model, values: ['two cats', 'a cat'], providerOptions })
    expect(one.embedding).toHaveLength(16)
    expect(many.embeddings[1]).toEqual(one.embedding)
    expect(many.usage.tokens).toBeGreaterThan(2)
  })
})
