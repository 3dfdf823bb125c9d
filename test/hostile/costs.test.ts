/**
 * Each way in which customers once spent a host's money without paying: a customer with a balance of 1.00 tries it until it
 * is refused, at a vendor that counts what the host owes. At most the hold of one call is lost.
 */
import { expect, test } from 'vitest'
import type { ServerResponse } from 'node:http'
import { memoryLedger, type GatewayOptions } from 'modelhatch'
import { anthropic, gemini, openai } from 'modelhatch/providers'
import type { VendorRequest } from 'modelhatch/testing'
import { hostedWith, vendorFor } from '../hosted.ts'
import { report } from './size.ts'

/** Micro-units. */
const balance = 1_000_000
/** Per token, of the vendor and of the customer. */
const [perInput, perOutput] = [1, 10]

type Fields = Readonly<Record<string, unknown>>

/** Answers one call; `owe` counts what the vendor bills, in micro-units. */
type Bills = (request: VendorRequest, response: ServerResponse, owe: (amount: number) => void) => void

interface Attack {
  readonly model: 'hidden' | 'chats' | 'native' | 'google' | 'claude' | 'audio' | 'search'
  readonly path: string
  readonly fields: Fields
  readonly vendor: Bills
  /** The customer disconnects at the first bytes of the response. */
  readonly leaves?: boolean
  /** The most that one call costs at the vendor. */
  readonly hold: number
  readonly options?: Partial<GatewayOptions['billing']>
}

const bill = (input: number, output: number) => input * perInput + output * perOutput
const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const isStream = ({ json, url }: VendorRequest) => Object(json).stream === true || url.includes('alt=sse')

function events(response: ServerResponse, list: readonly object[], end = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(list.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('') + end)
}

function whole(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const counts = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
})

/** Bills `output` tokens at its end after `ms`, and a hundred for each second after which it is aborted. */
const reasons =
  (input: number, output: number, ms = 50): Bills =>
  ({ signal }, response, owe) => {
    const begun = performance.now()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta: { content: 'Hi' } }] })}\n\n`)
    const timer = setTimeout(() => {
      owe(bill(input, output))
      const end = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
      ended(response, [end, { ...head, choices: [], usage: counts(input, output) }])
    }, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      if (!response.writableEnded) owe(bill(input, Math.min(output, Math.ceil((performance.now() - begun) / 10))))
    })
  }

function ended(response: ServerResponse, list: readonly object[]): void {
  response.end(`${list.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`)
}

const brokenCall: Bills = (request, response, owe) => {
  owe(bill(1_000, 2_000))
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '[1]' } }
  const usage = counts(1_000, 2_000)
  if (!isStream(request)) {
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    return whole(response, { ...head, choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage })
  }
  const choices = [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }]
  const end = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }
  events(response, [{ ...head, choices }, end, { ...head, choices: [], usage }], 'data: [DONE]\n\n')
}

const malformed: Bills = (request, response, owe) => {
  owe(bill(1_000, 2_000))
  const usageMetadata = { promptTokenCount: 1_000, candidatesTokenCount: 2_000, totalTokenCount: 3_000 }
  const body = { candidates: [{ content: { parts: [] }, finishReason: 'MALFORMED_FUNCTION_CALL' }], usageMetadata }
  if (isStream(request)) events(response, [body])
  else whole(response, body)
}

const failedResponse: Bills = (request, response, owe) => {
  owe(bill(1_000, 2_000))
  const usage = { input_tokens: 1_000, output_tokens: 2_000, total_tokens: 3_000 }
  const failed = { id: 'r', object: 'response', status: 'failed', output: [], model: 'm', usage, error: { code: 'x' } }
  if (isStream(request)) events(response, [{ type: 'response.failed', response: failed }])
  else whole(response, failed)
}

/** Bills a call of the vendor's own tools, wherever the request names one. */
const hosted: Bills = (_, response, owe) => {
  owe(250_000)
  whole(response, { error: { message: 'x' } })
}

const large: Bills = (_, response, owe) => {
  owe(400_000)
  response.writeHead(200, { 'content-type': 'application/json' }).end(`{"x":"${'x'.repeat(70_000_000)}"}`)
}

/** 1,600 tokens for the image, which no text of the request tells. */
const seesImage: Bills = ({ signal }, response, owe) => {
  owe(bill(1_600, 1))
  signal.addEventListener('abort', () => response.destroy())
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta: { content: 'A' } }] })}\n\n`)
}

