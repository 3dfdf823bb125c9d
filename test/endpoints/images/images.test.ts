import { describe, expect, it } from 'vitest'
import { imageModels } from '../../../src/index.ts'
import { defineProvider, ProviderError, type ImageAnswer, retrySame } from '../../../src/providers/index.ts'
import { hostedWith } from '../../hosted.ts'

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function painter(answer: () => ImageAnswer | Promise<ImageAnswer> = () => ({ data: [{ b64_json: pixel }] })) {
  return defineProvider({ name: 'painter', generateImages: answer })
}

function breakingOff(after: number) {
  return painter(async function* () {
    for (let index = 0; index < after; index++) {
      yield { type: 'image_generation.partial_image', b64_json: 'AAAA', partial_image_index: index }
    }
    throw retrySame(new Error('cut'))
  })
}

function ask(url: string, body: object = {}): Promise<Response> {
  return fetch(`${url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', prompt: 'a cat', ...body }),
  })
}

async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } }
  return { status: response.status, ...error }
}

async function framesOf(response: Response): Promise<{ event: string | undefined; data: unknown }[]> {
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '')
  return frames.map((frame) => {
    const [, event, data] = /^(?:event: (.*)\n)?data: (.*)$/.exec(frame) ?? []
    return { event, data: data === '[DONE]' ? data : JSON.parse(data ?? '') }
  })
}

describe('generated images', () => {
  it('are passed on unchanged, with the creation time', async () => {
    const { url } = await hostedWith({ models: { m: painter() }, clock: () => 1_700_000_000_000 })
    const response = await ask(url)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await response.json()).toEqual({ created: 1_700_000_000, data: [{ b64_json: pixel }] })
  })

  it('become data URLs or base64, as the client requests', async () => {
    const inline = `data:image/png;base64,${pixel}`
    const { url } = await hostedWith({
      models: {
        base64: painter(() => ({ data: [{ b64_json: pixel, revised_prompt: 'a black cat' }] })),
        jpeg: painter(() => ({ data: [{ b64_json: '/9j/4AA=' }] })),
        inline: painter(() => ({ data: [{ url: inline }] })),
        web: painter(() => ({ data: [{ url: 'https://example.com/cat.png' }] })),
      },
    })
    const made = async (model: string, format: string) => {
      const { data } = (await (await ask(url, { model, response_format: format })).json()) as { data: unknown[] }
      return data[0]
    }
    expect(await made('base64', 'url')).toEqual({ url: inline, revised_prompt: 'a black cat' })
    expect(await made('jpeg', 'url')).toEqual({ url: 'data:image/jpeg;base64,/9j/4AA=' })
    expect(await made('inline', 'b64_json')).toEqual({ b64_json: pixel })
    expect(await made('web', 'b64_json')).toEqual({ url: 'https://example.com/cat.png' })
    expect(await made('inline', 'url')).toEqual({ url: inline })
  })

  it('are counted in the receipt', async () => {
    const usage = { input_tokens: 5, output_tokens: 100, total_tokens: 105, input_tokens_details: { text_tokens: 5 } }
    const made = { data: [{ b64_json: pixel }, { b64_json: pixel }], size: '1024x1024', usage }
    const { url, receipt } = await hostedWith({ models: { m: painter(() => made) } })
    await ask(url, { n: 2, size: 'auto', quality: 'hd' })
    expect(await receipt()).toMatchObject({
      endpoint: 'images.generations',
      outcome: 'completed',
      units: { images: 2, size: '1024x1024', quality: 'hd' },
      usage: { prompt_tokens: 5, completion_tokens: 100, total_tokens: 105 },
      usageSource: 'reported',
    })
  })
})

describe('the limits of a model', () => {
  const kinds = {
    a: { image: imageModels.dallE3, right: ['1024x1024', '1792x1024', '1024x1792'], wrong: ['256x256', '1536x1024'] },
    b: { image: imageModels.dallE2, right: ['256x256', '512x512', '1024x1024'], wrong: ['1792x1024', 'auto'] },
    c: { image: imageModels.gptImage1, right: ['1024x1024', '1536x1024', '1024x1536'], wrong: ['512x512', '1x1'] },
    other: {
      image: undefined,
      right: ['640x360', '99999x1', 'auto'],
      wrong: ['0x1', '1024', '1024X1024', '16:9', '1x1 '],
    },
  }

  it.each(Object.entries(kinds))('allow sizes of kind %s; the error for others lists them', async (_, kind) => {
    const { image, right, wrong } = kind
    const { url } = await hostedWith({ models: { m: { provider: painter(), ...(image && { image }) } } })
    for (const size of right) expect((await ask(url, { size })).status).toBe(200)
    for (const size of wrong) {
      const error = await errorOf(await ask(url, { size }))
      expect(error).toMatchObject({ status: 400, code: 'invalid_request_error', param: 'size' })
      for (const allowed of image?.sizes ?? ['<width>x<height>']) expect(error.message).toContain(allowed)
    }
  })

  it('allow 1 image up to the maximum of the model', async () => {
    const { url } = await hostedWith({
      models: { m: painter(), one: { provider: painter(), image: imageModels.dallE3 } },
    })
    for (const n of [0, 11, 1.5, '2', -1])
      expect(await errorOf(await ask(url, { n }))).toMatchObject({ status: 400, param: 'n' })
    for (const n of [1, 10, null]) expect((await ask(url, { n })).status).toBe(200)
    expect(await errorOf(await ask(url, { model: 'one', n: 2 }))).toMatchObject({ status: 400, param: 'n' })
  })

  it('allow the qualities of the specification, or those of the model', async () => {
    const own = { provider: painter(), image: { qualities: ['draft'] } }
    const { url } = await hostedWith({ models: { m: painter(), own } })
    for (const quality of ['standard', 'hd', 'high']) expect((await ask(url, { quality })).status).toBe(200)
    expect(await errorOf(await ask(url, { quality: 'draft' }))).toMatchObject({ status: 400, param: 'quality' })
    expect((await ask(url, { model: 'own', quality: 'draft' })).status).toBe(200)
    expect((await errorOf(await ask(url, { model: 'own', quality: 'hd' }))).message).toContain('"draft"')
  })

  it.each([
    [{ prompt: undefined }, 'prompt'],
    [{ prompt: '' }, 'prompt'],
    [{ response_format: 'png' }, 'response_format'],
    [{ partial_images: 4 }, 'partial_images'],
    [{ stream: 'yes' }, 'stream'],
  ])('do not allow %o', async (body, param) => {
    const { url } = await hostedWith({ models: { m: painter() } })
    expect(await errorOf(await ask(url, body))).toMatchObject({ status: 400, param })
  })

  it('do not allow images if it only supports chat', async () => {
    const { url } = await hostedWith({ models: { m: defineProvider({ name: 'talker' }) } })
    expect(await errorOf(await ask(url))).toMatchObject({ status: 400, code: 'unsupported_value', param: 'model' })
  })

  it('remove "response_format" if it only supports base64', async () => {
    const seen: unknown[] = []
    const provider = defineProvider({
      name: 'painter',
      generateImages(call) {
        seen.push([call.field('response_format'), call.request.response_format, call.json({}).toString()])
        return { data: [{ b64_json: pixel }] }
      },
    })
    const { url } = await hostedWith({ models: { m: { provider, image: imageModels.gptImage1 } } })
    const response = await ask(url, { response_format: 'url' })
    expect(await response.json()).toMatchObject({ data: [{ url: `data:image/png;base64,${pixel}` }] })
    expect(seen).toEqual([[undefined, undefined, '{"model":"m","prompt":"a cat"}']])
  })
})

describe('a generation that fails', () => {
  const begun = new ProviderError('service_unavailable', { retry: 'same', vendorStatus: 500 })

  it.each([
    ['of the vendor', begun],
    ['of a plug-in', new TypeError('a fault')],
  ])('because %s gets a 500 that advises to change the prompt, after one attempt', async (_, error) => {
    let asked = 0
    const failing = painter(() => {
      asked++
      throw error
    })
    const { url, receipt } = await hostedWith({
      models: { m: { route: [{ provider: failing }, { provider: painter() }] } },
    })
    const response = await ask(url)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await errorOf(response)).toMatchObject({
      status: 500,
      code: 'server_error',
      type: 'server_error',
      message: expect.stringMatching(/change the prompt/i),
    })
    expect(asked).toBe(1)
    expect(await receipt()).toMatchObject({ outcome: 'failed', attempts: 1 })
  })

  it('after the vendor may have started is retried neither by the gateway nor by the client', async () => {
    const cut = painter(() => Promise.reject(retrySame(new Error('cut'))))
    const { url } = await hostedWith({ models: { m: { route: [{ provider: cut }, { provider: painter() }] } } })
    const response = await ask(url)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(response.status).toBe(503)
  })

  it('by a timeout is not retried either', async () => {
    const stuck = painter(() => new Promise<never>(() => undefined))
    const { url } = await hostedWith({ models: { m: stuck }, timeouts: { firstContentMs: 20 } })
    const response = await ask(url)
    expect(response.status).toBe(503)
    expect(response.headers.get('x-should-retry')).toBe('false')
  })

  it.each([
    ['did not receive the request', retrySame(new Error('refused'), { begun: false })],
    [
      'rejected it by a rate limit',
      new ProviderError('rate_limit_exceeded', { retry: 'same', vendorWaitMs: 1, begun: false }),
    ],
  ])('at a vendor that %s is retried at the next one', async (_, error) => {
    const refusing = painter(() => Promise.reject(error))
    const { url, receipt } = await hostedWith({
      models: { m: { route: [{ provider: refusing }, { provider: painter() }] } },
      retry: { backoffMs: 1 },
    })
    expect((await ask(url)).status).toBe(200)
    expect(await receipt()).toMatchObject({ attempts: 3 })
  })

  it('is also a response without an image', async () => {
    const { url } = await hostedWith({ models: { none: painter(() => ({ data: [] })), nothing: painter(() => ({})) } })
    for (const model of ['none', 'nothing']) {
      expect(await errorOf(await ask(url, { model }))).toMatchObject({ status: 500, code: 'server_error' })
    }
  })
})

describe('a stream of images', () => {
  const type = 'image_generation.completed'

  it('passes on partial images with event names, and fills in missing fields', async () => {
    const provider = painter(async function* () {
      yield { type: 'image_generation.partial_image', b64_json: 'AAAA', partial_image_index: 0 }
      yield { type, b64_json: pixel, size: '64x64' }
    })
    const { url, receipt } = await hostedWith({ models: { m: provider }, clock: () => 1_700_000_000_000 })
    const response = await ask(url, { stream: true, partial_images: 1, quality: 'low' })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const common = { created_at: 1_700_000_000, quality: 'low', background: 'auto', output_format: 'png' }
    expect(await framesOf(response)).toEqual([
      {
        event: 'image_generation.partial_image',
        data: {
          type: 'image_generation.partial_image',
          b64_json: 'AAAA',
          partial_image_index: 0,
          size: 'auto',
          ...common,
        },
      },
      { event: type, data: { type, b64_json: pixel, size: '64x64', ...common, usage: expect.anything() } },
      { event: undefined, data: '[DONE]' },
    ])
    expect(await receipt()).toMatchObject({ stream: true, units: { images: 1, size: '64x64', quality: 'low' } })
  })

  it('is made from a non-streaming response, and the other way round', async () => {
    const events = painter(async function* () {
      yield { type: 'image_generation.partial_image', b64_json: 'AAAA' }
      yield { type, b64_json: pixel, size: '64x64', created_at: 5 }
    })
    const { url } = await hostedWith({ models: { whole: painter(), events } })
    const frames = await framesOf(await ask(url, { model: 'whole', stream: true }))
    expect(frames.map(({ event }) => event)).toEqual([type, undefined])
    expect(frames[0]?.data).toMatchObject({ type, b64_json: pixel })
    const whole = await (await ask(url, { model: 'events' })).json()
    expect(whole).toEqual({ created: 5, data: [{ b64_json: pixel }], size: '64x64' })
  })

  it('that fails gets an HTTP status before its first event, and an error event later', async () => {
    const { url } = await hostedWith({ models: { early: breakingOff(0), late: breakingOff(1) } })
    expect((await ask(url, { model: 'early', stream: true })).status).toBe(503)
    const frames = await framesOf(await ask(url, { model: 'late', stream: true }))
    expect(frames.at(-1)?.data).toMatchObject({ error: { code: 'service_unavailable' } })
  })

  it('omits events whose type contains a line break', async () => {
    const provider = painter(async function* () {
      yield { type: 'x\ndata: {}\n\nevent: y', b64_json: 'AAAA' }
      yield { type, b64_json: pixel }
    })
    const { url } = await hostedWith({ models: { m: provider } })
    expect((await framesOf(await ask(url, { stream: true }))).map(({ event }) => event)).toEqual([type, undefined])
  })

  it('without an image ends with an error event', async () => {
    const provider = painter(async function* () {
      yield { type: 'image_generation.partial_image', b64_json: 'AAAA' }
    })
    const { url } = await hostedWith({ models: { m: provider } })
    const frames = await framesOf(await ask(url, { stream: true }))
    expect(frames.at(-1)?.data).toMatchObject({ error: { code: 'server_error' } })
  })
})
