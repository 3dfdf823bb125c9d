/** Videos through the SDK's own mock models: their options, the responses to clients, and restarts. */
import { APICallError, AISDKError, type Experimental_VideoModelV4 as VideoModel } from '@ai-sdk/provider'
import { MockProviderV4, MockVideoModelV4 } from 'ai/test'
import { fromAiSdk } from 'modelhatch/ai-sdk'
import type { Json } from '../../../../src/wire/json.ts'
import { describe, expect, test } from 'vitest'
import { vendorFor } from '../../../hosted.ts'
import type { Sent } from '../../../providers/vendor-requests.ts'
import { rejection, world } from './video-world.ts'

type Options = Parameters<NonNullable<VideoModel['doGenerate']>>[0]
type Made = Awaited<ReturnType<NonNullable<VideoModel['doGenerate']>>>
type Status = Awaited<ReturnType<NonNullable<VideoModel['doStatus']>>>
type Warnings = Made['warnings']

const response = { timestamp: new Date(0), modelId: 'mock', headers: undefined }
const pending: Status = { status: 'pending', response }
const png = 'iVBORw0KGgo='

function videoOf(text: string): Made['videos'] {
  return [{ type: 'base64', data: Buffer.from(text).toString('base64'), mediaType: 'video/webm' }]
}

function made(videos = videoOf('a video'), warnings: Warnings = []): Made {
  return { videos, warnings, response }
}

function completed(videos?: Made['videos'], warnings?: Warnings): Status {
  return { status: 'completed', ...made(videos, warnings) }
}

function httpError(statusCode: number, body: object = {}): APICallError {
  const responseBody = { error: { message: 'secret', ...body } }
  const url = 'https://secret.test'
  return new APICallError({
    message: 'secret',
    url,
    requestBodyValues: {},
    statusCode,
    responseBody: JSON.stringify(responseBody),
  })
}

/** A model with `doStart` and `doStatus`. */
function pollable(status: () => Status | Error = () => completed(), start: () => Warnings | Error = () => []) {
  const asked: Sent[] = []
  const operations: unknown[] = []
  const model = new MockVideoModelV4({
    doGenerate: undefined,
    async doStart(options) {
      asked.push(options)
      const warnings = start()
      if (warnings instanceof Error) throw warnings
      return { operation: { job: asked.length }, warnings, response }
    },
    async doStatus({ operation }) {
      operations.push(operation)
      const result = status()
      if (result instanceof Error) throw result
      return result
    },
  })
  return { model, asked, operations }
}

/** A model with `doGenerate` only. */
function unpollable(specificationVersion = 'v4') {
  const calls: (PromiseWithResolvers<Made> & { readonly options: Options })[] = []
  const model = new MockVideoModelV4({
    doGenerate(options) {
      const call = { ...Promise.withResolvers<Made>(), options }
      calls.push(call)
      return call.promise
    },
  })
  Object.assign(model, { specificationVersion })
  const last = () => calls.at(-1) as (typeof calls)[0]
  return { model, calls, last }
}

