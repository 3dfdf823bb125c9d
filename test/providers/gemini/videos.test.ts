/** Google's videos through a gateway on a real socket: requests, results, and who gets the key. */
import { describe, expect, test } from 'vitest'
import { key, omni, veo, world } from './video-world.ts'

describe.each([
  ['Veo on the Gemini API', veo, 'gemini'],
  ['Veo on Vertex AI', veo, 'vertex'],
  ['Omni', omni, 'gemini'],
] as const)('%s', (_, model, on) => {
  test('generates a video that the official client downloads from the gateway', async () => {
    const whole = Buffer.from('the whole video'.repeat(100_000))
    const { client, pass, submissions, vendor } = await world({ video: whole }, on)
    const { id, status } = await client.videos.create({ model, prompt: 'A hatch opens', seconds: '4' })
    expect([status, submissions[0]?.prompt, submissions[0]?.seconds]).toEqual(['queued', 'A hatch opens', 4])
    pass(6_000)
    expect(await client.videos.retrieve(id)).toMatchObject({ status: 'in_progress' })
    await expect(client.videos.downloadContent(id)).rejects.toMatchObject({ status: 409 })
    pass(6_000)
    expect(await client.videos.retrieve(id)).toMatchObject({ status: 'completed', error: null })
    expect(await (await client.videos.downloadContent(id)).text()).toBe(whole.toString())
    const part = await client.videos.downloadContent(id, undefined, { headers: { range: 'bytes=4-8' } })
    expect([part.status, await part.text()]).toEqual([206, 'whole'])
    const carried = vendor.requests.map(({ headers }) => headers['x-goog-api-key'] ?? headers.authorization)
    expect(new Set(carried)).toEqual(new Set([on === 'vertex' ? `Bearer ${key}` : key]))
  })

  test('returns no URL but the gateway’s', async () => {
    const { ended, ask } = await world({}, on)
    const { id, status, video_url: url } = await ended(model)
    expect([status, url]).toEqual(['completed', `/v1/videos/${id}/content`])
    const video = await ask(url ?? '')
    expect([video.status, video.headers.get('content-type'), await video.text()]).toEqual([200, 'video/mp4', 'a video'])
  })

  test('reports that the safety system rejected the video', async () => {
    const { ended, client } = await world({ end: 'filtered' }, on)
    const { id, status, error } = await ended(model)
    expect([status, error]).toEqual(['failed', expect.stringContaining('safety system')])
    expect((await client.videos.retrieve(id)).error).toMatchObject({ code: 'content_policy_violation' })
  })

  test('reports a failure without vendor text', async () => {
    const { ended, client } = await world({ end: 'failed' }, on)
    const { id, status } = await ended(model)
    expect([status, (await client.videos.retrieve(id)).error?.code]).toEqual(['failed', 'generation_failed'])
  })

  test('cancels a job at the deadline, at the vendor too if possible', async () => {
    const { client, pass, events, cancelled } = await world({ unfinished: Infinity }, on)
    const { id } = await client.videos.create({ model, prompt: 'A hatch', seconds: '4' })
    pass(2 * 3_600_000)
    expect(await client.videos.retrieve(id)).toMatchObject({ status: 'failed', error: { code: 'expired' } })
    expect(events.map(({ type }) => type)).toEqual(['created', 'failed'])
    expect(cancelled).toEqual(model === omni ? [0] : [])
  })

  test('accepts the first frame as a data URL', async () => {
    const { ask, submissions } = await world({}, on)
    const picture = 'data:image/png;base64,iVBORw0KGgo='
    for (const reference of [{ input_reference: picture }, { input_reference: { image_url: picture } }]) {
      const body = { model, prompt: 'It moves', duration: 4, ...reference }
      expect((await ask('/v1/videos/generations', body)).status).toBe(200)
      expect(submissions.at(-1)?.image).toEqual({ type: 'image/png', base64: 'iVBORw0KGgo=' })
    }
  })

  test('rejects unsupported fields by name, without a request to the vendor', async () => {
    const { ask, submissions } = await world({}, on)
    const wrong: readonly [object, string][] = [
      [{ duration: 99 }, 'duration'],
      [{ size: '1024x1024' }, 'size'],
      [{ size: '1280x720', aspect_ratio: '9:16' }, 'aspect_ratio'],
      [{ size: '1280x720', resolution: '1080p' }, 'resolution'],
      [{ aspect_ratio: 16 }, 'aspect_ratio'],
      [{ seed: 'many' }, 'seed'],
      [{ n: 2 }, 'n'],
      [{ sampleCount: 4 }, 'sampleCount'],
      [{ input_reference: 'https://pictures.test/a.png' }, 'input_reference'],
      [{ image_url: 'data:text/plain,no' }, 'image_url'],
      [{ fps: 60 }, 'fps'],
      ...(model === omni ? [[{ negative_prompt: 'rain' }, 'negative_prompt'] as [object, string]] : []),
    ]
    for (const [fields, param] of wrong) {
      const refused = await ask('/v1/videos/generations', { model, prompt: 'x', duration: 4, ...fields })
      expect([refused.status, ((await refused.json()) as { error: { param: string } }).error.param]).toEqual([
        400,
        param,
      ])
    }
    expect(submissions).toEqual([])
  })
})

