/** The state of chats on its way through the client: in envelopes for its maker, where clients look for it. */
import { openai, type ChatPiece, type Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import type { ChatCompletion } from '../../../src/wire/chat.ts'
import { seal } from '../../../src/formats/envelope.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { gemini } from '../../makers/gemini.ts'
import { messageIn } from '../../makers/collected.ts'
import { allMakers, gatewayOver, journey } from '../../makers/journey.ts'
import { endEvents, endJson, type Maker, type Sent } from '../../makers/maker.ts'
import { framesOf, post } from '../ask.ts'

const user = { role: 'user', content: 'Hi' }

async function say(url: string, model: string, stream: boolean, ...past: object[]): Promise<Sent> {
  const tools = [{ type: 'function', function: { name: 'now' } }]
  const answer = await post(url, '/chat/completions', { model, stream, tools, messages: [user, ...past] })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return stream ? messageIn(framesOf(answer)) : (answer.json as Sent).choices[0].message
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

/** A vendor whose messages have `fields`. */
async function vendorWith(fields: object, preset?: 'openrouter') {
  const vendor = await vendorFor(({ json }, response) => {
    const head = { id: 'c', created: 1, model: 'm', usage }
    const finish_reason = 'stop'
    const message = { role: 'assistant', content: 'Hi', ...fields }
    if ((json as Sent).stream !== true) {
      return endJson(response, { ...head, object: 'chat.completion', choices: [{ index: 0, finish_reason, message }] })
    }
    const chunks = [{ delta: message }, { delta: {}, finish_reason }].map((choice) => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, ...choice }],
    }))
    endEvents(response, [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'])
  })
  const provider = openai({ baseURL: vendor.baseURL, ...(preset ? { preset } : { name: 'server' }) })
  return { provider, sent: () => (vendor.requests.at(-1) as { json: Sent }).json.messages }
}

describe.each([false, true])('streamed: %s', (stream) => {
  test("Gemini's signatures are where clients know them, and again in an envelope", async () => {
    const maker = await gemini()
    maker.says = { turn: 0, calls: 2 }
    const { url } = await hostedWith({ models: { m: { provider: maker.provider, providerModel: 'gemini-3-pro' } } })
    const message = await say(url, 'm', stream)
    const [signature] = maker.issued
    const extra_content = { google: { thought_signature: signature } }
    expect(message.tool_calls).toMatchObject([{ id: 'gem_0_0', extra_content }, { id: 'gem_0_1' }])
    expect(message.tool_calls[1]).not.toHaveProperty('extra_content')
    const state = { calls: { gem_0_0: { extra_content } } }
    const data = seal('google', Buffer.from(JSON.stringify(state)).toString('base64url'))
    expect(message.reasoning_details).toEqual([
      { type: 'reasoning.encrypted', data, format: 'modelhatch-v1', index: 0 },
    ])
  })

  test('details of an aggregator are sealed in place, and opened for it only', async () => {
    const given = [
      { type: 'reasoning.text', text: 'Hm.', signature: 'abc', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.summary', summary: 'So.', format: 'openai-responses-v1', index: 1 },
      { type: 'reasoning.encrypted', data: 'xyz', format: 'openai-responses-v1', index: 2 },
    ]
    const router = await vendorWith({ reasoning_details: given }, 'openrouter')
    const other = await vendorWith({})
    const { url } = await hostedWith({ models: { router: router.provider, other: other.provider } })
    const message = await say(url, 'router', stream)
    const [text, summary, encrypted] = given
    expect(message.reasoning_details).toEqual([
      { ...text, signature: 'mh1.openrouter.abc' },
      summary,
      { ...encrypted, data: 'mh1.openrouter.xyz' },
    ])
    await say(url, 'router', stream, message, user)
    expect(router.sent()[1].reasoning_details).toEqual(given)
    await say(url, 'other', stream, message, user)
    expect(other.sent()[1].reasoning_details).toEqual([summary])
  })

  test('fields of a message are restored for their maker, and removed for others', async () => {
    const said = { content: 'Hi', extra_content: { own: { state: 1 } } }
    const pieces = async function* (): AsyncGenerator<ChatPiece> {
      yield { choices: [{ delta: said }] }
      yield { choices: [{ delta: {}, finish_reason: 'stop' }], usage }
    }
    const asked: Sent[] = []
    const own: Provider = {
      name: 'own',
      chat(call) {
        asked.push(call.request.messages)
        if (call.stream) return pieces()
        return {
          choices: [{ message: { role: 'assistant', ...said }, finish_reason: 'stop' }],
          usage,
        } as unknown as ChatCompletion
      },
    }
    const server = await vendorWith({})
    const { url } = await hostedWith({ models: { own, server: server.provider } })
    const message = await say(url, 'own', stream)
    const { extra_content: extra, ...kept } = message
    expect(extra).toEqual({ own: { state: 1 } })
    await say(url, 'own', stream, kept, user)
    expect(asked.at(-1)[1]).toEqual({ role: 'assistant', content: 'Hi', extra_content: extra, refusal: kept.refusal })
    await say(url, 'server', stream, message, user)
    expect(server.sent()[1]).toEqual({ role: 'assistant', content: 'Hi', refusal: kept.refusal })
  })

  test('a gateway behind a gateway gets its own state back', async () => {
    const makers = await allMakers()
    const { url } = await gatewayOver(makers)
    const outer = openai({ baseURL: `${url}/v1`, apiKey: 'sk-test' })
    const through = (maker: Maker, providerModel: string): Maker => ({ ...maker, provider: outer, providerModel })
    const chained = {
      ...makers,
      claude: through(makers.claude, 'claude'),
      gemini: through(makers.gemini, 'gemini'),
      deepseek: through(makers.deepseek, 'deepseek'),
    }
    const { url: front } = await gatewayOver(chained)
    for (const [name, vendor] of Object.entries({
      claude: 'claude',
      gemini: 'gemini',
      deepseek: 'deepseek',
    } as const)) {
      const maker = makers[vendor]
      // The journey sets what the copies say.
      const says = (line: never) => {
        maker.says = line
      }
      Object.defineProperty(chained[vendor], 'says', { set: says, configurable: true })
      const steps = await journey(front, chained, [vendor, vendor, vendor, vendor], { via: 'chat', stream })
      expect([name, steps.map(({ status, text }) => `${status}${text}`)]).toEqual([name, Array(4).fill('200')])
      expect(maker.refusals).toEqual([])
      expect(maker.returned(maker.bodies.at(-1))).toEqual(maker.issued.slice(0, maker.issuedBefore.at(-1)))
    }
  })
})

describe('messages of the previous version', () => {
  const past = (format: string) => ({
    role: 'assistant',
    content: 'Hi',
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'xyz', format, index: 0 }],
  })

  test('keep their details at an aggregator, which were not sealed', async () => {
    const router = await vendorWith({}, 'openrouter')
    const { url } = await hostedWith({ models: { router: router.provider } })
    await say(url, 'router', false, past('openai-responses-v1'), user)
    expect(router.sent()[1]).toEqual(past('openai-responses-v1'))
    await say(url, 'router', false, past('anthropic-claude-v1'), user)
    expect(router.sent()[1]).toEqual({ role: 'assistant', content: 'Hi' })
  })
})
