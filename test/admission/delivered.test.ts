/** Delivered text is estimated to the same number of tokens on every endpoint, with and without a bridge. */
import { expect, test } from 'vitest'
import { memoryLedger } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { onlyChats } from '../endpoints/ask.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

/** Short and long pieces, characters of one to four bytes, and characters that JSON escapes. */
const pieces = ['a', ' b', '"c"\n', 'ü', '漢字', '😀', 'x'.repeat(17), '\\', 'tail', '.', 'THE END']
const delivered = Math.ceil(Buffer.byteLength(pieces.join('')) / 4)

/** JSON in pure ASCII, as some vendors write it. */
function ascii(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

type Print = (value: unknown) => string

const head = { id: 'x-1', created: 1, model: 'm' }

function chunks(print: Print, object: string, choice: (text: string) => object): string {
  const chunk = (text: string, index: number) => ({
    ...head,
    object,
    choices: [{ index: 0, ...choice(text), finish_reason: null }],
    obfuscation: 'p'.repeat(index * 7),
  })
  return pieces.map((text, index) => `data: ${print(chunk(text, index))}\n\n`).join('')
}

function events(print: Print): string {
  let number = 0
  const frame = (type: string, rest: object) =>
    `event: ${type}\ndata: ${print({ type, sequence_number: number++, ...rest })}\n\n`
  const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] }
  return [
    frame('response.created', { response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] } }),
    frame('response.output_item.added', { output_index: 0, item }),
    ...pieces.map((delta) =>
      frame('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta }),
    ),
  ].join('')
}

/** Writes all events and keeps the response open. */
function vendor(print: Print): VendorReply {
  return ({ url }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (url.endsWith('/responses')) response.write(events(print))
    else if (url.endsWith('/completions') && !url.endsWith('/chat/completions')) {
      response.write(chunks(print, 'text_completion', (text) => ({ text })))
    } else response.write(chunks(print, 'chat.completion.chunk', (content) => ({ delta: { content } })))
  }
}

const bodies = {
  'chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  completions: { prompt: 'Hi' },
  responses: { input: 'Hi' },
}
const models = ['native', 'renamed', 'bridged']
const prints = { 'as UTF-8': JSON.stringify, 'in ASCII': ascii }
const cases = Object.keys(prints).flatMap((print) =>
  Object.keys(bodies).flatMap((path) => models.map((model) => [path, model, print] as const)),
)

test.each(cases)(
  '/%s with a %s deployment, JSON %s: charges the tokens delivered before the disconnect',
  async (path, model, print) => {
    const { baseURL } = await vendorFor(vendor(prints[print as keyof typeof prints] as Print))
    const ledger = memoryLedger()
    await ledger.open({ id: 'acme', unlimited: true })
    const price = { input: '1', output: '1' }
    const provider = openai({ baseURL, responses: true })
    const { url, receipt } = await hostedWith({
      keys: { 'sk-test': { account: 'acme' } },
      billing: { currency: 'CNY' },
      models: {
        native: { provider, providerModel: 'native', price },
        renamed: { provider, providerModel: 'theirs', price },
        bridged: { provider: onlyChats(baseURL), price },
      },
      storage: { ledger },
    })
    const body = JSON.stringify({ model, ...bodies[path as keyof typeof bodies], stream: true })
    const disconnect = new AbortController()
    const response = await fetch(`${url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body,
      signal: disconnect.signal,
    })
    let text = ''
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(piece).toString()
      if (text.includes('THE END')) break
    }
    disconnect.abort()
    expect((await receipt()).usage).toMatchObject({
      prompt_tokens: Math.ceil(body.length / 4),
      completion_tokens: delivered,
    })
  },
)
