/** `POST /v1/embeddings`: all forms of input, both encodings, long lists. */
import { defineProvider, demo, EmbeddingText, openai, type Call } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { toBase64 } from '../../../src/endpoints/embeddings/vectors.ts'
import type { EmbeddingInput, EmbeddingRequest } from '../../../src/wire/embeddings.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { hasShared, sharedBytes } from '../../shared.ts'
import { clientOf, errorOf, post } from '../ask.ts'

async function gatewayOver(reply: VendorReply, options: Parameters<typeof openai>[0] = {}) {
  const vendor = await vendorFor(reply)
  const hosted = await hostedWith({
    models: { m: openai({ baseURL: vendor.baseURL, ...options }) },
    retry: { maxAttempts: 1 },
  })
  return { ...hosted, vendor, client: clientOf(hosted.url) }
}

/** A vendor whose vectors identify their inputs: the vector of `"7"` is `[7, 0.5]`. */
const numbering: VendorReply = ({ json }, response) => {
  const { input, encoding_format: format } = json as EmbeddingRequest
  const inputs = typeof input === 'string' ? [input] : (input as string[])
  const vectorOf = (text: string) => (format === 'base64' ? toBase64([Number(text), 0.5]) : [Number(text), 0.5])
  const data = inputs.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }))
  const usage = { prompt_tokens: inputs.length, total_tokens: inputs.length }
  // Unusual white space, which serializing again would not preserve.
  response.end(JSON.stringify({ object: 'list', data, model: 'theirs', usage }, undefined, 3))
}

describe('vectors in the requested encoding', () => {
  test.each(['float', 'base64'] as const)(
    'are passed on byte for byte (%s), and their usage is counted',
    async (format) => {
      let sent = ''
      const { url, receipt } = await gatewayOver((request, response) => {
        const end = response.end.bind(response)
        response.end = ((text: string) => end((sent = text))) as never
        return numbering(request, response)
      })
      const answer = await post(url, '/embeddings', { model: 'm', input: ['1', '2'], encoding_format: format })
      expect(answer.text).toBe(sent)
      expect(await receipt()).toMatchObject({
        endpoint: 'embeddings',
        outcome: 'completed',
        usage: { prompt_tokens: 2, completion_tokens: 0, total_tokens: 2 },
        usageSource: 'reported',
      })
    },
  )

  test('have the model name of the client', async () => {
    const { url, vendor } = await gatewayOver(numbering, { modelNames: { m: 'theirs' } })
    const { json } = await post(url, '/embeddings', { model: 'm', input: '7' })
    const usage = { prompt_tokens: 1, total_tokens: 1 }
    const data = [{ object: 'embedding', index: 0, embedding: [7, 0.5] }]
    expect(json).toEqual({ object: 'list', data, model: 'm', usage })
    expect(vendor.requests[0]?.json).toEqual({ model: 'theirs', input: '7' })
  })
})

describe('a list that arrives in pieces', () => {
  const vectors = Array.from({ length: 40 }, (_, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from({ length: 50 }, (_, at) => Math.fround(Math.sin(index * 50 + at))),
  }))
  const usage = { prompt_tokens: 9, total_tokens: 9 }
  const textOf = (more: object) => Buffer.from(JSON.stringify({ object: 'list', data: vectors, ...more }, undefined, 2))
  const mark = Buffer.from([0xef, 0xbb, 0xbf])
  const common = { model: 'theirs', usage }

  /** Sends each piece only when the one before it has left the process. */
  const inPieces: (text: Buffer, cuts: readonly number[]) => VendorReply = (text, cuts) => async (_, response) => {
    for (const [index, from] of [0, ...cuts].entries()) {
      await new Promise((sent) => response.write(text.subarray(from, cuts[index]), sent))
      await new Promise((next) => setImmediate(next))
    }
    response.end()
  }

  const list = textOf(common)
  const bodies: [name: string, body: Buffer, options: Parameters<typeof openai>[0], expected: object][] = [
    ['is passed on byte for byte', list, {}, common],
    ['loses a byte order mark', Buffer.concat([mark, list]), {}, common],
    ['gets the name of the client', list, { modelNames: { m: 'theirs' } }, { model: 'm', usage }],
    ['gets a missing count', textOf({ ...common, usage: { input_tokens: 9 } }), {}, common],
    ['may have its usage first', Buffer.from(JSON.stringify({ usage, model: 'theirs', data: vectors })), {}, common],
  ]
  describe.each(bodies)('%s', (name, body, options, expected) => {
    const { length } = body
    const cuts = [
      [1],
      [2, 3, 4],
      [100],
      [8_191],
      [8_192, 8_200],
      [9_000, length - 9_000],
      [length - 9_000],
      [length - 1],
    ]
    test.each(cuts.map((each) => [each]))('cut at %j', async (at) => {
      const { url } = await gatewayOver(inPieces(body, at), options)
      const { text, json } = await post(url, '/embeddings', {
        model: 'm',
        input: Array(40).fill('x'),
        encoding_format: 'float',
      })
      expect(json).toMatchObject({ data: vectors, ...expected })
      if (name === 'is passed on byte for byte') expect(text).toBe(body.toString())
    })
  })

  test('is repeated whole for its Idempotency-Key', async () => {
    const { url, vendor } = await gatewayOver(inPieces(list, [20_000, 40_000]))
    const ask = async () => {
      const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json', 'idempotency-key': 'once' }
      const body = JSON.stringify({ model: 'm', input: Array(40).fill('x'), encoding_format: 'float' })
      const response = await fetch(`${url}/v1/embeddings`, { method: 'POST', headers, body })
      return [response.headers.get('content-length'), await response.text()]
    }
    expect(await ask()).toEqual([String(list.length), list.toString()])
    expect(await ask()).toEqual([String(list.length), list.toString()])
    expect(vendor.requests).toHaveLength(1)
  })
})

