import { describe, expect, it } from 'vitest'
import { imageModels, memoryLedger, parseMoney } from '../../../src/index.ts'
import { defineProvider, demo, gemini, openai, tryNext } from '../../../src/providers/index.ts'
import type { ImageVariationRequest } from '../../../src/wire/images.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { errorOf, formOf, read, send, type Entry } from '../forms.ts'

const image: Entry = ['image', new Blob(['cat'], { type: 'image/png' }), 'cat.png']
const model: Entry = ['model', 'm']

interface Seen {
  readonly request: ImageVariationRequest
  readonly parts: unknown[][]
}

function painter(seen: Seen[] = []) {
  return defineProvider({
    name: 'painter',
    async varyImage(call) {
      seen.push({ request: call.request, parts: await read(call.form) })
      const data = Array.from({ length: call.request.n ?? 1 }, () => ({ b64_json: 'AAAA' }))
      return { created: 1, data }
    },
  })
}

describe('variations of an image', () => {
  it.each([
    ['fields first', [model, ['n', '2'], image]],
    ['the file first', [image, ['n', '2'], model]],
  ] as [string, Entry[]][])('accept their parts in any order: %s', async (_, entries) => {
    const seen: Seen[] = []
    const { url } = await hostedWith({ models: { m: painter(seen) } })
    const response = await send(url, '/images/variations', formOf(...entries))
    expect(response.status).toBe(200)
    expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(2)
    expect(seen[0]?.request).toEqual({ model: 'm', n: 2 })
    const sent = entries.map(([name, value]) =>
      typeof value === 'string' ? [name, value] : [name, 'cat', 'cat.png', 'image/png'],
    )
    expect(seen[0]?.parts).toEqual(sent)
  })

  it('are in the format that the client wants', async () => {
    const { url } = await hostedWith({ models: { m: painter() } })
    const response = await send(url, '/images/variations', formOf(model, ['response_format', 'url'], image))
    expect(await response.json()).toEqual({ created: 1, data: [{ url: 'data:image/png;base64,AAAA' }] })
  })

  it.each<[string, Entry[], string]>([
    ['without a model', [image], 'model'],
    ['without an image', [model], 'image'],
    ['with text instead of an image', [model, ['image', 'https://example.com/cat.png']], 'image'],
    ['with two images', [model, image, image], 'image'],
    ['with an invalid number', [model, image, ['n', 'two']], 'n'],
    ['with too many images requested', [model, image, ['n', '11']], 'n'],
    ['with an invalid size', [model, image, ['size', 'large']], 'size'],
    ['with an unknown format', [model, image, ['response_format', 'png']], 'response_format'],
    ['with a field that changes the cost', [model, image, ['quality', 'high'], ['num_images', '9']], 'num_images'],
  ])('%s are rejected', async (_, entries, param) => {
    const vendor = await vendorFor((__, response) => void response.writeHead(500).end())
    const { url, receipts } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    const response = await send(url, '/images/variations', formOf(...entries))
    expect(await errorOf(response)).toMatchObject({ status: 400, param })
    expect([receipts, vendor.requests]).toEqual([[], []])
  })

  it('need a form', async () => {
    const { url } = await hostedWith({ models: { m: painter() } })
    const json = { 'content-type': 'application/json' }
    expect((await send(url, '/images/variations', '{"model":"m","image":"x"}', json)).status).toBe(415)
  })

  it('are rejected by name at vendors and models without them, which get no request', async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
    const { baseURL } = vendor
    const { url } = await hostedWith({
      models: {
        google: gemini({ baseURL, apiKey: 'k' }),
        groq: openai({ preset: 'groq', baseURL, apiKey: 'k' }),
        gpt: { provider: openai({ baseURL }), image: imageModels.gptImage1 },
        three: { provider: openai({ baseURL }), image: imageModels.dallE3 },
        talker: defineProvider({ name: 'talker' }),
      },
    })
    for (const id of ['google', 'groq', 'gpt', 'three', 'talker']) {
      const response = await send(url, '/images/variations', formOf(['model', id], image))
      const message = 'This model does not support image variations.'
      expect(await errorOf(response)).toMatchObject({ status: 400, code: 'unsupported_value', param: 'model', message })
    }
    expect(vendor.requests).toEqual([])
  })

  it('pass to a server with OpenAI’s API as the client sent them, with its name for the model', async () => {
    const json = { 'content-type': 'application/json' }
    const vendor = await vendorFor((_, response) => {
      response.writeHead(200, json).end('{"created":1,"data":[{"url":"https://cdn.example/1.png"}]}')
    })
    const { url } = await hostedWith({
      models: { m: { provider: openai({ baseURL: vendor.baseURL }), providerModel: 'dall-e-2' } },
    })
    const response = await send(url, '/images/variations', formOf(image, ['size', '256x256'], model, ['user', 'u']))
    expect(await response.json()).toEqual({ created: 1, data: [{ url: 'https://cdn.example/1.png' }] })
    const [request] = vendor.requests
    expect(request?.url).toBe('/v1/images/variations')
    const sent = await new Response(request?.body as Buffer<ArrayBuffer>, {
      headers: { 'content-type': String(request?.headers['content-type']) },
    }).formData()
    expect([...sent.keys()]).toEqual(['image', 'size', 'model', 'user'])
    expect([sent.get('model'), sent.get('size'), await (sent.get('image') as File).text()]).toEqual([
      'dall-e-2',
      '256x256',
      'cat',
    ])
  })

  it('fall back to another deployment with the whole form', async () => {
    const seen: Seen[] = []
    const busy = defineProvider({
      name: 'busy',
      async varyImage() {
        throw tryNext(new Error('busy'), { begun: false })
      },
    })
    const { url } = await hostedWith({ models: { busy, painter: painter(seen), m: { route: ['busy', 'painter'] } } })
    const response = await send(url, '/images/variations', formOf(model, ['n', '1'], ['size', '256x256'], image))
    expect([response.status, seen[0]?.parts.length]).toEqual([200, 4])
  })

  it('are made by the deployment of a model that can', async () => {
    const groq = openai({ preset: 'groq', apiKey: 'k' })
    const { url } = await hostedWith({ models: { groq, painter: painter(), m: { route: ['groq', 'painter'] } } })
    expect((await send(url, '/images/variations', formOf(model, image))).status).toBe(200)
  })

  it('of the demo model differ by the image', async () => {
    const { url } = await hostedWith({ models: { m: demo() } })
    const picture = async (prompt: string) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ model: 'm', prompt, size: '64x32', response_format: 'b64_json' })
      const { data } = (await (await send(url, '/images/generations', body, headers)).json()) as Drawn
      return Buffer.from(data[0]?.b64_json ?? '', 'base64')
    }
    const variation = async (bytes: Buffer) => {
      const file: Entry = ['image', new Blob([new Uint8Array(bytes)]), 'a.png']
      return (await (await send(url, '/images/variations', formOf(model, file))).json()) as Drawn
    }
    const [sun, moon] = [await picture('a sun'), await picture('a moon')]
    const [first, again, other] = [await variation(sun), await variation(sun), await variation(moon)]
    expect(first.size).toBe('64x32')
    expect(again.data).toEqual(first.data)
    expect(other.data).not.toEqual(first.data)
  })
})

