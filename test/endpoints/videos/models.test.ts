/** `GET /v1/videos/models`: what a client reads there is what a request may contain. */
import {
  demo,
  gemini,
  klingVideo,
  lumaVideo,
  minimaxVideo,
  openai,
  openaiVideo,
  runwayVideo,
  seedanceVideo,
  xaiVideo,
  type Provider,
} from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { portraitVideo, type GatewayOptions } from '../../../src/index.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { ask, errorOf } from '../ask.ts'

/** The required fields of OpenRouter's `VideoModel`, as its client library validates them. */
const videoModel = z.looseObject({
  id: z.string(),
  canonical_slug: z.string(),
  name: z.string(),
  created: z.int(),
  supported_durations: z.array(z.int()).nullable(),
  supported_resolutions: z.array(z.string()).nullable(),
  supported_aspect_ratios: z.array(z.string()).nullable(),
  supported_sizes: z.array(z.string()).nullable(),
  supported_frame_images: z.array(z.string()).nullable(),
  generate_audio: z.boolean().nullable(),
  seed: z.boolean().nullable(),
  allowed_passthrough_parameters: z.array(z.string()),
})

async function listed(options: GatewayOptions, query = '', key?: string) {
  const { url } = await hostedWith({ keys: { 'sk-test': {} }, ...options })
  const { json, status } = await ask(url, 'GET', `/videos/models${query}`, undefined, key)
  expect(status).toBe(200)
  const { data, ...rest } = json as { data: unknown[] }
  return { url, data: data.map((each) => videoModel.parse(each)), rest }
}

type Make = (options: { baseURL: string }) => Provider

const vendors: Readonly<Record<string, readonly [Make, string]>> = {
  Runway: [(options) => runwayVideo({ ...options, apiKey: 'k' }), 'veo3.1'],
  Kling: [(options) => klingVideo({ ...options, apiKey: 'k' }), 'kling-v2-6'],
  MiniMax: [(options) => minimaxVideo({ ...options, apiKey: 'k' }), 'MiniMax-Hailuo-2.3'],
  Luma: [(options) => lumaVideo({ ...options, apiKey: 'k' }), 'ray-2'],
  xAI: [xaiVideo, 'grok-imagine-video'],
  Seedance: [seedanceVideo, 'seedance-1'],
  Veo: [(options) => gemini({ ...options, apiKey: 'k' }), 'veo-3.1-generate-preview'],
  Omni: [(options) => gemini({ ...options, apiKey: 'k' }), 'gemini-omni-flash-preview'],
  demo: [() => demo(), 'demo'],
}

describe.each(Object.entries(vendors))('%s', (_, [make, providerModel]) => {
  async function world(options: object = {}) {
    const vendor = await vendorFor((__, response) => {
      const name = 'models/m/operations/job1'
      const job = { id: 'job1', request_id: 'job1', task_id: 'job1', name, data: { task_id: 'job1' } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(job))
    })
    const { url, data } = await listed({
      models: { film: { provider: make({ baseURL: vendor.baseURL }), providerModel, ...options } },
    })
    const [model] = data
    if (model === undefined) throw new Error('the model is not listed')
    /** The field that the gateway refuses; undefined if it accepts the request. */
    const refused = async (fields: object) => {
      const answer = await ask(url, 'POST', '/videos/generations', { model: 'film', prompt: 'a hatch', ...fields })
      return answer.status === 200 ? undefined : errorOf(answer).param
    }
    return { model, refused }
  }

  test('accepts every duration, size, ratio and resolution that is listed, and no other duration', async () => {
    const { model, refused } = await world()
    const of = (name: string, values: readonly unknown[] | null) => (values ?? []).map((value) => ({ [name]: value }))
    const fields = [
      ...of('duration', model.supported_durations),
      ...of('size', model.supported_sizes),
      ...of('resolution', model.supported_resolutions),
    ]
    expect(fields.length).toBeGreaterThan(1)
    for (const each of fields) expect([each, await refused(each)]).toEqual([each, undefined])
    for (const duration of [1, 3, 5, 6, 8, 9, 10, 15, 20]) {
      if (!model.supported_durations?.includes(duration)) expect(await refused({ duration })).toBe('duration')
    }
  })

  test('accepts the fields that are listed, and no others if it knows them', async () => {
    for (const allow of [[], ['mode', 'sound', 'audio', 'generate_audio']]) {
      const { model, refused } = await world({ allow })
      const usable = new Set([
        ...model.allowed_passthrough_parameters,
        ...(model.seed === true ? ['seed'] : []),
        ...(model.generate_audio === true ? ['generate_audio'] : []),
      ])
      const samples = {
        seed: 7,
        generate_audio: true,
        audio: true,
        sound: 'on',
        mode: 'pro',
        negative_prompt: 'rain',
        cfg_scale: 0.5,
        prompt_optimizer: true,
        loop: true,
        person_generation: 'allow_adult',
      }
      for (const [name, value] of Object.entries(samples)) {
        // In Kling's `mode`, a value that contradicts the size is refused.
        const fields = name === 'mode' ? { mode: value, size: '1920x1080' } : { [name]: value }
        if (usable.has(name)) expect([name, await refused(fields)]).toEqual([name, undefined])
        else if (model.seed !== null && providerModel !== 'demo')
          expect([name, await refused(fields)]).toEqual([name, name])
      }
    }
  })

  test('lists the first frame where it gets one', async () => {
    const { model, refused } = await world()
    expect(model.supported_frame_images).toEqual(providerModel === 'demo' ? [] : ['first_frame'])
    const picture = providerModel === 'ray-2' ? 'https://a.example/1.png' : 'data:image/png;base64,UE5H'
    expect(await refused({ input_reference: picture })).toBeUndefined()
  })
})

