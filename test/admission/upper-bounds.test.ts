/** What a call holds if its money or tokens are capped: a true upper bound, or a refusal that names the part without one. */
import { describe, expect, test } from 'vitest'
import type { Hold } from '../../src/money/ledger/contract.ts'
import { memoryLedger, type BillingOptions, type CostBounds, type ModelOptions } from '../../src/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { methodsOf } from '../testing/faults.ts'
import { scene, whole } from './scene.ts'

const message = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }

interface Setting {
  readonly model?: Partial<ModelOptions>
  readonly bounds?: CostBounds
  readonly cap?: NonNullable<BillingOptions['caps']>[number]
  readonly reply?: VendorReply
}

/** A gateway whose callers may spend a lot in a month, and the holds that it makes. */
async function capped({ model, bounds, cap, reply = whole }: Setting = {}) {
  const inner = memoryLedger()
  await inner.credit({ account: 'acme', amount: 1_000_000_000n, reference: 'start' })
  const holds: Hold[] = []
  const ledger = { ...methodsOf(inner), hold: (hold: Hold) => (holds.push(hold), inner.hold(hold)) }
  const made = await scene(reply, {
    model: { price: { input: '1', output: '10' }, ...model },
    billing: {
      currency: 'EUR',
      caps: [cap ?? { name: 'monthly', period: 'month', money: '900' }],
      ...(bounds && { bounds }),
    },
    storage: { ledger },
  })
  const ask = async (body: object, path = '/v1/chat/completions') => {
    const response = await fetch(made.url + path, {
      method: 'POST',
      headers: {
        authorization: 'Bearer sk-test',
        ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
      },
      body: body instanceof FormData ? body : JSON.stringify({ model: 'm', ...body }),
    })
    const { error } = (await response.json()) as { error?: { message: string; param: string | null } }
    return { status: response.status, error, held: holds.at(-1) }
  }
  return { ...made, ask, holds }
}

/** The bytes of a request, rounded up to whole tokens. */
function bytesOf(body: object): number {
  return Math.ceil(JSON.stringify({ model: 'm', ...body }).length / 4) * 4
}

