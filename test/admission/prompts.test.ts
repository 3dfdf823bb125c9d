/** What a prompt with images and files costs if its vendor reports nothing before the client disconnects. */
import { expect, test } from 'vitest'
import { memoryLedger } from '../../src/index.ts'
import { anthropic, gemini, openai } from '../../src/providers/index.ts'
import { anthropicDialect } from '../../src/testing/index.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

const trueTokens = 1_600
const script = { text: 'Hello there.', usage: { input: trueTokens, cached: 0, output: 40, reasoning: 0 } }
const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] }
const response = { id: 'r', object: 'response', status: 'in_progress', model: 'm', output: [] }

/** Each vendor's events up to the first content. */
function begunOf(url: string): string {
  if (url.endsWith('/messages')) return upToContent(anthropicDialect.stream(script).frames, 'delta')
  if (url.includes('enerateContent')) {
    const usageMetadata = { promptTokenCount: trueTokens, totalTokenCount: trueTokens }
    return `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: 'Hello' }] } }], usageMetadata })}\n\n`
  }
  const events = url.endsWith('/responses')
    ? [
        { type: 'response.created', response },
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hello' },
      ]
    : [{ ...head, choices: [{ index: 0, delta: { content: 'Hello' } }] }]
  return events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')
}

function upToContent(frames: readonly string[], mark: string): string {
  return frames.slice(0, frames.findIndex((each) => each.includes(mark)) + 1).join('')
}

/** What a client is charged, in tokens, that disconnects at the first content. */
async function charged(model: string, path: string, fields: object): Promise<number> {
  const { baseURL } = await vendorFor(({ url }, reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.write(begunOf(url))
  })
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 9_000_000n, reference: 'start' })
  const shared = { price: { input: '1', output: '1' }, contextWindow: 200_000 }
  const { url, receipt } = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: {
      chats: { provider: openai({ baseURL }), ...shared },
      responses: { provider: openai({ baseURL, responses: true }), ...shared },
      claude: { provider: anthropic({ baseURL, apiKey: 'x' }), ...shared },
      gemini: { provider: gemini({ baseURL, apiKey: 'x' }), ...shared },
    },
    billing: { currency: 'EUR', onDisconnect: { vendor: 'abort' } },
    storage: { ledger },
  })
  const client = new AbortController()
  const reply = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, max_tokens: 50, ...fields }),
    signal: client.signal,
  })
  const reader = reply.body?.getReader()
  await reader?.read()
  client.abort()
  const { charge, outcome } = await receipt()
  expect(outcome).toBe('cancelled')
  return Number((await ledger.account('acme'))?.balance) === 0 ? NaN : Math.round(Number(charge?.cost) * 1e6)
}

const data = 'A'.repeat(5_000_000)
const chat = (part: object) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, part] }],
})
const url = `data:image/png;base64,${data}`
const image = chat({ type: 'image_url', image_url: { url } })
const block = chat({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })
const input = [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }]

test.each([
  ['chats', 'chat/completions', image],
  ['chats', 'messages', block],
  ['chats', 'responses', { input }],
  ['responses', 'responses', { input }],
  ['responses', 'messages', block],
])('an image of 5 MB costs no more than the largest image at %s by /v1/%s', async (model, path, fields) => {
  const tokens = await charged(model, path, fields)
  expect(tokens).toBeGreaterThan(trueTokens - 100)
  expect(tokens).toBeLessThan(10_000)
})

test.each([
  ['claude', 'messages', block],
  ['claude', 'chat/completions', image],
  ['claude', 'responses', { input }],
  ['gemini', 'chat/completions', image],
  ['gemini', 'messages', block],
  ['gemini', 'responses', { input }],
])('an image costs what has been reported already at %s by /v1/%s', async (model, path, fields) => {
  const tokens = await charged(model, path, fields)
  expect(tokens).toBeGreaterThanOrEqual(trueTokens)
  expect(tokens).toBeLessThan(trueTokens + 50)
})

test.each([
  ['a text', chat({ type: 'text', text: 'word '.repeat(800_000) })],
  ['a file', chat({ type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` } })],
  ['a recording', chat({ type: 'input_audio', input_audio: { data, format: 'mp3' } })],
  [
    'many images',
    {
      messages: Array.from(
        { length: 90 },
        () => chat({ type: 'image_url', image_url: { url: 'https://x' } }).messages[0],
      ),
      user: 'x'.repeat(20_000),
    },
  ],
])('%s that is longer than the context window costs at most the window', async (_, fields) => {
  expect(await charged('chats', 'chat/completions', fields)).toBeLessThanOrEqual(200_010)
})

test('of a text all is charged, even if it looks like an image', async () => {
  const text = `data:image/png;base64,${'word '.repeat(50_000)}`
  expect(await charged('chats', 'chat/completions', chat({ type: 'text', text }))).toBeGreaterThan(60_000)
})