interface Drawn {
  readonly data: readonly { readonly b64_json?: string }[]
  readonly size?: string
}

/** DALL·E 2 by OpenAI's price list: dollars for one image of each size. */
const prices = { '256x256': '0.016', '512x512': '0.018', '1024x1024': '0.02' } as const

const priced: [fields: Entry[], cost: string][] = [
  [[], '0.02'],
  [[['n', '2']], '0.04'],
  [[['n', '10']], '0.2'],
  [[['size', '256x256']], '0.016'],
  [
    [
      ['size', '256x256'],
      ['n', '3'],
    ],
    '0.048',
  ],
  [[['size', '512x512']], '0.018'],
  [
    [
      ['size', '512x512'],
      ['n', '5'],
    ],
    '0.09',
  ],
  [[['size', '1024x1024']], '0.02'],
  [
    [
      ['size', '1024x1024'],
      ['n', '4'],
    ],
    '0.08',
  ],
  [[['response_format', 'url']], '0.02'],
]

it.each(priced)('cost by the price list of DALL·E 2, held before and settled once: %j', async (fields, cost) => {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'a', amount: 1_000_000n, reference: 'start' })
  let held: bigint | undefined
  const provider = defineProvider({
    name: 'painter',
    async varyImage({ request, form }) {
      await read(form)
      held = (await ledger.account('a'))?.held
      return { created: 1, data: Array.from({ length: request.n ?? 1 }, () => ({ url: 'https://cdn.example/1.png' })) }
    },
  })
  const { url, receipt } = await hostedWith({
    keys: { 'sk-test': { account: 'a' } },
    models: {
      m: { provider, image: imageModels.dallE2, price: { image: { ...prices, '*': '0.02' } } },
    },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  const entries = [model, ...fields, image]
  const headers = { 'idempotency-key': 'once' }
  expect((await send(url, '/images/variations', formOf(...entries), headers)).status).toBe(200)
  expect(await receipt()).toMatchObject({ endpoint: 'images.variations', charge: { cost } })
  expect((await send(url, '/images/variations', formOf(...entries), headers)).status).toBe(200)
  const account = await ledger.account('a')
  expect([account?.balance, account?.held]).toEqual([1_000_000n - parseMoney(cost), 0n])
  expect(held).toBeGreaterThanOrEqual(parseMoney(cost))
})