const audible: Bills = (_, response, owe) => {
  owe(250_000)
  whole(response, { ...head, choices: [], usage: counts(10, 2_000) })
}

/** Searches by itself, for a fee. */
const searches: Bills = (_, response, owe) => {
  owe(25_000 + bill(10, 20))
  const message = { role: 'assistant', content: 'Hi' }
  whole(response, { ...head, choices: [{ index: 0, message, finish_reason: 'stop' }], usage: counts(10, 20) })
}

const messages = [{ role: 'user', content: 'Hi' }]
const limited = { messages, max_tokens: 6_000 }
const tools = [{ name: 'f', input_schema: { type: 'object' } }]
const url = `data:image/png;base64,${'A'.repeat(2_000_000)}`
const picture = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }], max_tokens: 10 }
const drawing = [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'image_generation' }] }]
const adding = [
  { role: 'user', content: [{ type: 'tool_addition', tool: { type: 'web_search_20250305', name: 'web_search' } }] },
]
const one = bill(1_000, 6_000)

const attacks: Readonly<Record<string, Attack>> = {
  'a tool of the vendor inside the input': {
    model: 'native',
    path: 'responses',
    fields: { input: [...drawing, ...messages] },
    vendor: hosted,
    hold: one,
  },
  'a tool of the vendor inside a message': {
    model: 'claude',
    path: 'messages',
    fields: { ...limited, messages: adding },
    vendor: hosted,
    hold: one,
  },
  'leaving a model that reasons unseen': {
    model: 'hidden',
    path: 'chat/completions',
    fields: { ...limited, stream: true },
    vendor: reasons(20, 5_000),
    leaves: true,
    hold: one,
  },
  'leaving it where nothing more is drained': {
    model: 'hidden',
    path: 'chat/completions',
    fields: { ...limited, stream: true },
    // As fast as it bills: on a busy machine it would end before it is aborted.
    vendor: reasons(20, 5_000, 50_000),
    leaves: true,
    hold: one,
    options: { maxDrains: 0 },
  },
  'a call whose input is no object, streamed': {
    model: 'chats',
    path: 'messages',
    fields: { ...limited, tools, stream: true },
    vendor: brokenCall,
    hold: one,
  },
  'a call whose input is no object': {
    model: 'chats',
    path: 'messages',
    fields: { ...limited, tools },
    vendor: brokenCall,
    hold: one,
  },
  'a malformed call of Gemini, streamed': {
    model: 'google',
    path: 'chat/completions',
    fields: { ...limited, stream: true },
    vendor: malformed,
    hold: one,
  },
  'a malformed call of Gemini': {
    model: 'google',
    path: 'chat/completions',
    fields: limited,
    vendor: malformed,
    hold: one,
  },
  'a response that fails with usage, streamed': {
    model: 'native',
    path: 'responses',
    fields: { input: 'Hi', stream: true },
    vendor: failedResponse,
    hold: one,
  },
  'a response that fails with usage': {
    model: 'native',
    path: 'responses',
    fields: { input: 'Hi' },
    vendor: failedResponse,
    hold: one,
  },
  'an answer too large to be read': {
    model: 'chats',
    path: 'chat/completions',
    fields: { messages, n: 10, max_tokens: 4_000, logprobs: true, top_logprobs: 20 },
    vendor: large,
    hold: bill(100, 40_000),
  },
  'sound at the price of text': {
    model: 'audio',
    path: 'chat/completions',
    fields: { ...limited, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    vendor: audible,
    hold: one,
  },
  'searches of a model that searches by itself': {
    model: 'search',
    path: 'chat/completions',
    fields: limited,
    vendor: searches,
    hold: 25_000 + one,
  },
}

async function scene({ vendor, options }: Pick<Attack, 'vendor' | 'options'>) {
  let owed = 0
  const { baseURL, requests } = await vendorFor((request, response) =>
    vendor(request, response, (more) => (owed += more)),
  )
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: BigInt(balance), reference: 'start' })
  const shared = { price: { input: String(perInput), output: String(perOutput) }, contextWindow: 200_000 }
  const route = (...providers: Parameters<typeof openai>[0][]) =>
    providers.map((each, order) => ({ provider: openai(each), providerModel: 'gpt-4o', order }))
  const hostedAt = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: {
      hidden: { provider: openai({ baseURL }), providerModel: 'gpt-5', ...shared },
      chats: { route: route({ name: 'a', baseURL }, { name: 'b', baseURL }), ...shared },
      native: {
        route: route({ name: 'a', baseURL, responses: true }, { name: 'b', baseURL, responses: true }),
        ...shared,
      },
      google: { provider: gemini({ baseURL, apiKey: 'x' }), ...shared },
      claude: { provider: anthropic({ baseURL, apiKey: 'x' }), ...shared },
      audio: { provider: openai({ baseURL }), providerModel: 'gpt-4o-audio-preview', ...shared },
      search: {
        provider: openai({ baseURL }),
        providerModel: 'gpt-4o-search-preview',
        contextWindow: 200_000,
        price: { ...shared.price, request: '0.025' },
      },
    },
    billing: { currency: 'EUR', ...options },
    storage: { ledger },
    retry: { backoffMs: 1 },
  })
  return { ...hostedAt, ledger, requests, owed: () => owed }
}