const recording = (name: string) => sharedBytes(`recordings/openai/embedding-${name}.json`)
const reply: (name: string) => VendorReply = (name) => (_, response) => void response.end(recording(name))
const vectorIn = (text: string) => (JSON.parse(text) as { data: [{ embedding: unknown }] }).data[0].embedding

describe.skipIf(!hasShared)("OpenAI's recorded pair", () => {
  test.each([
    ['float', 'base64'],
    ['base64', 'float'],
  ])('vectors in %s are converted to the requested %s without loss', async (given, asked) => {
    const { url } = await gatewayOver(reply(given))
    const answer = await post(url, '/embeddings', { model: 'm', input: 'x', encoding_format: asked })
    expect(vectorIn(answer.text)).toEqual(vectorIn(recording(asked).toString()))
    expect(answer.json).toMatchObject({ model: 'text-embedding-3-large', usage: { prompt_tokens: 1, total_tokens: 1 } })
  })

  test.each(['float', 'base64'])(
    'the official client gets the same numbers from a vendor that sends %s',
    async (given) => {
      const { client } = await gatewayOver(reply(given))
      const expected = vectorIn(recording('float').toString()) as number[]
      for (const format of [undefined, 'float'] as const) {
        const { data } = await client.embeddings.create({
          model: 'm',
          input: 'x',
          ...(format && { encoding_format: format }),
        })
        expect(data[0]?.embedding.map(Math.fround)).toEqual(expected.map(Math.fround))
      }
    },
  )
})

test('a vendor that refuses "encoding_format" is not asked for one', async () => {
  const { url, vendor } = await gatewayOver(numbering, { embeddingFormat: false })
  const { json } = await post(url, '/embeddings', { model: 'm', input: '7', encoding_format: 'base64', user: 'u' })
  expect(vendor.requests[0]?.json).toEqual({ model: 'm', input: '7', user: 'u' })
  expect(json).toMatchObject({ data: [{ embedding: toBase64([7, 0.5]) }] })
})

describe('a list longer than the limit of the vendor', () => {
  const input = Array.from({ length: 23 }, (_, index) => String(index))

  test('is split, and its vectors are in order with the sum of their usage', async () => {
    const { client, vendor, receipt } = await gatewayOver(numbering, { embeddingBatch: 5 })
    const list = await client.embeddings.create({ model: 'm', input, encoding_format: 'float' })
    expect(list.data.map(({ index, embedding }) => [index, ...embedding])).toEqual(
      input.map((text) => [Number(text), Number(text), 0.5]),
    )
    expect(list.usage).toEqual({ prompt_tokens: 23, total_tokens: 23 })
    const sizes = vendor.requests.map(({ json }) => (json as { input: string[] }).input.length)
    expect(sizes.toSorted((left, right) => left - right)).toEqual([3, 5, 5, 5, 5])
    expect((await receipt()).usage.prompt_tokens).toBe(23)
  })

  test('fails as a whole if one part fails', async () => {
    const { url } = await gatewayOver(
      (request, response) =>
        (request.json as { input: string[] }).input.includes('11')
          ? void response.writeHead(429).end('{}')
          : numbering(request, response),
      { embeddingBatch: 5 },
    )
    expect((await post(url, '/embeddings', { model: 'm', input })).status).toBe(429)
  })

  test('of exactly the limit is one request', async () => {
    const { client, vendor } = await gatewayOver(numbering, { embeddingBatch: 23 })
    await client.embeddings.create({ model: 'm', input })
    expect(vendor.requests).toHaveLength(1)
  })
})

const embedAsText = ({ request }: Call<EmbeddingRequest>) => {
  const data = (request.input as string[]).map((text, index) => ({ index, embedding: [Number(text)] }))
  return new EmbeddingText(Buffer.from(JSON.stringify({ data })), undefined)
}

const answering = (list: object) =>
  hostedWith({ models: { m: defineProvider({ name: 'p', embed: () => list as never }) }, retry: { maxAttempts: 1 } })

