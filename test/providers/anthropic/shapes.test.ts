/** Claude gets its own blocks back, or blocks that the API accepts, whichever endpoint the client uses. */
import { anthropic } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import type { ResponseEvent, ResponseObject } from '../../../src/wire/responses.ts'
import { post } from '../../endpoints/ask.ts'
import { eventsOf } from '../../endpoints/responses/rules.ts'
import { served, type Served } from '../served.ts'
import { isThinking, strictAnthropic, type Block, type Message, type Says } from './strict-vendor.ts'

let made = 0
const thought = (thinking = `Thought ${made}.`): Block => ({ type: 'thinking', thinking, signature: `sig${made++}` })
const redacted = (): Block => ({ type: 'redacted_thinking', data: `data${made++}` })
const text = (words = `Words ${made++}.`): Block => ({ type: 'text', text: words })
const call = (): Block => ({ type: 'tool_use', id: `toolu_${made++}`, name: 'lookup', input: { id: made } })
const space = (): Block => text('\n\n')

const shapes: readonly (readonly [name: string, Says])[] = [
  ['thinking, text', { content: [thought(), text()] }],
  ['white space, thinking, text', { content: [space(), thought(), text()] }],
  ['thinking and text alternating', { content: [thought(), text(), thought(), text()] }],
  ['only thinking', { content: [thought()], stop_reason: 'max_tokens' }],
  ['only redacted thinking', { content: [redacted()], stop_reason: 'max_tokens' }],
  ['thinking, redacted, text, call', { content: [thought(), redacted(), text(), call()] }],
  ['text, thinking, call', { content: [text(), thought(), call()] }],
  ['white space, thinking, white space, call', { content: [space(), thought(), space(), call()] }],
  ['two texts between thinking and calls', { content: [thought(), text(), text(), call(), call()] }],
  ['thinking truncated after a text', { content: [thought(), text(), thought()], stop_reason: 'max_tokens' }],
  ['thinking without text, calls and texts mixed', { content: [thought(''), call(), text(), thought(''), call()] }],
  ['white space and a call', { content: [space(), call()] }],
]

/** The blocks that the API accepts. */
function acceptable({ content }: Says): Block[] {
  const blocks = content.filter((block) => block.type !== 'text' || block['text'].trim() !== '')
  return blocks.slice(0, blocks.findLastIndex((block) => !isThinking(block)) + 1)
}

/** Responses have one text for adjacent ones, which the model reads as one anyway. */
function joined(blocks: readonly Block[]): readonly Block[] {
  return blocks.reduce<Block[]>((list, block) => {
    const last = list.at(-1)
    if (last?.type !== 'text' || block.type !== 'text') return [...list, block]
    return [...list.slice(0, -1), { ...last, text: `${last['text']}${block['text']}` }]
  }, [])
}

const tool = { name: 'lookup', parameters: { type: 'object', properties: { id: { type: 'number' } } } }

interface Session extends Served {
  readonly calls: readonly string[]
  readonly stream: boolean
}

async function byChat({ client, calls, stream }: Session): Promise<void> {
  const request = {
    model: 'm',
    messages: [{ role: 'user' as const, content: 'Hi' }],
    tools: [{ type: 'function' as const, function: tool }],
    reasoning_effort: 'high' as const,
  }
  const message = stream
    ? await client.chat.completions.stream(request).finalMessage()
    : (await client.chat.completions.create(request)).choices[0]?.message
  const next =
    calls.length > 0
      ? calls.map((id) => ({ role: 'tool' as const, tool_call_id: id, content: 'found' }))
      : [{ role: 'user' as const, content: 'Go on' }]
  if (message === undefined) throw new Error('no answer')
  await client.chat.completions.create({ ...request, messages: [...request.messages, message, ...next] })
}

async function responded({ url, stream }: Session, body: object): Promise<ResponseObject> {
  const tools = [{ type: 'function', ...tool }]
  const { status, json, text } = await post(url, '/responses', {
    model: 'm',
    tools,
    reasoning: { effort: 'high' },
    stream,
    ...body,
  })
  expect(status).toBe(200)
  return stream ? (eventsOf(text).at(-1) as ResponseEvent & { response: ResponseObject }).response : (json as never)
}

const outputsOf = (calls: readonly string[]) =>
  calls.length > 0
    ? calls.map((id) => ({ type: 'function_call_output', call_id: id, output: 'found' }))
    : [{ role: 'user', content: 'Go on' }]

const ways: Readonly<Record<string, (session: Session) => Promise<void>>> = {
  'a chat': byChat,
  async previous_response_id(session) {
    const { id } = await responded(session, { input: 'Hi' })
    await responded(session, { previous_response_id: id, input: outputsOf(session.calls) })
  },
  async 'the items of a response'(session) {
    const first = { role: 'user', content: 'Hi' }
    const { output } = await responded(session, { input: [first] })
    await responded(session, { input: [first, ...output, ...outputsOf(session.calls)] })
  },
}

describe.each(['claude-sonnet-4-5', 'claude-sonnet-5'])('%s', (model) => {
  describe.each(Object.entries(ways))('through %s', (_, way) => {
    test.each([false, true])('sends every combination of blocks back unchanged; streamed: %s', async (stream) => {
      for (const [name, says] of shapes) {
        const vendor = await strictAnthropic([says])
        const serving = await served({ m: { provider: anthropic({ baseURL: vendor.baseURL }), providerModel: model } })
        const calls = says.content.flatMap(({ type, id }) => (type === 'tool_use' ? [id as string] : []))
        await way({ ...serving, calls, stream })
        expect([name, vendor.refusals]).toEqual([name, []])
        const [, second = []] = vendor.conversations
        const returned = second
          .filter(({ role }: Message) => role === 'assistant')
          .flatMap(({ content }) => content as Block[])
        expect([name, joined(returned)]).toEqual([name, joined(acceptable(says))])
      }
    })
  })
})

test('sends the thinking of another model, signed or not, back only to that model', async () => {
  const reply = { content: [thought(), { ...thought(), signature: '' }, text(), call()] }
  const vendor = await strictAnthropic([reply])
  const provider = anthropic({ baseURL: vendor.baseURL })
  const { client } = await served({
    kimi: { provider, providerModel: 'kimi-k2' },
    claude: { provider, providerModel: 'claude-sonnet-5' },
  })
  const first = { role: 'user' as const, content: 'Hi' }
  const { choices } = await client.chat.completions.create({ model: 'kimi', messages: [first] })
  const message = choices[0]?.message as object
  const result = { role: 'tool', tool_call_id: reply.content[3]?.['id'] as string, content: 'found' }
  for (const model of ['kimi', 'claude']) {
    await client.chat.completions.create({ model, messages: [first, message, result] as never })
    expect([model, vendor.conversations.at(-1)?.[1]?.content]).toEqual([
      model,
      reply.content.slice(model === 'kimi' ? 0 : 2),
    ])
  }
})