describe('the options of a request', () => {
  const set = async (model: string, fields: object) => {
    const { ask, submissions } = await world()
    const answer = await ask('/v1/videos/generations', { model, prompt: 'x', duration: 8, ...fields })
    expect(answer.status).toBe(200)
    return submissions[0]?.settings
  }

  test.each([
    [{}, { sampleCount: 1 }],
    [{ size: '1280x720' }, { sampleCount: 1, aspectRatio: '16:9', resolution: '720p' }],
    [{ size: '1080x1920' }, { sampleCount: 1, aspectRatio: '9:16', resolution: '1080p' }],
    [
      { size: '3840x2160', resolution: '4k' },
      { sampleCount: 1, aspectRatio: '16:9', resolution: '4k' },
    ],
    [
      { aspect_ratio: '9:16', negative_prompt: 'rain', person_generation: 'allow_adult', seed: 7, n: 1 },
      { sampleCount: 1, aspectRatio: '9:16', negativePrompt: 'rain', personGeneration: 'allow_adult', seed: 7 },
    ],
    [
      {
        aspectRatio: '9:16',
        size: '720x1280',
        resolution: '720p',
        sampleCount: 1,
        user: 'ada',
        metadata: { a: 'b' },
        seed: null,
      },
      { sampleCount: 1, aspectRatio: '9:16', resolution: '720p' },
    ],
  ])('reach Veo: %o', async (fields, expected) => {
    expect(await set(veo, fields)).toEqual(expected)
  })

  test('reach Omni under its own names', async () => {
    expect(await set(omni, { size: '720x1280' })).toEqual({
      type: 'video',
      delivery: 'uri',
      aspect_ratio: '9:16',
      resolution: '720p',
    })
  })

  test('are accepted in a form too', async () => {
    const { client, submissions } = await world()
    const picture = { image_url: 'data:image/png;base64,iVBORw0KGgo=' }
    const body = { model: veo, prompt: 'x', seconds: '4', seed: 7, n: 1, input_reference: picture }
    await client.videos.create(body as never)
    expect(submissions[0]).toMatchObject({ settings: { seed: 7 }, image: { base64: 'iVBORw0KGgo=' } })
  })

  test.each([
    [veo, '4, 6, 8'],
    ['google/veo-2.0-generate-001', '5, 6, 7, 8'],
    [omni, '3, 4, 5, 6, 7, 8, 9, 10'],
  ])('%s: an invalid length is rejected with the valid ones', async (model, seconds) => {
    const { ask } = await world()
    const refused = await ask('/v1/videos/generations', { model, prompt: 'x', duration: 20 })
    expect(await refused.text()).toContain(`must be one of ${seconds} (seconds)`)
  })

  test('a model without videos is rejected as such', async () => {
    const { ask, vendor } = await world()
    const refused = await ask('/v1/videos/generations', { model: 'google/gemini-3-flash', prompt: 'x' })
    expect(await refused.json()).toMatchObject({
      error: { param: 'model', message: 'This model does not make videos.' },
    })
    expect(vendor.requests).toEqual([])
  })
})

test('the stored task does not contain the image', async () => {
  const { ask, events } = await world()
  const picture = `data:image/png;base64,${'A'.repeat(100_000)}`
  const body = { model: veo, prompt: 'x', duration: 4, callback: 'https://a.test', input_reference: picture }
  const refused = await ask('/v1/videos/generations', body)
  expect(refused.status).toBe(400)
  const { request } = events.find(({ type }) => type === 'failed')?.task.data ?? {}
  expect(request).toEqual({ model: veo, prompt: 'x', duration: 4, callback: 'https://a.test' })
})