describe('the response of a provider', () => {
  test('is sorted in the order of the inputs', async () => {
    const data = [
      { index: 1, embedding: [2] },
      { index: 0, embedding: [1] },
    ]
    const { url } = await answering({ data })
    const { json } = await post(url, '/embeddings', { model: 'm', input: ['a', 'b'] })
    expect(json).toMatchObject({ object: 'list', model: 'm', data: [{ embedding: [1] }, { index: 1, embedding: [2] }] })
  })

  test('gets missing indexes and usage', async () => {
    const { url, receipt } = await answering({ data: [{ embedding: [1] }, { embedding: [2] }] })
    const { json } = await post(url, '/embeddings', { model: 'm', input: ['a', 'b'] })
    expect(json).toMatchObject({
      data: [
        { object: 'embedding', index: 0 },
        { object: 'embedding', index: 1 },
      ],
    })
    expect((json as { usage: { total_tokens: number } }).usage.total_tokens).toBeGreaterThan(0)
    expect((await receipt()).usageSource).toBe('estimated')
  })

  test.each([
    ['too few vectors', [{ embedding: [1] }]],
    ['too many', [{ embedding: [1] }, { embedding: [2] }, { embedding: [3] }]],
    [
      'a duplicate index',
      [
        { index: 0, embedding: [1] },
        { index: 0, embedding: [2] },
      ],
    ],
    ['an invalid index', [{ index: 'length', embedding: [1] }, { embedding: [2] }]],
    ['a negative index', [{ index: -1, embedding: [1] }, { embedding: [2] }]],
    ['truncated base64', [{ embedding: 'AAA=' }, { embedding: [2] }]],
  ])('is rejected with %s', async (_, data) => {
    const { url } = await answering({ data })
    expect((await post(url, '/embeddings', { model: 'm', input: ['a', 'b'] })).status).toBe(503)
  })

  test('in base64 is joined for a list that was split', async () => {
    const { url } = await hostedWith({
      models: { m: defineProvider({ name: 'p', embed: embedAsText, embeddingBatch: 2 }) },
    })
    const { json } = await post(url, '/embeddings', { model: 'm', input: ['5', '6', '7'] })
    expect(json).toMatchObject({ data: [5, 6, 7].map((value, index) => ({ index, embedding: [value] })) })
  })
})

describe('input', () => {
  const forms: [string, EmbeddingInput, number][] = [
    ['a text', 'a', 1],
    ['texts', ['a', 'b'], 2],
    ['tokens', [1, 2, 3], 1],
    ['lists of tokens', [[1], [2, 3]], 2],
    ['2048 texts', Array.from({ length: 2048 }, () => 'a'), 2048],
    ['large texts', ['a'.repeat(20_000), 'b'.repeat(20_000)], 2],
  ]
  test.each(forms)('can be %s', async (_, input, count) => {
    const { url } = await hostedWith({ models: { m: demo() } })
    const { json } = await post(url, '/embeddings', { model: 'm', input, dimensions: 8 })
    expect((json as { data: unknown[] }).data).toHaveLength(count)
  })

  test.each([
    ['input', {}],
    ['input', { input: '' }],
    ['input', { input: [] }],
    ['input', { input: Array.from({ length: 2049 }, () => 'a') }],
    ['input[1]', { input: ['a', 1] }],
    ['input[1]', { input: [[1], []] }],
    ['input[0]', { input: [[1.5]] }],
    ['input[0]', { input: [null] }],
    ['input[1]', { input: ['a'.repeat(20_000), 1] }],
    ['dimensions', { input: 'a', dimensions: 0 }],
    ['encoding_format', { input: 'a', encoding_format: 'hex' }],
  ])('that is invalid is rejected with the name of the field: %s', async (param, body) => {
    const { url } = await hostedWith({ models: { m: demo() } })
    const answer = await post(url, '/embeddings', { model: 'm', ...body })
    expect([answer.status, errorOf(answer).param]).toEqual([400, param])
  })
})

test('"stream" is ignored', async () => {
  const { url } = await hostedWith({ models: { m: demo() } })
  expect((await post(url, '/embeddings', { model: 'm', input: 'a', stream: true })).json).toMatchObject({
    object: 'list',
  })
})

test('a model without embeddings is rejected with the parameter "model"', async () => {
  const { url } = await hostedWith({ models: { m: defineProvider({ name: 'mute' }) } })
  const answer = await post(url, '/embeddings', { model: 'm', input: 'a' })
  expect([answer.status, errorOf(answer).param]).toEqual([400, 'model'])
})

test('the demo model supports base64, numbers and "dimensions"', async () => {
  const { url } = await hostedWith({ models: { m: demo() } })
  const client = clientOf(url)
  const byDefault = await client.embeddings.create({ model: 'm', input: 'Hello', dimensions: 64 })
  const asNumbers = await client.embeddings.create({
    model: 'm',
    input: 'Hello',
    dimensions: 64,
    encoding_format: 'float',
  })
  expect(byDefault.data[0]?.embedding).toHaveLength(64)
  expect(byDefault.data[0]?.embedding).toEqual(asNumbers.data[0]?.embedding)
  const { json } = await post(url, '/embeddings', { model: 'm', input: 'Hello', encoding_format: 'base64' })
  expect(typeof (json as { data: [{ embedding: unknown }] }).data[0].embedding).toBe('string')
})