describe('a video request', () => {
  const sent = async (fields: object, options: Parameters<typeof fromAiSdk>[1] = {}) => {
    const { model, asked } = pollable()
    const { ask } = await world().process(model, options)
    const body = { model: 'film', prompt: 'A hatch opens', duration: 8, ...fields }
    expect((await ask('/v1/videos/generations', body)).status).toBe(200)
    const { abortSignal, ...rest } = asked[0]
    expect(abortSignal).toBeInstanceOf(AbortSignal)
    return rest as object
  }
  const plain = { prompt: 'A hatch opens', duration: 8, n: 1, providerOptions: {} }
  const shown = { type: 'file', mediaType: 'image/png', data: png }

  test.each<[object, object]>([
    [{ n: 1, user: 'u', metadata: {} }, {}],
    [{ size: '1280x720' }, { resolution: '1280x720', aspectRatio: '16:9' }],
    [{ size: '720x1280' }, { resolution: '720x1280', aspectRatio: '9:16' }],
    [{ size: '854x480' }, { resolution: '854x480', aspectRatio: '16:9' }],
    [{ size: '1000x300' }, { resolution: '1000x300' }],
    [
      { aspect_ratio: '9:16', resolution: '720x1280' },
      { resolution: '720x1280', aspectRatio: '9:16' },
    ],
    [{ aspectRatio: 'adaptive' }, { aspectRatio: 'adaptive' }],
    [
      { seed: 7, fps: '24', generate_audio: true },
      { seed: 7, fps: 24, generateAudio: true },
    ],
    [{ input_reference: `data:image/png;base64,${png}` }, { image: shown }],
    [{ input_reference: { image_url: `data:image/png;base64,${png}` } }, { image: shown }],
    [
      { input_reference: 'https://pictures.test/a.png' },
      { image: { type: 'url', url: 'https://pictures.test/a.png' } },
    ],
  ])('%j reaches the model as SDK options', async (fields, expected) => {
    expect(await sent(fields)).toEqual({ ...plain, ...expected })
  })

  test('is sent with the host’s provider options and without its dropParams', async () => {
    const providerOptions = { mock: { speed: 'high' } }
    const options = await sent({ negative_prompt: 'rain' }, { providerOptions, dropParams: ['negative_prompt'] })
    expect(options).toEqual({ ...plain, providerOptions })
  })

  test.each<[object, string]>([
    [{ n: 2 }, 'n'],
    [{ negative_prompt: 'rain' }, 'negative_prompt'],
    [{ size: '1280x720', resolution: '1920x1080' }, 'resolution'],
    [{ size: '1280x720', aspect_ratio: '9:16' }, 'aspect_ratio'],
    [{ resolution: '720p' }, 'resolution'],
    [{ aspect_ratio: 'wide' }, 'aspect_ratio'],
    [{ fps: 'many' }, 'fps'],
    [{ input_reference: 'file:///etc/passwd' }, 'input_reference'],
    [{ duration: 5 }, 'duration'],
  ])('%j is rejected with the name of the field, before the model is called', async (fields, param) => {
    const { model, asked } = pollable()
    expect(await rejection(await world().process(model), fields)).toMatchObject({ status: 400, param })
    expect(asked).toEqual([])
  })

  test.each<[string, object, string]>([
    ['seed', { seed: 1 }, 'seed'],
    ['aspectRatio', { aspect_ratio: '1:1' }, 'aspect_ratio'],
    ['resolution', { size: '1280x720' }, 'size'],
    ['generateAudio', { generate_audio: true }, 'generate_audio'],
    ['URL-based image input', { input_reference: 'https://pictures.test/a.png' }, 'input_reference'],
    ['duration', {}, 'duration'],
  ])('is rejected if the model warns of %s, unless the field is in dropParams', async (feature, fields, param) => {
    const { model } = pollable(undefined, () => [{ type: 'unsupported', feature, details: 'secret' }])
    const rejected = await rejection(await world().process(model), fields)
    expect(rejected).toMatchObject({ status: 400, code: 'unsupported_parameter', param })
    expect(JSON.stringify(rejected)).not.toContain('secret')
    const { ask } = await world().process(model, { dropParams: [param] })
    const accepted = await ask('/v1/videos/generations', { model: 'film', prompt: 'x', duration: 4, ...fields })
    expect(accepted.status).toBe(200)
  })

  test('is accepted if the model warns of a field that was not sent', async () => {
    const { model } = pollable(undefined, () => [
      { type: 'unsupported', feature: 'fps' },
      { type: 'other', message: 'x' },
    ])
    await (await world().process(model)).submit({ size: '1280x720' })
  })
})

