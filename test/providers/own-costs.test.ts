/** Vendors that say in their answers what a call costs the host: no customer gets to see it, in any lane. */
import { describe, expect, test } from 'vitest'
import { anthropic, openai, type Provider } from '../../src/providers/index.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

/** The fields by which vendors say it; `seen` in an answer means that it got through. */
const costs: Readonly<Record<string, object>> = {
  OpenRouter: { cost: 0.00123, is_byok: false, cost_details: { upstream_inference_cost: null } },
  xAI: { cost_in_usd_ticks: 1_330_500 },
  Perplexity: { cost: { input_tokens_cost: 0.001, output_tokens_cost: 0.002, request_cost: 0.005, total_cost: 0.008 } },
  DeepInfra: { estimated_cost: 0.00002 },
  Vercel: { cost: 0.1, gateway_cost: 0.1, market_cost: 0.2 },
}
const seen = /cost|byok/

const chatCounts = { prompt_tokens: 40, completion_tokens: 60, total_tokens: 100 }
const counts = { input_tokens: 40, output_tokens: 60 }
const words = 'Hello'

/** The whole answer of a vendor, and its events. */
interface Answer {
  readonly whole: object
  readonly events: readonly object[]
}

const chatHead = { id: 'c-1', created: 1, model: 'm', system_fingerprint: null }
const chunk = (choices: readonly object[], rest: object = {}) => ({
  ...chatHead,
  object: 'chat.completion.chunk',
  choices,
  ...rest,
})

function chatOf(cost: object): Answer {
  const usage = { ...chatCounts, ...cost }
  const message = { role: 'assistant', content: words, refusal: null }
  const deltas = ['Hel', 'l', 'o'].map((content) => chunk([{ index: 0, delta: { content }, finish_reason: null }]))
  return {
    whole: {
      ...chatHead,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage,
    },
    events: [
      chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
      ...deltas,
      chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], { usage }),
      chunk([], { usage }),
    ],
  }
}

function textOf(cost: object): Answer {
  const usage = { ...chatCounts, ...cost }
  const of = (text: string, reason: string | null) => ({
    ...chatHead,
    object: 'text_completion',
    choices: [{ text, index: 0, logprobs: null, finish_reason: reason }],
  })
  return {
    whole: { ...of(words, 'stop'), usage },
    events: [of('Hel', null), of('lo', 'stop'), { ...of('', null), choices: [], usage }],
  }
}

function responseOf(cost: object): Answer {
  const usage = { ...counts, total_tokens: 100, ...cost }
  const part = { type: 'output_text', text: words, annotations: [] }
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] }
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [item] }
  const opened = { ...response, status: 'in_progress', output: [], usage: null }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const events: object[] = [
    { type: 'response.created', response: opened },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...at, delta: words },
    { type: 'response.output_text.done', ...at, text: words },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', copilot_usage: { cost_per_batch: 1 }, response: { ...response, usage } },
  ]
  return {
    whole: { ...response, usage },
    events: events.map((event, index) => ({ ...event, sequence_number: index })),
  }
}

function messageOf(cost: object): Answer {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
  const block = { type: 'text', text: words }
  const input = { big: '#' }
  const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input }
  return {
    whole: { ...message, content: [block, call], stop_reason: 'end_turn', usage: { ...counts, ...cost } },
    events: [
      {
        type: 'message_start',
        message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 40, output_tokens: 1, ...cost } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { ...counts, ...cost } },
      { type: 'message_stop' },
    ],
  }
}

const picture = { b64_json: 'iVBORw0KGgo=' }

const imagesOf = (cost: object): Answer => ({
  whole: { created: 1, data: [picture], usage: { ...counts, total_tokens: 100, ...cost } },
  events: [
    {
      type: 'image_generation.completed',
      ...picture,
      created_at: 1,
      size: '1024x1024',
      quality: 'low',
      background: 'auto',
      output_format: 'png',
      usage: { ...counts, total_tokens: 100, ...cost },
    },
  ],
})

const transcriptOf = (cost: object): Answer => ({
  whole: { text: words, usage: { type: 'tokens', ...counts, total_tokens: 100, ...cost } },
  events: [
    { type: 'transcript.text.delta', delta: words },
    {
      type: 'transcript.text.done',
      text: words,
      usage: { type: 'tokens', ...counts, total_tokens: 100, ...cost },
    },
  ],
})

const vectorsOf = (cost: object): Answer => ({
  whole: {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
    model: 'm',
    usage: { prompt_tokens: 40, total_tokens: 40, ...cost },
  },
  events: [],
})

const rankingOf = (cost: object): Answer => ({
  whole: { results: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: 40, ...cost } },
  events: [],
})

const answers: Readonly<Record<string, (cost: object) => Answer>> = {
  '/chat/completions': chatOf,
  '/completions': textOf,
  '/responses': responseOf,
  '/messages': messageOf,
  '/images/generations': imagesOf,
  '/audio/transcriptions': transcriptOf,
  '/embeddings': vectorsOf,
  '/rerank': rankingOf,
}