/** Calls until one is refused. Returns what was lost: what the vendor bills beyond what the customer has paid. */
async function play(attack: Attack) {
  const { url: base, ledger, owed, receipt } = await scene(attack)
  let refused: number | undefined
  for (let calls = 0; calls < 60 && refused === undefined; calls++) {
    const client = new AbortController()
    const response = await fetch(`${base}/v1/${attack.path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: attack.model, ...attack.fields }),
      signal: client.signal,
    })
    if (response.status === 400 || response.status === 429) refused = response.status
    if (attack.leaves === true && refused === undefined) {
      await response.body?.getReader().read()
      client.abort()
    } else await response.text()
    if (refused === undefined) await receipt()
  }
  await expect.poll(async () => (await ledger.account('acme'))?.held).toBe(0n)
  const paid = balance - Number((await ledger.account('acme'))?.balance)
  return { refused, owed: owed(), paid, lost: owed() - paid }
}

test.each(Object.entries(attacks))('%s loses at most the hold of one call', async (name, attack) => {
  const { refused, owed, paid, lost } = await play(attack)
  report(`${name}: the host owes ${owed}, the customer has paid ${paid}, refused with ${refused}`)
  expect(lost).toBeLessThanOrEqual(attack.hold)
  // What costs the vendor next to nothing goes on.
  if (owed > balance / 10 || owed === 0) expect(refused).toBeDefined()
})

test('stopping a chat with an image costs the customer no more than the largest image', async () => {
  const { url: base, ledger, owed, receipt } = await scene({ vendor: seesImage })
  const client = new AbortController()
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chats', stream: true, ...picture }),
    signal: client.signal,
  })
  await response.body?.getReader().read()
  client.abort()
  await receipt()
  await expect.poll(async () => (await ledger.account('acme'))?.held).toBe(0n)
  const paid = balance - Number((await ledger.account('acme'))?.balance)
  expect(paid).toBeGreaterThanOrEqual(owed())
  expect(paid).toBeLessThan(bill(10_000, 10))
})