describe('a model with doStart and doStatus', () => {
  test('makes a video for the official client, in any process that shares the task store', async () => {
    const answers: Status[] = [pending, completed(videoOf('the whole video')), completed(videoOf('the whole video'))]
    const { model, operations } = pollable(() => answers.shift() ?? completed(videoOf('the whole video')))
    const { process, events, spent } = world()
    const first = await process(model)
    const id = await first.submit()
    expect(await first.next(id)).toMatchObject({ status: 'in_progress' })
    await first.gateway.close({ graceMs: 0 })
    const second = await process(model)
    expect(await second.next(id)).toMatchObject({ status: 'completed', error: null })
    const download = await second.client.videos.downloadContent(id)
    expect([download.headers.get('content-type'), await download.text()]).toEqual(['video/webm', 'the whole video'])
    const part = await second.client.videos.downloadContent(id, undefined, { headers: { range: 'bytes=4-8' } })
    expect([part.status, await part.text()]).toEqual([206, 'whole'])
    expect(operations).toEqual(Array.from({ length: 4 }, () => ({ job: 1 })))
    expect([events.map(({ type }) => type), await spent()]).toEqual([['created', 'completed'], 4n])
  })

  test.each<[string, Made['videos'][0]]>([
    ['base64', { type: 'base64', data: Buffer.from('the bytes').toString('base64'), mediaType: 'video/mp4' }],
    ['binary', { type: 'binary', data: Buffer.from('the bytes'), mediaType: 'text/html' }],
    ['a data URL', { type: 'url', url: 'data:video/mp4;base64,dGhlIGJ5dGVz', mediaType: 'video/mp4' }],
  ])('serves a video that the model returns as %s', async (_, video) => {
    const { submit, next, client } = await world().process(pollable(() => completed([video])).model)
    const id = await submit()
    expect(await next(id)).toMatchObject({ status: 'completed' })
    const download = await client.videos.downloadContent(id)
    expect([download.headers.get('content-type'), await download.text()]).toEqual(['video/mp4', 'the bytes'])
  })

  test('whose video URL contains a key: the key is in no response, event or store', async () => {
    const vendor = await vendorFor((_, reply) => void reply.writeHead(200).end('from there'))
    const video = { type: 'url', url: `${vendor.baseURL}/a.mp4?key=secret`, mediaType: 'video/mp4' } as const
    const { process, events, store } = world()
    const { submit, next, ask, client } = await process(pollable(() => completed([video])).model, {
      allowPrivateNetwork: true,
    })
    const id = await submit()
    await next(id)
    const response = await (await ask(`/v1/videos/generations/${id}`)).text()
    expect(response).toContain(`/v1/videos/${id}/content`)
    expect(response + JSON.stringify([events, await store.find('a', id, Date.now())])).not.toContain('secret')
    expect(await (await client.videos.downloadContent(id)).text()).toBe('from there')
    expect(vendor.requests[0]?.url).toBe('/v1/a.mp4?key=secret')
  })

  test.each(['http://127.0.0.1', 'https://127.0.0.1', 'http://vendor.test', 'ftp://vendor.test', ''])(
    'cannot make the gateway fetch %s',
    async (origin) => {
      const vendor = await vendorFor((_, reply) => void reply.writeHead(200).end('secret'))
      const url = `${origin}:${new URL(vendor.baseURL).port}/a`
      const { submit, next, ask } = await world().process(
        pollable(() => completed([{ type: 'url', url, mediaType: 'video/mp4' }])).model,
      )
      const id = await submit()
      await next(id)
      expect((await ask(`/v1/videos/${id}/content`)).status).toBe(503)
      expect(vendor.requests).toEqual([])
    },
  )

  test.each<[string, Status | Error, string]>([
    ['reports an error', { status: 'error', error: 'secret: oops', response }, 'generation_failed'],
    ['reports moderation', { status: 'error', error: 'moderation', response }, 'content_policy_violation'],
    [
      'throws an error',
      new AISDKError({ name: 'MOCK_VIDEO_GENERATION_ERROR', message: 'secret: no videos' }),
      'generation_failed',
    ],
    ['returns no video', completed([]), 'generation_failed'],
    ['uploads the video elsewhere', completed([{ type: 'uploaded', mediaType: 'video/mp4' }]), 'generation_failed'],
    ['ignores a field', completed(undefined, [{ type: 'unsupported', feature: 'seed' }]), 'unsupported_parameter'],
  ])('that %s: the task fails without a charge', async (_, status, code) => {
    const { process, spent } = world()
    const { submit, next } = await process(pollable(() => status).model)
    const { status: state, error } = await next(await submit({ seed: 1 }))
    expect([state, error?.code, await spent()]).toEqual(['failed', code, 0n])
    expect(error?.message).not.toContain('secret')
  })

  test.each<[string, Error]>([
    ['500', httpError(500)],
    ['429', httpError(429)],
    ['a response that is not JSON', httpError(200)],
    ['no connection', new TypeError('fetch failed')],
  ])('that cannot be polled now (%s) is polled again', async (_, failure) => {
    const answers = [failure]
    const { submit, next } = await world().process(pollable(() => answers.shift() ?? completed()).model)
    const id = await submit()
    expect(await next(id)).toMatchObject({ status: 'queued' })
    expect(await next(id)).toMatchObject({ status: 'completed' })
  })

  test.each([404, 410])('that no longer knows a job (%i): the task fails as lost', async (code) => {
    const { submit, next } = await world().process(pollable(() => httpError(code)).model)
    const id = await submit()
    await next(id)
    await next(id)
    expect(await next(id)).toMatchObject({ status: 'failed', error: { code: 'lost' } })
  })

  test('is polled again for each download: a video it no longer has is a 404', async () => {
    const answers: Status[] = [completed()]
    const { submit, next, ask } = await world().process(pollable(() => answers.shift() ?? httpError(404)).model)
    const id = await submit()
    await next(id)
    expect((await ask(`/v1/videos/${id}/content`)).status).toBe(404)
  })

  test.each<[string, Error, number, string | null]>([
    ['rejects a value', httpError(400, { code: 'unsupported_value', param: 'seed' }), 400, 'seed'],
    [
      'rejects a value in Google’s format',
      httpError(400, { status: 'INVALID_ARGUMENT', message: 'Wrong: durationSeconds' }),
      400,
      'duration',
    ],
    ['rejects too many requests', httpError(429), 429, null],
    ['rejects the API key', httpError(401), 503, null],
  ])('that %s: the error is that of any vendor', async (_, failure, status, param) => {
    const { process, events } = world()
    const { model } = pollable(undefined, () => failure)
    const rejected = await rejection(await process(model), { seed: 1 })
    expect(rejected).toMatchObject({ status, param })
    expect(JSON.stringify(rejected)).not.toContain('secret')
    expect(events.map(({ type }) => type)).toEqual(['created', 'failed'])
  })

  test('whose response to a submission is lost: the host gets a reconcile event, nothing is charged or retried', async () => {
    const { process, events, spent } = world()
    const { model, asked } = pollable(undefined, () => new TypeError('fetch failed'))
    expect(await rejection(await process(model), {})).toMatchObject({ status: 503 })
    expect(events.at(-1)).toMatchObject({ type: 'reconcile', reason: 'submission_unknown' })
    expect([asked.length, await spent()]).toEqual([1, 0n])
  })
})

