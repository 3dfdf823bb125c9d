/** The size of a video at vendors that use a ratio and a resolution, and what a client may choose. */
import { gatewayVideo, openaiVideo, seedanceVideo, xaiVideo, type Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { memoryLedger } from '../../../src/money/ledger/memory.ts'
import type { ModelOptions } from '../../../src/models/model-options.ts'
import { ask, errorOf } from '../../endpoints/ask.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'

type Make = (options: { baseURL: string }) => Provider

async function world(make: Make, options: Partial<ModelOptions> = {}) {
  const vendor = await vendorFor((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"up","request_id":"up"}')
  })
  const ledger = memoryLedger()
  await ledger.credit({ account: 'a', amount: 1_000_000_000n, reference: 'order' })
  const { url } = await hostedWith({
    models: {
      film: { provider: make({ baseURL: vendor.baseURL }), providerModel: 'up-1', price: { second: '1' }, ...options },
    },
    keys: { 'sk-test': { account: 'a' } },
    billing: { currency: 'CNY' },
    storage: { ledger },
  })
  return {
    /** The body that the vendor received; if the gateway rejected the request, the parameter of its error. */
    submit: async (fields: object, path = '/videos/generations') => {
      const before = vendor.requests.length
      const answer = await ask(url, 'POST', path, { model: 'film', prompt: 'A hatch', ...fields })
      if (answer.status === 200) return vendor.requests[before]?.json as Readonly<Record<string, unknown>>
      expect([answer.status, vendor.requests.length]).toEqual([400, before])
      return errorOf(answer).param
    },
    held: async () => (await ledger.account('a'))?.held,
  }
}

const vendors: [string, Make, string][] = [
  ['xAI', xaiVideo, 'aspect_ratio'],
  ['Seedance', seedanceVideo, 'ratio'],
]

describe.each(vendors)('%s', (_, make, ratio) => {
  test.each([
    ['1280x720', '16:9', '720p'],
    ['1920x1080', '16:9', '1080p'],
    ['720x1280', '9:16', '720p'],
    ['854x480', '16:9', '480p'],
    ['640x480', '4:3', '480p'],
    ['720x720', '1:1', '720p'],
  ])('gets the size %s as %s and %s', async (size, aspect, resolution) => {
    const { submit } = await world(make)
    const sent = await submit({ size })
    expect(sent).toMatchObject({ [ratio]: aspect, resolution })
    expect(sent).not.toHaveProperty('size')
  })

  test('does not get a size that it does not support', async () => {
    const { submit } = await world(make)
    for (const size of ['1024x768', '1792x1024', '1280x700', '3840x2160']) expect(await submit({ size })).toBe('size')
  })

  test('does not get a resolution or ratio that contradicts the size', async () => {
    const { submit } = await world(make, { video: { sizes: ['1280x720', '720x1280'] } })
    expect(await submit({ resolution: '1080p' })).toBe('resolution')
    expect(await submit({ Resolution: '1080p' })).toBe('Resolution')
    expect(await submit({ extra_body: { resolution: '1080p' } })).toBe('extra_body.resolution')
    expect(await submit({ size: '1280x720', [ratio]: '9:16' })).toBe(ratio)
    expect(await submit({ size: '1280x720', resolution: '720p' })).toMatchObject({ resolution: '720p' })
    expect(await submit({ [ratio]: '9:16', resolution: '720p' })).toMatchObject({ [ratio]: '9:16', resolution: '720p' })
    expect(await submit({ size: '1920x1080' })).toBe('size')
  })

  test('gets a resolution without a size only if the host allows it', async () => {
    expect(await (await world(make)).submit({ resolution: '1080p' })).toBe('resolution')
    const { submit } = await world(make, { allow: ['resolution'] })
    expect(await submit({ resolution: '1080p' })).toMatchObject({ resolution: '1080p' })
  })
})

describe.each<[string, Make]>([
  ['xAI', xaiVideo],
  ['Seedance', seedanceVideo],
  ['OpenAI’s format', openaiVideo],
  ['another gateway', gatewayVideo],
])('%s', (_, make) => {
  test.each([
    { n: 4 },
    { N: 4 },
    { num_videos: 2 },
    { frames: 289 },
    { numFrames: 289 },
    { fps: 60 },
    { resolution: '1080p' },
    { quality: 'high' },
    { mode: 'pro' },
    { generate_audio: true },
    { service_tier: 'priority' },
    { duration_seconds: 20 },
    { extra_body: { n: 4 } },
    { extra_body: { duration: 20 } },
  ])('%o does not reach the vendor', async (fields) => {
    const { submit, held } = await world(make)
    const [[name, value] = ['', '']] = Object.entries(fields)
    const param = typeof value === 'object' ? `${name}.${Object.keys(value).join('')}` : name
    expect(await submit({ duration: 5, ...fields })).toBe(param)
    expect(await submit({ seconds: '5', ...fields }, '/videos')).toBe(param)
    expect(await held()).toBe(0n)
  })

  test('fields that are harmless, unknown or set by the host reach the vendor', async () => {
    const { submit } = await world(make, { set: { quality: 'high', fps: 24 } })
    const fields = { n: 1, generate_audio: false, unheard_of: 7, fps: 60 }
    expect(await submit(fields)).toMatchObject({ ...fields, fps: 24, quality: 'high' })
  })
})

test('a length that the host sets is generated and charged', async () => {
  const { submit, held } = await world(gatewayVideo, { set: { duration: 5 } })
  expect(await submit({ duration: 20 })).toMatchObject({ duration: 5 })
  expect(await held()).toBe(5_000_000n)
})

test.each(['a --rs 1080p', 'a\n--dur 12', '--frames=289 a', 'a --FPS 60', 'a --resolution 1080p --ratio 16:9'])(
  'Seedance does not get commands in the prompt %j',
  async (prompt) => {
    const { submit } = await world(seedanceVideo)
    expect(await submit({ prompt })).toBe('prompt')
    expect(await submit({ prompt: 'a well--known hatch -- in --rsvp style' })).toMatchObject({ model: 'up-1' })
  },
)