/** What clients ask, by the path of the gateway. */
const questions: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/completions': { prompt: 'Hi' },
  '/v1/responses': { input: 'Hi' },
  '/v1/messages': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 },
  '/v1beta/models/m:generateContent': { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  '/v1beta/models/m:streamGenerateContent?alt=sse': { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  '/v1/images/generations': { prompt: 'Hi' },
  '/v1/audio/transcriptions': {},
  '/v1/embeddings': { input: 'Hi' },
  '/v1/rerank': { query: 'Hi', documents: ['a'] },
}

const frames = (path: string, { events }: Answer) =>
  events
    .map((event) => {
      const { type } = event as { readonly type?: string }
      const isNamed = path === '/responses' || path === '/messages'
      return `${isNamed ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`
    })
    .join('') + (path === '/messages' || path === '/responses' ? '' : 'data: [DONE]\n\n')

/** A vendor that answers each path with these costs; `edit` changes its JSON. */
function vendorOf(cost: object, edit: (text: string) => string = (text) => text) {
  return vendorFor(({ url, body }, response) => {
    const at = Object.keys(answers)
      .toSorted((left, right) => right.length - left.length)
      .find((each) => url.endsWith(each)) as string
    const answer = (answers[at] as (cost: object) => Answer)(cost)
    const isStream = /"stream": ?true|name="stream"/.test(Buffer.from(body).toString('latin1'))
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
    response.end(edit(isStream ? frames(at, answer) : JSON.stringify(answer.whole)))
  })
}

/** The provider in each way of asking a vendor: the same wire, with other names for models, and by translation. */
type Lane = 'as it came' | 'renamed' | 'from chats' | 'from responses' | 'from messages'

function providerOf(lane: Lane, baseURL: string): Provider {
  if (lane === 'from messages') return anthropic({ baseURL, name: 'vendor' })
  const all = openai({ baseURL, name: 'vendor', responses: true, messages: true })
  if (lane === 'from responses') return { ...all, chat: undefined, message: undefined, complete: undefined } as never
  if (lane === 'from chats') return openai({ baseURL, name: 'vendor', responses: false })
  return all
}

async function serving(lane: Lane, cost: object, edit?: (text: string) => string) {
  const vendor = await vendorOf(cost, edit)
  const provider = providerOf(lane, vendor.baseURL)
  const providerModel = lane === 'renamed' ? 'vendor-model' : 'm'
  const { url, receipt } = await hostedWith({ models: { m: { provider, providerModel } }, retry: { maxAttempts: 1 } })
  const ask = async (path: string, stream: boolean) => {
    const authorization = 'Bearer sk-test'
    const options = path.endsWith('completions') && { stream_options: { include_usage: true } }
    const body = { model: 'm', ...questions[path], ...(stream && { stream: true, ...options }) }
    const init =
      path === '/v1/audio/transcriptions'
        ? { headers: { authorization }, body: recording(stream) }
        : { headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(url + path, { method: 'POST', ...init })
    const text = await response.text()
    expect(response.status, path + text).toBe(200)
    return text
  }
  return { ask, receipt }
}

function recording(stream: boolean): FormData {
  const form = new FormData()
  form.set('model', 'm')
  form.set('file', new Blob([Buffer.alloc(2_000)]), 'a.wav')
  if (stream) form.set('stream', 'true')
  return form
}

const conversations = Object.keys(questions).slice(0, 6)
const media = Object.keys(questions).slice(6)
const streams = (path: string) => !/embeddings|rerank|v1beta/.test(path)

describe.each(Object.entries(costs))('%s', (_, cost) => {
  test.each<[Lane, readonly string[]]>([
    ['as it came', [...conversations, ...media]],
    ['renamed', [...conversations, ...media]],
    ['from chats', conversations],
    ['from responses', conversations],
    ['from messages', conversations],
  ])('does not tell its costs in an answer %s', async (lane, paths) => {
    const { ask, receipt } = await serving(lane, cost)
    for (const path of paths) {
      for (const stream of streams(path) ? [false, true] : [false]) {
        const text = await ask(path, stream)
        expect(text, `${path} ${stream ? 'streamed' : 'whole'}`).not.toMatch(seen)
        if (!/embed|rerank|images/.test(path)) expect(text).toMatch(/Hel/)
        const { usage, usageSource, outcome } = await receipt()
        expect(outcome, path).toBe('completed')
        if (!path.endsWith('rerank'))
          expect({ path, usageSource, prompt: usage.prompt_tokens }).toEqual({
            path,
            usageSource: 'reported',
            prompt: 40,
          })
        expect(JSON.stringify(usage)).not.toMatch(seen)
      }
    }
  })
})

describe('an answer', () => {
  const cost = costs['OpenRouter'] as object
  const spaced = (text: string) => text.replaceAll('":', '" : ')

  test('without costs passes as it came', async () => {
    const { ask } = await serving('as it came', {}, spaced)
    for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/messages', '/v1/images/generations']) {
      const at = path.slice(3)
      const { whole } = (answers[at] as typeof chatOf)({})
      expect(await ask(path, false), path).toBe(spaced(JSON.stringify(whole)))
    }
  })

  test('with costs changes in nothing else', async () => {
    const { ask } = await serving('as it came', cost)
    for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/messages', '/v1/images/generations']) {
      const { whole } = (answers[path.slice(3)] as typeof chatOf)({})
      expect(JSON.parse(await ask(path, false)), path).toEqual(whole)
    }
  })

  test('in a stream keeps the bytes of its other frames', async () => {
    const { ask } = await serving('as it came', cost, (text) => text.replaceAll('"delta":', '"delta" :'))
    const text = await ask('/v1/messages', true)
    expect(text.match(/"delta" :/g)).toHaveLength(1)
    expect(text).toContain('data: {"type":"message_delta","delta":')
  })

  test('keeps the digits of long numbers in the input of calls', async () => {
    const { ask } = await serving('as it came', cost, (text) => text.replace('"#"', '12345678901234567890'))
    expect(await ask('/v1/messages', false)).toContain('12345678901234567890')
  })
})