describe('a model with doGenerate only', () => {
  test.each(['v3', 'v4'])('makes a video in this process, version %s', async (version) => {
    const { process, spent } = world()
    const { model, last } = unpollable(version)
    const { submit, next, client } = await process(model)
    const id = await submit({ size: '1280x720' })
    expect(last().options).toMatchObject({ prompt: 'A hatch opens', duration: 4, aspectRatio: '16:9' })
    expect(await next(id)).toMatchObject({ status: 'in_progress' })
    last().resolve(made(videoOf('the whole video')))
    expect(await next(id)).toMatchObject({ status: 'completed' })
    expect(await (await client.videos.downloadContent(id)).text()).toBe('the whole video')
    const part = await client.videos.downloadContent(id, undefined, { headers: { range: 'bytes=4-8' } })
    expect([part.status, await part.text(), await spent()]).toEqual([206, 'whole', 4n])
  })

  test.each<[string, Error | Made, string]>([
    ['is rejected', httpError(400, { code: 'content_policy_violation' }), 'content_policy_violation'],
    ['fails', httpError(503), 'generation_failed'],
    ['times out', new AISDKError({ name: 'MOCK_VIDEO_GENERATION_TIMEOUT', message: 'secret' }), 'generation_failed'],
    ['returns no video', made([]), 'generation_failed'],
    ['ignores a field', made(undefined, [{ type: 'unsupported', feature: 'fps' }]), 'unsupported_parameter'],
  ])('whose call %s: the task fails without a charge', async (_, end, code) => {
    const { process, spent } = world()
    const { model, last } = unpollable()
    const { submit, next } = await process(model)
    const id = await submit({ fps: 24 })
    if (end instanceof Error) last().reject(end)
    else last().resolve(end)
    const { status, error } = await next(id)
    expect([status, error?.code, await spent()]).toEqual(['failed', code, 0n])
    expect(error?.message).not.toContain('secret')
  })

  test('is stopped when its task is deleted or expires, and when the gateway closes', async () => {
    const { model, calls } = unpollable()
    const { process, pass, events } = world()
    const { submit, client, gateway } = await process(model)
    await client.videos.delete(await submit())
    expect(calls[0]?.options.abortSignal?.aborted).toBe(true)
    const late = await submit()
    pass(2 * 3_600_000)
    expect(await client.videos.retrieve(late)).toMatchObject({ error: { code: 'expired' } })
    expect(calls[1]?.options.abortSignal?.aborted).toBe(true)
    await submit()
    await gateway.close({ graceMs: 0 })
    expect(calls[2]?.options.abortSignal?.aborted).toBe(true)
    // A model that ignores the abort has no effect later.
    calls[0]?.reject(new Error('too late'))
    calls[1]?.resolve(made())
    expect(events.filter(({ type }) => type === 'completed')).toEqual([])
  })

  test('whose process ends first: the task fails as lost, without a charge', async () => {
    const { model } = unpollable()
    const { process, spent } = world()
    const first = await process(model)
    const id = await first.submit()
    await first.gateway.close({ graceMs: 0 })
    const second = await process(model)
    await second.next(id)
    await second.next(id)
    expect(await second.next(id)).toMatchObject({ status: 'failed', error: { code: 'lost' } })
    expect(await spent()).toBe(0n)
  })

  test('whose process ends later: the video is a 404, the task still completed', async () => {
    const { model, last } = unpollable()
    const { process } = world()
    const first = await process(model)
    const id = await first.submit()
    last().resolve(made())
    await first.next(id)
    const { client, ask } = await process(model)
    expect(await client.videos.retrieve(id)).toMatchObject({ status: 'completed' })
    expect((await ask(`/v1/videos/${id}/content`)).status).toBe(404)
  })

  test('keeps at most videoBytes of videos, the newest', async () => {
    const { model, last } = unpollable()
    const { submit, next, ask } = await world().process(model, { videoBytes: 10 })
    const finished = async (text: string) => {
      const id = await submit()
      last().resolve(made(videoOf(text)))
      return next(id)
    }
    const [old, young, large] = [await finished('6bytes'), await finished('5byte'), await finished('elevenbytes')]
    expect([old.status, young.status, large.status]).toEqual(['completed', 'completed', 'failed'])
    expect((await ask(`/v1/videos/${old.id}/content`)).status).toBe(404)
    expect((await ask(`/v1/videos/${young.id}/content`)).status).toBe(200)
  })

  const withoutGateway = (model: MockVideoModelV4) => {
    const provider = fromAiSdk(model)
    const { video } = provider
    if (video === undefined) throw new Error('the provider has no videos')
    const { signal } = new AbortController()
    const request = { model: 'm', prompt: 'x', duration: 4 }
    const start = () => video.start({ request, model: 'm', openModel: false, token: 't', signal })
    const check = (operation: Json) => video.check(operation, { signal })
    const close = async () => provider.close?.()
    return { video, close, signal, start, check }
  }

  test('discards the result of a stopped call, and all results when the provider is closed', async () => {
    const { model, last } = unpollable()
    const { video, close, signal, start, check } = withoutGateway(model)
    const stopped = await start()
    await video.cancel?.(stopped, { signal })
    last().resolve(made())
    const finished = await start()
    last().resolve(made())
    await expect.poll(() => check(finished)).toEqual({ state: 'completed' })
    await expect(check(stopped)).rejects.toMatchObject({ code: 'not_found' })
    await close()
    await expect(check(finished)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('runs at most 256 calls at once, and none in a closed provider', async () => {
    const { model, calls } = unpollable()
    const { video, close, signal, start } = withoutGateway(model)
    const [first] = await Promise.all(Array.from({ length: 256 }, start))
    await expect(start()).rejects.toMatchObject({ code: 'service_unavailable', retry: 'next', begun: false })
    await video.cancel?.(first as Json, { signal })
    await start()
    await close()
    await close()
    await expect(start()).rejects.toMatchObject({ retry: 'next', begun: false })
    expect(calls.filter(({ options }) => options.abortSignal?.aborted)).toHaveLength(257)
  })
})

describe('finding a video model', () => {
  test.each(['videoModel', 'video'])('in the member %s of an SDK provider', async (name) => {
    const { model } = pollable()
    const { process } = world()
    const provider = Object.assign(new MockProviderV4(), {
      [name]: (id: string) => (id === 'known' ? model : missing()),
    })
    const { submit, next } = await process(provider)
    expect(await next(await submit({ model: 'sdk/known' }))).toMatchObject({ status: 'completed' })
    expect(await rejection(await process(provider), { model: 'sdk/unknown' })).toMatchObject({
      status: 404,
      code: 'model_not_found',
    })
  })

  test('a model with neither doGenerate nor both doStart and doStatus is rejected', () => {
    const { model } = pollable()
    expect(() => fromAiSdk(Object.assign(model, { doStatus: undefined }))).toThrow(/expected a model or a provider/)
  })
})

function missing(): never {
  throw Object.assign(new Error('no such model'), { name: 'AI_NoSuchModelError' })
}
