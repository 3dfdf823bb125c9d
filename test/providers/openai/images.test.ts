import { describe, expect, it } from 'vitest'
import { imageModels } from '../../../src/index.ts'
import { openai } from '../../../src/providers/index.ts'
import { formOf, send, type Entry } from '../../endpoints/forms.ts'
import { contentOf, readBody } from '../../http/form.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { hasShared, sharedBytes } from '../../shared.ts'

const json = { 'content-type': 'application/json' }
const sse = { 'content-type': 'text/event-stream' }
const image: Entry = ['image', new Blob(['cat'], { type: 'image/png' }), 'cat.png']

function generate(url: string, body: object = {}): Promise<Response> {
  return send(url, '/images/generations', JSON.stringify({ model: 'm', prompt: 'a cat', ...body }), json)
}

function to({ baseURL }: { baseURL: string }) {
  return { provider: openai({ baseURL }) }
}

describe('images of an OpenAI-compatible vendor', () => {
  it('sends the client’s bytes, except for the model name', async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(200, json).end('{"data":[{"url":"u"}]}'))
    const provider = openai({ baseURL: vendor.baseURL, apiKey: 'sk-vendor' })
    const { url } = await hostedWith({ models: { m: { provider, providerModel: 'dall-e-9' }, same: provider } })
    const body = '{"model":"same","prompt":"a cat","n":1.0,"new_field":{"b":12345678901234567890}}'
    await send(url, '/images/generations', body, json)
    await send(url, '/images/generations', body.replace('same', 'm'), json)
    expect(vendor.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/v1/images/generations', 'Bearer sk-vendor'],
      ['/v1/images/generations', 'Bearer sk-vendor'],
    ])
    expect(vendor.requests[0]?.body.toString()).toBe(body)
    expect(vendor.requests[1]?.body.toString()).toBe('{"model":"dall-e-9"' + body.slice('{"model":"same"'.length))
  })

  it.skipIf(!hasShared)('returns the vendor’s bytes', async () => {
    const recorded = sharedBytes('recordings/openai/image-generation.json')
    const vendor = await vendorFor((_, response) => void response.writeHead(200, json).end(recorded))
    const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    const response = await generate(url, { n: 2, size: '1024x1024', response_format: 'b64_json' })
    expect(Buffer.from(await response.arrayBuffer())).toEqual(recorded)
    expect(await receipt()).toMatchObject({ units: { images: 2, size: '1024x1024' }, outcome: 'completed' })
  })

  it('returns data URLs when the vendor supports only base64', async () => {
    const vendor = await vendorFor(
      (_, response) => void response.writeHead(200, json).end('{"data":[{"b64_json":"/9j/"}]}'),
    )
    const provider = openai({ baseURL: vendor.baseURL })
    const { url } = await hostedWith({ models: { m: { provider, image: imageModels.gptImage1 } } })
    const { data } = (await (await generate(url, { response_format: 'url' })).json()) as { data: unknown }
    expect(data).toEqual([{ url: 'data:image/jpeg;base64,/9j/' }])
    expect(vendor.requests[0]?.json).toEqual({ model: 'm', prompt: 'a cat' })
  })

  it('streams each event byte for byte, however large, and takes the usage from the last', async () => {
    const partial = { type: 'image_generation.partial_image', b64_json: 'A'.repeat(3_000_000), partial_image_index: 0 }
    const common = { created_at: 5, size: '1024x1024', quality: 'low', background: 'auto', output_format: 'png' }
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
    const completed = { type: 'image_generation.completed', b64_json: 'AAAA', usage }
    // JSON.stringify would never write a number like this.
    const text = (event: object) => JSON.stringify({ ...common, ...event }).replace(':5,', ':5.0,')
    const frames = [partial, completed].map((event) => `event: ${event.type}\ndata: ${text(event)}\n\n`)
    const vendor = await vendorFor((_, response) => void response.writeHead(200, sse).end(frames.join('')))
    const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    const answer = await (await generate(url, { stream: true, partial_images: 1 })).text()
    expect(answer === `${frames.join('')}data: [DONE]\n\n`).toBe(true)
    expect(await receipt()).toMatchObject({ usage: { total_tokens: 3 }, units: { images: 1, size: '1024x1024' } })
  })

  it.each([
    ['the only image', {}, 1, '\n\n'],
    ['the last of two', { n: 2 }, 2, '\n\n'],
  ])('ends a stream with %s, though the connection stays open', async (_, body, images, end) => {
    const event = { type: 'image_generation.completed', b64_json: 'AAAA' }
    const vendor = await vendorFor((_, response) => {
      response.writeHead(200, sse).write(
        Array(images)
          .fill(`data: ${JSON.stringify(event)}`)
          .join('\n\n') + end,
      )
    })
    const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    const text = await (await generate(url, { stream: true, ...body })).text()
    expect(text.match(/AAAA/g)).toHaveLength(images)
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    expect(await receipt()).toMatchObject({ outcome: 'completed', units: { images } })
  })

  it.each([
    ['an image without the last blank line', 'data: {"type":"image_generation.completed","b64_json":"AAAA"}', 2],
    ['half of an event', 'data: {"type":"image_generation.comp', 1],
    ['what is no event', '<html>', 1],
  ])('reads %s behind the first of two images', async (_, rest, images) => {
    const event = { type: 'image_generation.completed', b64_json: 'AAAA' }
    const vendor = await vendorFor(
      (_, response) => void response.writeHead(200, sse).end(`data: ${JSON.stringify(event)}\n\n${rest}`),
    )
    const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    expect(await (await generate(url, { stream: true, n: 2 })).text()).toMatch(/data: \[DONE\]\n\n$/)
    expect(await receipt()).toMatchObject({ outcome: 'completed', units: { images } })
  })

  it.each([[{}], [null], [{ b64_json: 5 }], [{ b64_json: '' }], [{ url: {} }]])(
    'charges nothing for an image that is none: %j',
    async (image) => {
      const event = { type: 'image_generation.completed', ...image }
      for (const stream of [false, true]) {
        const vendor = await vendorFor((_, response) => {
          if (stream) response.writeHead(200, sse).end(`data: ${JSON.stringify(event)}\n\n`)
          else response.writeHead(200, json).end(JSON.stringify({ data: [image] }))
        })
        const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
        expect(await (await generate(url, { stream })).text()).toContain('"error"')
        expect(await receipt()).toMatchObject({ outcome: 'failed', usage: { total_tokens: 0 } })
      }
    },
  )

  it('keeps a size that is no text out of the receipt', async () => {
    const body = JSON.stringify({ data: [{ url: 'u' }], size: { a: 1 }, quality: 7 })
    const vendor = await vendorFor((_, response) => void response.writeHead(200, json).end(body))
    const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    expect((await generate(url)).status).toBe(200)
    expect((await receipt()).units).toEqual({ images: 1 })
  })

  it('ends a stream that the vendor truncates with an error', async () => {
    const event = { type: 'image_generation.partial_image', b64_json: 'AAAA' }
    const vendor = await vendorFor((_, response) => {
      response.writeHead(200, sse).end(`data: ${JSON.stringify(event)}\n\n`)
    })
    const { url } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    const frames = (await (await generate(url, { stream: true })).text()).trim().split('\n\n')
    expect(frames).toHaveLength(2)
    expect(frames[1]).toContain('"code":"service_unavailable"')
  })

  it.each([
    [500, '{}', 500, 'server_error', 'false'],
    [502, '<html>', 500, 'server_error', 'false'],
    [503, '{}', 503, 'service_unavailable', 'false'],
    [200, '{"error":{"code":"server_error"}}', 500, 'server_error', 'false'],
    [200, '<html>', 503, 'service_unavailable', 'false'],
    [429, '{}', 429, 'rate_limit_exceeded', null],
    [401, '{}', 503, 'service_unavailable', null],
    [
      400,
      '{"error":{"code":"moderation_blocked","type":"image_generation_user_error"}}',
      400,
      'content_policy_violation',
      null,
    ],
    [400, '{"error":{"param":"prompt","message":"secret"}}', 400, 'invalid_request_error', null],
  ])('maps a %d with %s to a %d %s', async (status, body, expected, code, shouldRetry) => {
    const vendor = await vendorFor((_, response) => void response.writeHead(status, json).end(body))
    const provider = openai({ baseURL: vendor.baseURL })
    const { url } = await hostedWith({ models: { m: provider }, retry: { maxAttempts: 1 } })
    const response = await generate(url)
    expect(response.status).toBe(expected)
    expect(response.headers.get('x-should-retry')).toBe(shouldRetry)
    const text = await response.text()
    expect(JSON.parse(text).error.code).toBe(code)
    expect(text).not.toContain('secret')
  })

  it('retries only if no connection was opened, not after a broken one', async () => {
    const cut = await vendorFor((_, response) => void response.destroy())
    const closed = await vendorFor(() => undefined)
    await closed.close()
    const good = await vendorFor((_, response) => void response.writeHead(200, json).end('{"data":[{"url":"u"}]}'))
    const { url, receipt } = await hostedWith({
      models: { cut: { route: [to(cut), to(good)] }, closed: { route: [to(closed), to(good)] } },
      retry: { backoffMs: 1 },
    })
    expect((await generate(url, { model: 'cut' })).status).toBe(503)
    expect(await receipt()).toMatchObject({ attempts: 1 })
    expect([cut.requests.length, good.requests.length]).toEqual([1, 0])
    expect((await generate(url, { model: 'closed' })).status).toBe(200)
    expect(good.requests).toHaveLength(1)
  })

  it('gives an error before the first image of a stream its status', async () => {
    const error = { type: 'image_generation_user_error', code: 'moderation_blocked', message: 'secret' }
    const vendor = await vendorFor((_, response) => {
      response.writeHead(200, sse).end(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`)
    })
    const { url } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    const response = await generate(url, { stream: true })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'content_policy_violation' } })
  })
})

describe('image edits of an OpenAI-compatible vendor', () => {
  it('sends the form in the client’s order, with a content length and the vendor’s model name', async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(200, json).end('{"data":[{"url":"u"}]}'))
    const provider = openai({ baseURL: vendor.baseURL, modelNames: { inner: 'gpt-image-9' } })
    const { url } = await hostedWith({ models: { m: { provider, providerModel: 'inner' } } })
    const entries: Entry[] = [
      image,
      ['model', 'm'],
      ['prompt', 'a "hat"\r\nand more'],
      ['n', '1'],
      image,
      ['x[]', '1'],
      ['x[]', '2'],
    ]
    const response = await send(url, '/images/edits', formOf(...entries))
    expect(response.status).toBe(200)
    const [request] = vendor.requests
    expect(request?.url).toBe('/v1/images/edits')
    expect(request?.headers['content-length']).toBe(String(request?.body.length))
    const sent = await contentOf(await readBody(request?.body as Buffer, request?.headers['content-type'] as string))
    expect(sent.map(({ name, value, filename }) => [name, String(value), filename])).toEqual([
      ['image', 'cat', 'cat.png'],
      ['model', 'gpt-image-9', undefined],
      ['prompt', 'a "hat"\r\nand more', undefined],
      ['n', '1', undefined],
      ['image', 'cat', 'cat.png'],
      ['x[]', '1', undefined],
      ['x[]', '2', undefined],
    ])
  })

  it('sends references to images as JSON', async () => {
    const vendor = await vendorFor((_, response) => void response.writeHead(200, json).end('{"data":[{"url":"u"}]}'))
    const { url } = await hostedWith({
      models: { m: { provider: openai({ baseURL: vendor.baseURL }), providerModel: 'other', allow: ['files'] } },
    })
    const body = { model: 'm', prompt: 'a hat', images: [{ file_id: 'f' }] }
    await send(url, '/images/edits', JSON.stringify(body), json)
    expect(vendor.requests[0]?.json).toEqual({ ...body, model: 'other' })
  })
})
