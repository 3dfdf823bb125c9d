/** A conversation with tools moves between vendors: none rejects its fields, and each gets its own opaque data back. */
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { expect, test } from 'vitest'
import type { OutputItem, ResponseObject } from '../../src/wire/responses.ts'
import { post } from '../endpoints/ask.ts'
import { vendorFor } from '../hosted.ts'
import { strictAnthropic, type Block } from './anthropic/strict-vendor.ts'
import type { Sent } from './vendor-requests.ts'
import { served } from './served.ts'

const route = ['claude', 'gemini', 'gpt', 'deepseek', 'claude', 'gemini', 'gpt', 'deepseek', 'claude']

const json = { 'content-type': 'application/json' }

/** A vendor that rejects a request if `fault` finds one in it, and otherwise responds with `says`. */
function strict(fault: (body: Sent, url: string) => string | undefined, says: (turn: number, url: string) => object) {
  const bodies: Sent[] = []
  const refusals: string[] = []
  const reply: VendorReply = ({ json: body, url }, response) => {
    const refusal = fault(body, url)
    bodies.push(body)
    if (refusal !== undefined) {
      refusals.push(refusal)
      return void response.writeHead(400, json).end(JSON.stringify({ error: { message: refusal, code: 400 } }))
    }
    response.writeHead(200, json).end(JSON.stringify(says(bodies.length, url)))
  }
  return { reply, bodies, refusals }
}

const called = (id: string) => ({ id, type: 'function', function: { name: 'now', arguments: '{}' } })
/** Ignores `parsed`, which the official client adds to each message. */
const unknownIn = (message: object, ...known: string[]) =>
  Object.keys(message).find((key) => key !== 'parsed' && !known.includes(key))
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const chatOf = (message: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, ...message } }],
  usage,
})

/** Each call needs a signature of Google's, or the value for a missing one. */
const google = strict(
  ({ contents }) =>
    contents
      .flatMap(({ parts }: Sent) => parts.filter((part: Sent) => part.functionCall))
      .map((part: Sent) => part.thoughtSignature)
      .some((signature: unknown) => !/^(?:g\d+|skip_thought_signature_validator)$/.test(String(signature)))
      ? 'Function call is missing a thought_signature'
      : undefined,
  (turn) => {
    const functionCall = { id: `gem_${turn}`, name: 'now', args: {} }
    const parts = [
      { text: 'Hm.', thought: true },
      { functionCall, thoughtSignature: `g${turn}` },
    ]
    return { candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }], usageMetadata: {} }
  },
)

const gpt = strict(
  ({ messages = [], input = [] }) => {
    const foreign = messages.map((each: Sent) =>
      unknownIn(each, 'role', 'content', 'refusal', 'tool_calls', 'tool_call_id'),
    )
    const unreadable = input.some(
      (item: Sent) => item.type === 'reasoning' && !/^gAAAA\d+$/.test(item.encrypted_content),
    )
    return foreign.find((key: unknown) => key !== undefined) ?? (unreadable ? 'invalid encrypted content' : undefined)
  },
  (turn, url) => {
    if (url.endsWith('/chat/completions')) return chatOf({ tool_calls: [called(`gpt_${turn}`)] })
    const output = [
      { type: 'reasoning', id: `rs_${turn}`, summary: [], encrypted_content: `gAAAA${turn}` },
      { type: 'function_call', id: `fc_${turn}`, call_id: `gpt_${turn}`, name: 'now', arguments: '{}' },
    ]
    const counts = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    return {
      id: `resp_${turn}`,
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      output,
      usage: counts,
    }
  },
)

const deepseek = strict(
  ({ messages }) =>
    messages
      .filter(({ role }: Sent) => role === 'assistant')
      .map((each: Sent) => {
        if (each.tool_calls && typeof each.reasoning_content !== 'string') return 'Missing `reasoning_content` field'
        return unknownIn(each, 'role', 'content', 'refusal', 'tool_calls', 'reasoning_content')
      })
      .find((each: unknown) => each !== undefined),
  (turn) => chatOf({ reasoning_content: `Deep ${turn}.`, tool_calls: [called(`ds_${turn}`)] }),
)