test('the form is that of OpenRouter', async () => {
  const { data, rest } = await listed({ models: { film: { provider: xaiVideo(), displayName: 'Film' } } })
  expect(rest).toEqual({ object: 'list' })
  expect(data).toEqual([
    {
      id: 'film',
      object: 'model',
      canonical_slug: 'film',
      name: 'Film',
      created: expect.any(Number) as number,
      owned_by: 'xai',
      supported_durations: [5, 10, 15, 20],
      supported_sizes: expect.arrayContaining(['854x480', '1280x720', '1080x1920', '480x720']) as string[],
      // Without sizes of the host's, a resolution would choose the price.
      supported_resolutions: null,
      supported_aspect_ratios: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'],
      supported_frame_images: ['first_frame'],
      generate_audio: null,
      seed: null,
      allowed_passthrough_parameters: [],
    },
  ])
})

test('the durations and sizes of the host come first', async () => {
  const video = { durations: [8], sizes: ['1920x1080', '720x1280'] }
  const { data } = await listed({
    models: { film: { provider: xaiVideo(), video }, tall: { provider: demo(), video: portraitVideo } },
  })
  expect(data).toMatchObject([
    {
      supported_durations: [8],
      supported_sizes: video.sizes,
      supported_resolutions: ['1080p', '720p'],
      supported_aspect_ratios: ['16:9', '9:16'],
    },
    { supported_sizes: ['720x1280', '1024x1792'], supported_resolutions: ['720p', '1024p'] },
  ])
})

test('has only models that make videos, of those that the caller may use', async () => {
  const baseURL = 'http://127.0.0.1:9/v1'
  const options: GatewayOptions = {
    keys: { 'sk-test': { group: 'some' }, 'sk-all': { group: 'all' } },
    groups: { some: { models: ['veo', 'chat', 'server', 'own'] }, all: { models: '*' } },
    models: {
      veo: { provider: gemini({ apiKey: 'k' }), providerModel: 'veo-3.1' },
      chat: { provider: gemini({ apiKey: 'k' }), providerModel: 'gemini-3.5-flash' },
      server: openai({ baseURL, apiKey: 'k' }),
      own: { provider: openai({ baseURL, apiKey: 'k' }), video: { durations: [4] } },
      other: openaiVideo({ baseURL }),
      both: { route: ['chat', 'veo'] },
    },
  }
  expect((await listed(options)).data.map(({ id }) => id)).toEqual(['veo', 'own'])
  expect((await listed(options, '', 'sk-all')).data.map(({ id }) => id)).toEqual(['veo', 'own', 'other'])
  const paged = await listed(options, '?limit=1&after=veo', 'sk-all')
  expect([paged.data.map(({ id }) => id), paged.rest]).toEqual([
    ['own'],
    { object: 'list', first_id: 'own', last_id: 'own', has_more: true },
  ])
})

test('says the price where the host shows prices', async () => {
  const price = { second: { '1280x720': '0.1', '*': '0.2' } }
  const models = { film: { provider: xaiVideo(), price } }
  const shown = await listed({ models, billing: { currency: 'USD', showPrices: true } })
  expect(shown.data[0]).toMatchObject({ price: { currency: 'USD', ...price } })
  expect((await listed({ models, billing: { currency: 'USD' } })).data[0]).not.toHaveProperty('price')
})

test('is no video', async () => {
  const { url } = await listed({ models: { film: xaiVideo() } })
  expect((await ask(url, 'DELETE', '/videos/models')).status).toBe(405)
  expect((await ask(url, 'GET', '/videos/models/content')).status).toBe(404)
})
