/** The video vendors over a socket: the requests that they get, and the meaning of their states. */
import { describe, expect, test } from 'vitest'
import { createGateway } from '../../../src/index.ts'
import {
  demo,
  gatewayVideo,
  openaiVideo,
  seedanceVideo,
  xaiVideo,
  type Provider,
  type VideoStatus,
} from '../../../src/providers/index.ts'
import type { ScriptedVendor } from '../../../src/testing/vendor.ts'
import { hosted, vendorFor } from '../../hosted.ts'

const signal = new AbortController().signal
const request = { model: 'public', prompt: 'a hatch', duration: 5, size: '1280x720' }

async function talkTo(
  make: (options: { baseURL: string; apiKey: string }) => Provider,
  ...answers: [number, unknown][]
) {
  const vendor: ScriptedVendor = await vendorFor((_, response) => {
    const [status, body] = answers.shift() ?? [500, {}]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const provider = make({ baseURL: vendor.baseURL, apiKey: 'sk-vendor' })
  return {
    vendor,
    video: provider.video as NonNullable<Provider['video']>,
    start: () => provider.video?.start({ request, model: 'up-1', openModel: false, token: 'video_1', signal }),
  }
}

/** The statuses for a vendor's responses to polling. */
async function states(make: Parameters<typeof talkTo>[0], polls: [number, unknown][]): Promise<VideoStatus[]> {
  const { video } = await talkTo(make, ...polls)
  const seen: VideoStatus[] = []
  for (let poll = 0; poll < polls.length; poll++) seen.push(await video.check({ id: 'job/1' }, { signal }))
  return seen
}

const picture = 'data:image/png;base64,UE5H'

test.each<[string, Parameters<typeof talkTo>[0], object]>([
  ['OpenAI', openaiVideo, { input_reference: { image_url: picture } }],
  ['xAI', xaiVideo, { image: { url: picture } }],
  ['Seedance', seedanceVideo, { content: [{ type: 'text' }, { type: 'image_url', image_url: { url: picture } }] }],
  ['another gateway', gatewayVideo, { input_reference: { image_url: picture } }],
])('%s gets the first frame in its own format', async (_, make, sent) => {
  for (const reference of make === gatewayVideo ? [{ image_url: picture }] : [picture, { image_url: picture }]) {
    const { vendor, video } = await talkTo(make, [200, { id: 'up', request_id: 'up' }])
    const call = { model: 'up-1', openModel: false, token: 'video_1', signal }
    await video.start({ ...call, request: { ...request, input_reference: reference } })
    expect(vendor.requests[0]?.json).toMatchObject(sent)
  }
})

describe('OpenAI', () => {
  test('gets the seconds as a string, and no field of the gateway', async () => {
    const { vendor, start } = await talkTo(openaiVideo, [200, { id: 'video_up', status: 'queued' }])
    expect(await start()).toEqual({ id: 'video_up' })
    expect(vendor.requests[0]).toMatchObject({
      method: 'POST',
      url: '/v1/videos',
      json: { model: 'up-1', prompt: 'a hatch', seconds: '5', size: '1280x720' },
    })
    expect(vendor.requests[0]?.headers).toMatchObject({ authorization: 'Bearer sk-vendor' })
  })

  test('reports its states', async () => {
    const polls: [number, unknown][] = [
      [200, { status: 'queued', progress: 0 }],
      [200, { status: 'in_progress', progress: 33 }],
      [200, { status: 'completed', progress: 100 }],
      [200, { status: 'failed', error: { code: 'moderation_blocked', message: 'secret words' } }],
    ]
    expect(await states(openaiVideo, polls)).toEqual([
      { state: 'pending', progress: 0 },
      { state: 'processing', progress: 33 },
      { state: 'completed' },
      { state: 'failed', code: 'content_policy_violation', error: expect.not.stringContaining('secret') as string },
    ])
  })
})

describe('xAI', () => {
  test('reports its states, 202 included', async () => {
    const polls: [number, unknown][] = [
      [202, { status: 'pending' }],
      [202, {}],
      [200, { status: 'done', video: { url: 'https://x.example/1.mp4', duration: 6, respect_moderation: true } }],
      [200, { status: 'done', video: { url: 'https://x.example/1.mp4', respect_moderation: false } }],
      [200, { status: 'expired' }],
    ]
    expect(
      (await states(xaiVideo, polls)).map((status) => [
        status.state,
        status.state === 'failed' ? status.code : undefined,
      ]),
    ).toEqual([
      ['pending', undefined],
      ['processing', undefined],
      ['completed', undefined],
      ['failed', 'content_policy_violation'],
      ['failed', 'expired'],
    ])
  })
})

describe('Seedance', () => {
  test('gets the prompt as a part and the size as a ratio', async () => {
    const { vendor, start } = await talkTo(seedanceVideo, [200, { id: 'cgt-1' }])
    await start()
    expect(vendor.requests[0]).toMatchObject({
      url: '/v1/contents/generations/tasks',
      json: { model: 'up-1', content: [{ type: 'text', text: 'a hatch' }], duration: 5, ratio: '16:9' },
    })
  })

  test('reports its states', async () => {
    const polls: [number, unknown][] = [
      [200, { status: 'queued' }],
      [200, { status: 'running' }],
      [200, { status: 'succeeded', content: { video_url: 'https://s.example/1.mp4' } }],
      [200, { status: 'a new word', content: { video_url: 'https://s.example/1.mp4' } }],
      [200, { status: 'a new word' }],
      [200, { status: 'cancelled' }],
    ]
    expect((await states(seedanceVideo, polls)).map((status) => status.state)).toEqual([
      'pending',
      'processing',
      'completed',
      'completed',
      'processing',
      'failed',
    ])
  })
})

describe('a vendor', () => {
  test('gets an id as one segment of a path', async () => {
    const { vendor, video } = await talkTo(gatewayVideo, [200, { status: 'pending' }])
    await video.check({ id: '../../admin?x=' }, { signal })
    expect(vendor.requests[0]?.url).toBe('/v1/videos/generations/..%2F..%2Fadmin%3Fx%3D')
  })

  test('that does not know a job causes not_found, other errors do not', async () => {
    const { video } = await talkTo(gatewayVideo, [404, {}], [500, {}], [429, {}])
    await expect(video.check({ id: '1' }, { signal })).rejects.toMatchObject({ code: 'not_found' })
    await expect(video.check({ id: '1' }, { signal })).rejects.toMatchObject({ status: 503 })
    await expect(video.check({ id: '1' }, { signal })).rejects.toMatchObject({ status: 429 })
  })

  test.each([
    [400, false],
    [401, false],
    [429, false],
    [500, true],
    [504, true],
  ])('that rejects a submission with %i may have started a job: %s', async (status, begun) => {
    const { start } = await talkTo(openaiVideo, [status, { error: { message: 'no' } }])
    const error = await Promise.resolve(start()).catch((thrown: unknown) => thrown)
    const certain = (error as { status: number }).status < 500 || !(error as { begun: boolean }).begun
    expect(certain).toBe(!begun)
  })
})

test('a gateway can use another gateway, where a repeated submission is one job', async () => {
  let passed = 0
  const clock = () => Date.now() + passed
  const back = createGateway({ keys: { 'sk-back': {} }, models: { film: demo({ videoSeconds: 0 }) }, clock })
  const backUrl = await hosted(back)
  const provider = gatewayVideo({ baseURL: `${backUrl}/v1`, apiKey: 'sk-back' })
  const submit = () => provider.video?.start({ request, model: 'film', openModel: false, token: 'video_token', signal })
  expect(await submit()).toEqual(await submit())

  const front = createGateway({
    keys: { 'sk-front': {} },
    models: { movie: { provider, providerModel: 'film' } },
    clock,
    publicUrl: 'https://front.example/ai',
  })
  const url = await hosted(front)
  const headers = { authorization: 'Bearer sk-front', 'content-type': 'application/json' }
  const submitted = await fetch(`${url}/v1/videos/generations`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'movie', prompt: 'x' }),
  })
  const { id } = (await submitted.json()) as { id: string }
  passed += 6_000
  const done = (await (await fetch(`${url}/v1/videos/generations/${id}`, { headers })).json()) as {
    status: string
    model: string
  }
  expect(done).toMatchObject({ status: 'completed', model: 'movie' })
})