async function makers() {
  const replies = [1, 2, 3].map((turn) => ({
    content: [
      { type: 'text', text: '\n\n' },
      { type: 'thinking', thinking: 'Hm.', signature: `claude${turn}` },
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: `toolu_${turn}`, name: 'now', input: {} },
    ],
  }))
  const claude = await strictAnthropic(replies)
  for (const { bodies, refusals } of [google, gpt, deepseek]) [bodies.length, refusals.length] = [0, 0]
  const [forGoogle, forGpt, forDeepseek] = await Promise.all(
    [google, gpt, deepseek].map(({ reply }) => vendorFor(reply)),
  )
  const models: Record<string, { provider: Provider; providerModel: string }> = {
    claude: { provider: anthropic({ baseURL: claude.baseURL }), providerModel: 'claude-sonnet-5' },
    gemini: { provider: gemini({ baseURL: forGoogle!.baseURL }), providerModel: 'gemini-3-flash' },
    gpt: { provider: openai({ preset: 'openai', baseURL: forGpt!.baseURL, responses: true }), providerModel: 'gpt-5' },
    deepseek: {
      provider: openai({ preset: 'deepseek', baseURL: forDeepseek!.baseURL }),
      providerModel: 'deepseek-chat',
    },
  }
  return { claude, ...(await served(models)) }
}

/** The opaque data of each vendor's first turn in its last request. */
function returnedData(claude: { readonly conversations: readonly (readonly { readonly content: unknown }[])[] }) {
  const signatures = (claude.conversations.at(-1) ?? [])
    .flatMap(({ content }) => content as Block[])
    .map(({ signature }) => signature as unknown)
  const parts = google.bodies.at(-1).contents.flatMap((content: Sent) => content.parts)
  const own = parts.find((part: Sent) => part.functionCall?.id === 'gem_1')
  const { input = [] } = gpt.bodies.at(-1)
  const thoughts = deepseek.bodies.at(-1).messages.map((message: Sent) => message.reasoning_content)
  return [
    signatures.includes('claude1') && signatures.includes('claude2'),
    own.thoughtSignature,
    input.find((item: Sent) => item.type === 'reasoning')?.encrypted_content,
    thoughts.includes('Deep 1.'),
  ]
}

const refusals = (claude: { readonly refusals: readonly string[] }) =>
  [claude, google, gpt, deepseek].flatMap((maker) => maker.refusals)

test.each([false, true])('through chats; streamed: %s', async (stream) => {
  const { claude, client } = await makers()
  const messages: object[] = [{ role: 'user', content: 'Hi' }]
  const tools = [{ type: 'function', function: { name: 'now' } }]
  for (const model of route) {
    const request = { model, messages, tools } as never
    const answer = stream
      ? await client.chat.completions.stream(request).finalMessage()
      : (await client.chat.completions.create(request)).choices[0]?.message
    const results = (answer?.tool_calls ?? []).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'noon' }))
    expect(results).toHaveLength(1)
    messages.push(answer as object, ...results)
  }
  expect(refusals(claude)).toEqual([])
  expect(returnedData(claude)).toEqual([true, 'g1', undefined, true])
})

test.each(['items', 'id'])('through responses, continued by %s', async (by) => {
  const { claude, url } = await makers()
  const tools = [{ type: 'function', name: 'now', parameters: { type: 'object', properties: {} } }]
  let input: object[] = [{ role: 'user', content: 'Hi' }]
  let previous: string | undefined
  for (const model of route) {
    const body = { model, tools, input, ...(by === 'id' && { previous_response_id: previous }) }
    const { status, text, json: response } = await post(url, '/responses', body)
    expect([model, status, text]).toEqual([model, 200, text])
    const { id, output } = response as ResponseObject
    const results = output
      .filter((item: OutputItem) => item.type === 'function_call')
      .map((item) => ({ type: 'function_call_output', call_id: item['call_id'], output: 'noon' }))
    expect(results).toHaveLength(1)
    input = by === 'id' ? results : [...input, ...output, ...results]
    previous = id
  }
  expect(refusals(claude)).toEqual([])
  expect(returnedData(claude)).toEqual([true, 'g1', 'gAAAA1', true])
})
