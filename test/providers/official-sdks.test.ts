/** The vendors' own clients accept the fake APIs of our tests. */
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, type GenerateContentResponse, type Interactions, type Part } from '@google/genai'
import { anthropicDialect, type Script } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { interactionsDialect } from '../../src/testing/dialects/interactions.ts'
import { scriptedDialect } from '../../src/testing/scripted-dialect.ts'
import { vendorFor } from '../hosted.ts'
import { hasShared } from '../shared.ts'
import { recordingsOf, replay, type Recording } from './recordings.ts'

const script: Script = {
  reasoning: 'Let me think.',
  text: 'Grüße, 世界 👩‍👩‍👧‍👦!',
  calls: [
    { id: 'call_1', name: 'weather', input: { city: 'Zürich', days: [1, 2] } },
    { id: 'call_2', name: 'now', input: {} },
  ],
  usage: { input: 100, cached: 40, output: 30, reasoning: 20 },
}

/** The recorded responses of a vendor, without errors and embeddings. */
function answersOf(vendor: string): Recording[] {
  return recordingsOf(vendor).filter(({ expect: { finish_reason: finish, error } }) => finish && !error)
}

function wordsOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

function partsIn(responses: GenerateContentResponse[]): Part[] {
  return responses.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
}

function textIn(responses: GenerateContentResponse[]): string {
  return partsIn(responses)
    .map(({ text = '', thought }) => (thought === true ? '' : text))
    .join('')
}

describe('@anthropic-ai/sdk', () => {
  const ask = { model: 'claude', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] }

  async function clientOf(reply: Parameters<typeof vendorFor>[0]): Promise<Anthropic> {
    const vendor = await vendorFor(reply)
    return new Anthropic({ apiKey: 'k', baseURL: vendor.baseURL.slice(0, -3), maxRetries: 0 })
  }

  async function answered(reply: Parameters<typeof vendorFor>[0], stream: boolean): Promise<Anthropic.Message> {
    const { messages } = await clientOf(reply)
    return stream ? messages.stream(ask).finalMessage() : messages.create(ask)
  }

  test.each([false, true])('reads the responses of the dialect, streamed: %s', async (stream) => {
    const message = await answered(scriptedDialect(anthropicDialect, () => script).reply, stream)
    expect(message.stop_reason).toBe('tool_use')
    expect(message.usage).toMatchObject({ input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 30 })
    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'Let me think.', signature: 'signed' },
      { type: 'text', text: script.text },
      { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Zürich', days: [1, 2] } },
      { type: 'tool_use', id: 'call_2', name: 'now', input: {} },
    ])
  })

  test('gets the end of each block', async () => {
    const { messages } = await clientOf(scriptedDialect(anthropicDialect, () => script).reply)
    const ended: string[] = []
    const stream = messages.stream(ask).on('contentBlock', ({ type }) => ended.push(type))
    await stream.finalMessage()
    expect(ended).toEqual(['thinking', 'text', 'tool_use', 'tool_use'])
  })

  test('throws the errors of the dialect', async () => {
    const { status, body } = anthropicDialect.errorReply('overloaded', 'busy')
    const refused = answered((_, response) => void response.writeHead(status).end(body), false)
    await expect(refused).rejects.toMatchObject({ status: 529, error: { error: { type: 'overloaded_error' } } })
  })

  // Without the recording of a repeated first event, which we skip and the vendor's own client rejects.
  const readable = answersOf('anthropic').filter(({ file }) => !file.startsWith('duplicate-message-start'))

  test.skipIf(!hasShared).each(readable)('reads the recording $file like our provider', async (recording) => {
    const message = await answered(replay(recording), recording.stream)
    expect(wordsOf(message)).toBe(recording.expect.content)
  })
})

describe('@google/genai', () => {
  const ask = { model: 'gemini-2.5-flash', contents: 'Hello' }

  async function answered(reply: Parameters<typeof vendorFor>[0], stream: boolean): Promise<GenerateContentResponse[]> {
    const vendor = await vendorFor(reply)
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: vendor.baseURL.slice(0, -3) } })
    if (!stream) return [await client.models.generateContent(ask)]
    const responses: GenerateContentResponse[] = []
    for await (const response of await client.models.generateContentStream(ask)) responses.push(response)
    return responses
  }

  test.each([false, true])('reads the responses of the dialect, streamed: %s', async (stream) => {
    const spoken = scriptedDialect(geminiDialect, () => script)
    const responses = await answered(spoken.reply, stream)
    expect(spoken.requests[0]).toMatchObject({ stream, turns: [{ role: 'user', text: 'Hello' }] })
    expect(textIn(responses)).toBe(script.text)
    expect(partsIn(responses).flatMap(({ functionCall }) => functionCall ?? [])).toEqual([
      { id: 'call_1', name: 'weather', args: { city: 'Zürich', days: [1, 2] } },
      { id: 'call_2', name: 'now', args: {} },
    ])
    expect(responses.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP')
    expect(responses.at(-1)?.usageMetadata).toMatchObject({ promptTokenCount: 100, thoughtsTokenCount: 20 })
  })

  test.each([false, true])('reads the interactions of the dialect, streamed: %s', async (stream) => {
    const spoken = scriptedDialect(interactionsDialect, () => script)
    const vendor = await vendorFor(spoken.reply)
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: vendor.baseURL.slice(0, -3) } })
    const asked: Interactions.InteractionCreateParams.CreateModelInteractionParams = {
      model: 'gemini-omni-flash',
      input: [{ type: 'user_input', content: [{ type: 'text', text: 'Hello' }] }],
      store: false,
    }
    if (!stream) {
      const { steps, status, usage } = await client.interactions.create({ ...asked, stream: false })
      expect(steps.find(({ type }) => type === 'model_output')).toMatchObject({ content: [{ text: script.text }] })
      expect(steps.filter(({ type }) => type === 'function_call')).toMatchObject([
        { id: 'call_1', name: 'weather', arguments: { city: 'Zürich', days: [1, 2] } },
        { id: 'call_2', name: 'now', arguments: {} },
      ])
      expect([status, usage?.total_thought_tokens]).toEqual(['requires_action', 20])
      return
    }
    let text = ''
    const types = new Set<string>()
    for await (const event of await client.interactions.create({ ...asked, stream: true })) {
      types.add(event.event_type)
      if (event.event_type === 'step.delta' && event.delta.type === 'text') text += event.delta.text
    }
    expect(text).toBe(script.text)
    expect(types).toContain('interaction.completed')
  })

  test.each([false, true])('throws the errors of the dialect, streamed: %s', async (stream) => {
    const { status, body } = geminiDialect.errorReply('rate', 'slow')
    const refused = answered(
      (_, response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(body),
      stream,
    )
    await expect(refused).rejects.toMatchObject({ status: 429 })
  })

  test.skipIf(!hasShared).each(answersOf('gemini'))(
    'reads the recording $file like our provider',
    async (recording) => {
      const responses = await answered(replay(recording), recording.stream)
      expect(textIn(responses)).toBe(recording.expect.content)
    },
  )
})