describe('a capped call', () => {
  test('of stated length holds a token for each byte, and all output', async () => {
    const { ask } = await capped()
    const body = { ...message('Hi'), max_tokens: 100, n: 2 }
    const { held } = await ask(body)
    expect(held).toMatchObject({ amount: BigInt(bytesOf(body) + 2_000), tokens: BigInt(bytesOf(body) + 200) })
  })

  test('of unstated length is limited at the vendor to what is held', async () => {
    const { ask, vendor } = await capped()
    const body = message('Hi')
    const { held } = await ask(body)
    expect(held?.tokens).toBe(BigInt(bytesOf(body) + 4_096))
    expect(vendor.requests[0]?.json).toMatchObject({ max_completion_tokens: 4_096 })
    // A limit under a name that only some vendors read.
    await ask({ ...message('Hi'), num_predict: 100_000 })
    expect(vendor.requests[1]?.json).toMatchObject({
      max_completion_tokens: 4_096,
      num_predict: 4_096,
    })
  })

  test('that limits calls only is not bounded, and not refused', async () => {
    const { ask, vendor } = await capped({ cap: { name: 'calls', period: 'day', calls: 5 } })
    expect((await ask(message([image]))).status).toBe(200)
    expect(vendor.requests[0]?.json).not.toHaveProperty('max_completion_tokens')
  })

  const parts: [string, unknown, string, string, keyof CostBounds][] = [
    [
      'an image URL',
      message([{ type: 'text', text: 'Hi' }, image]),
      'messages[0].content[1]',
      'an image',
      'imageTokens',
    ],
    [
      'a file id',
      message([{ type: 'file', file: { file_id: 'file-1' } }]),
      'messages[0].content[0]',
      'a file',
      'fileTokens',
    ],
    [
      'audio',
      message([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }]),
      'messages[0].content[0]',
      'audio',
      'audioTokens',
    ],
    [
      'an earlier answer in audio',
      { messages: [{ role: 'assistant', audio: { id: 'a' } }] },
      'messages[0].audio',
      'audio',
      'audioTokens',
    ],
    [
      'an image in the result of a tool',
      { messages: [{ role: 'tool', tool_call_id: 'c', content: [image] }] },
      'messages[0].content[0]',
      'an image',
      'imageTokens',
    ],
  ]

  test.each(parts)(
    'with %s is refused by name, unless it is bounded by an option',
    async (_, body, param, what, option) => {
      const model = { allow: ['files'] }
      const refused = await (await capped({ model })).ask(body as object)
      expect(refused).toMatchObject({ status: 400, error: { param, message: expect.stringContaining(what) as string } })
      const { ask } = await capped({ model, bounds: { [option]: 1_500 } })
      const { status, held } = await ask({ ...(body as object), max_tokens: 10 })
      expect(status).toBe(200)
      const data = JSON.stringify(body).includes('"AAAA"') ? 4 : 0
      expect(held?.tokens).toBe(BigInt(bytesOf({ ...(body as object), max_tokens: 10 }) - data + 1_500 + 10))
    },
  )

  test('with an image holds the whole context window if that is known', async () => {
    const { ask } = await capped({ model: { contextWindow: 8_000 } })
    const { status, held } = await ask({ ...message([image]), max_tokens: 10 })
    expect([status, held?.tokens]).toEqual([200, 8_010n])
  })

  test('with an inline image does not hold its base64 text', async () => {
    const inline = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(100_000)}` } }
    const { ask } = await capped({ bounds: { imageTokens: 1_000 } })
    const { held } = await ask({ ...message([inline]), max_tokens: 10 })
    expect(Number(held?.tokens)).toBeLessThan(1_400)
  })

  test("with the vendor's own tools is refused, unless their calls and the window are known", async () => {
    const body = { ...message('Hi'), max_tokens: 10, web_search_options: {} }
    const model = { allow: ['web_search_options'], price: { input: '1', output: '10', tools: { '*': '0.01' } } }
    const refused = await (await capped({ model })).ask(body)
    expect(refused).toMatchObject({ status: 400, error: { param: 'tools' } })
    const unknownWindow = await (await capped({ model, bounds: { toolCalls: 3 } })).ask(body)
    expect(unknownWindow).toMatchObject({ status: 400, error: { param: 'tools' } })
    const { ask } = await capped({ model: { ...model, contextWindow: 1_000 }, bounds: { toolCalls: 3 } })
    const { status, held } = await ask(body)
    // Four rounds of the whole window, ten tokens of output, and three fees.
    expect([status, held?.amount]).toEqual([200, 4_000n + 100n + 30_000n])
  })

  test("with the vendor's own tools inside the conversation holds their calls too, also if it is long", async () => {
    const price = { input: '1', output: '10', tools: { '*': '0.01' } }
    const model = { allow: ['builtin_function'], price, contextWindow: 1_000 }
    const { ask } = await capped({ model, bounds: { toolCalls: 3 } })
    for (const text of ['Hi', 'x'.repeat(20_000)]) {
      const defining = { role: 'system', content: text, tools: [{ type: 'builtin_function' }] }
      const { status, held } = await ask({ messages: [defining, { role: 'user', content: 'Hi' }], max_tokens: 10 })
      expect([status, held?.amount]).toEqual([200, 4_000n + 100n + 30_000n])
    }
    const { held } = await ask({ ...message('Hi'), max_tokens: 10 })
    expect(held?.amount).toBeLessThan(1_200n)
  })

  test('that continues a conversation is bounded by all of it', async () => {
    const { url, holds } = await capped({ bounds: { imageTokens: 700 } })
    const send = async (body: object) => {
      const response = await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', max_output_tokens: 10, ...body }),
      })
      return (await response.json()) as { id: string }
    }
    const text = 'x'.repeat(2_000)
    const first = await send({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text },
            { type: 'input_image', image_url: 'https://e.example/a.png' },
          ],
        },
      ],
    })
    expect(Number(holds[0]?.tokens)).toBeGreaterThan(2_700)
    const { id } = first
    await send({ previous_response_id: id, input: 'go on', instructions: 'y'.repeat(500) })
    expect(Number(holds[1]?.tokens)).toBeGreaterThan(3_200)
  })
})

describe('a capped call for images or transcripts', () => {
  const pictures: VendorReply = (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ created: 1, data: [{ b64_json: 'AAAA' }] }))
  }

  test('at a price per image holds that price', async () => {
    const { ask } = await capped({ model: { price: { image: '0.5' } }, reply: pictures })
    const { status, held } = await ask({ prompt: 'a cat', n: 2 }, '/v1/images/generations')
    expect([status, held?.amount]).toEqual([200, 1_000_000n])
  })

  test('at a price per token needs the longest answer of the model', async () => {
    const price = { image: '0.5', outputImage: '40' }
    const refused = await (
      await capped({ model: { price }, reply: pictures })
    ).ask({ prompt: 'a cat' }, '/v1/images/generations')
    expect(refused).toMatchObject({ status: 400, error: { param: 'model' } })
    const { ask } = await capped({ model: { price, maxOutputTokens: 6_000 }, reply: pictures })
    expect((await ask({ prompt: 'a cat' }, '/v1/images/generations')).status).toBe(200)
  })

  test('a recording at a price per second needs an upper bound of its length', async () => {
    const transcript: VendorReply = (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ text: 'Hi', usage: { type: 'duration', seconds: 3 } }))
    }
    const form = () => {
      const body = new FormData()
      body.set('model', 'm')
      body.set('file', new Blob([Buffer.alloc(100)]), 'a.wav')
      return body
    }
    const model = { price: { second: '0.0001' } }
    const refused = await (await capped({ model, reply: transcript })).ask(form(), '/v1/audio/transcriptions')
    expect(refused).toMatchObject({ status: 400, error: { param: 'file' } })
    const { ask } = await capped({ model, reply: transcript, bounds: { seconds: 600 } })
    const { status, held } = await ask(form(), '/v1/audio/transcriptions')
    expect([status, held?.amount]).toEqual([200, 60_000n])
  })
})

test('what earlier answers only mention is no file', async () => {
  const { ask } = await capped()
  const annotations = [{ type: 'file_citation', file_id: 'file-1', index: 3 }]
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'See the file.', annotations },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"file_id":1}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'none' },
  ]
  expect((await ask({ messages, max_tokens: 10 })).status).toBe(200)
})
