/** Videos when Google rejects a request, fails, or stores its files elsewhere. */
import { describe, expect, test } from 'vitest'
import { Vendor } from '../../../src/providers/gemini/vendor.ts'
import { vendorFor } from '../../hosted.ts'
import { key, omni, veo, world } from './video-world.ts'

describe('a rejected submission', () => {
  const refusal = async (code: number, error: object, fields: object = {}) => {
    const { vendor, ask, events } = await world()
    vendor.reply = (_, response) =>
      void response
        .writeHead(code, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { code, ...error } }))
    const refused = await ask('/v1/videos/generations', { model: veo, prompt: 'x', duration: 4, ...fields })
    const body = (await refused.json()) as { error: { code: string; param: string | null; message: string } }
    return { status: refused.status, retry: refused.headers.get('x-should-retry'), ...body.error, events }
  }

  test.each([
    [
      'Unsupported output video duration 4 seconds, supported durations are [8] for feature text_to_video.',
      {},
      'duration',
    ],
    ['`personGeneration` isn’t supported by this model.', { person_generation: 'x' }, 'person_generation'],
    ['`aspectRatio` must be 16:9.', { size: '720x1280' }, 'size'],
    ['`somethingElse` isn’t supported by this model.', {}, null],
  ])('%s', async (message, fields, param) => {
    expect(await refusal(400, { message, status: 'INVALID_ARGUMENT' }, fields)).toMatchObject({ status: 400, param })
  })

  test('is reported like a filtered video if it violates the content policy', async () => {
    const message = 'The prompt violates Google’s Responsible AI practices.'
    expect(await refusal(400, { message })).toMatchObject({ status: 400, code: 'content_policy_violation' })
  })

  test('is a 404 for an unknown model if clients choose the vendor’s models', async () => {
    expect(await refusal(404, { message: 'is no longer available', status: 'NOT_FOUND' })).toMatchObject({
      status: 404,
      code: 'model_not_found',
    })
  })

  test('is a 503 for an invalid key of ours', async () => {
    const details = [{ reason: 'API_KEY_INVALID' }]
    const error = await refusal(400, { message: 'API key not valid.', details })
    expect(error).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(error.events.map(({ type }) => type)).toEqual(['created', 'failed'])
  })

  test('is a 429 for its rate limit: no job has started, and the client may retry', async () => {
    const error = await refusal(429, { message: 'Slow.', details: [{ retryDelay: '6.2s' }] })
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', retry: null })
  })

  test('with a 500 may have started a job: it is neither charged nor resubmitted', async () => {
    const { status, retry, events } = await refusal(500, { message: 'Oops.' })
    expect([status, retry]).toEqual([503, 'false'])
    expect(events.map(({ type, reason }) => reason ?? type)).toEqual(['created', 'failed', 'submission_unknown'])
  })
})

describe('a failing vendor', () => {
  test.each([429, 500, 503])('is polled again after a %i', async (code) => {
    const { vendor, reply, client, pass } = await world({ unfinished: 0 })
    const { id } = await client.videos.create({ model: veo, prompt: 'x', seconds: '4' })
    vendor.reply = (_, response) => void response.writeHead(code).end('{}')
    pass(6_000)
    expect(await client.videos.retrieve(id)).toMatchObject({ status: 'queued' })
    vendor.reply = reply
    pass(60_000)
    expect(await client.videos.retrieve(id)).toMatchObject({ status: 'completed' })
  })

  test.each([
    ['a truncated response', '{"name": "models/veo', true],
    ['a response that is not JSON', '<html>', false],
    ['a finished job without a video', JSON.stringify({ done: true, response: {} }), false],
  ])('%s does not complete the task', async (_, text, cut) => {
    const { vendor, client, pass } = await world()
    const { id } = await client.videos.create({ model: veo, prompt: 'x', seconds: '4' })
    vendor.reply = (__, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + (cut ? 9 : 0) })
      response.write(text, () => (cut ? response.destroy() : response.end()))
    }
    pass(6_000)
    expect((await client.videos.retrieve(id)).status).toBe(text.startsWith('{"done"') ? 'failed' : 'queued')
  })

  test('a submission with a truncated response is reported to the host and not retried, because it may have started a job', async () => {
    const { vendor, ask, events } = await world()
    vendor.reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 99 })
      response.write('{"name"', () => response.destroy())
    }
    const refused = await ask('/v1/videos/generations', { model: veo, prompt: 'x', duration: 4 })
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([503, 'false'])
    expect(events.at(-1)).toMatchObject({ type: 'reconcile', reason: 'submission_unknown' })
    expect(vendor.requests).toHaveLength(1)
  })

  test.each([
    '../../files/secret:download',
    'models/veo/operations/..',
    'models//operations/a',
    'x?y/operations/1',
    '',
  ])('the name %j is not accepted as a job id', async (name) => {
    const { vendor, ask } = await world()
    vendor.reply = (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ name }))
    expect((await ask('/v1/videos/generations', { model: veo, prompt: 'x', duration: 4 })).status).toBe(503)
  })

  test.each([veo, omni])('%s: the task of an unknown job fails as lost', async (model) => {
    const { vendor, client, pass } = await world()
    const { id } = await client.videos.create({ model, prompt: 'x', seconds: '4' })
    vendor.reply = (_, response) => void response.writeHead(404).end('{"error":{"code":404,"status":"NOT_FOUND"}}')
    for (let turn = 0; turn < 3; turn++) {
      pass(6_000)
      await client.videos.retrieve(id)
    }
    expect(await client.videos.retrieve(id)).toMatchObject({ status: 'failed', error: { code: 'lost' } })
  })
})

describe('a file', () => {
  test.each([403, 404, 410])('that no longer exists (%i) is a 404', async (code) => {
    const { ended, ask, vendor } = await world()
    const { id } = await ended(veo)
    vendor.reply = (_, response) => void response.writeHead(code).end('{}')
    const gone = await ask(`/v1/videos/${id}/content`)
    expect([gone.status, ((await gone.json()) as { error: { code: string } }).error.code]).toEqual([404, 'not_found'])
  })

  test('on another host is downloaded without the key', async () => {
    const { ended, ask, vendor } = await world()
    const elsewhere = await vendorFor((_, response) => void response.writeHead(200).end('from elsewhere'))
    const { id } = await ended(veo)
    vendor.reply = (_, response) => void response.writeHead(302, { location: `${elsewhere.baseURL}/a?sig=1` }).end()
    expect(await (await ask(`/v1/videos/${id}/content`)).text()).toBe('from elsewhere')
    expect(vendor.requests.at(-1)?.headers['x-goog-api-key']).toBe(key)
    expect(JSON.stringify(elsewhere.requests[0])).not.toContain(key)
    expect(elsewhere.requests[0]?.url).toBe('/v1/a?sig=1')
  })

  test('behind endless or invalid redirects is a 503', async () => {
    const { ended, ask, vendor } = await world()
    const { id } = await ended(veo)
    vendor.reply = ({ url }, response) => void response.writeHead(302, { location: url }).end()
    expect((await ask(`/v1/videos/${id}/content`)).status).toBe(503)
    expect(vendor.requests.slice(-7).filter(({ url }) => url.includes('/files/'))).toHaveLength(6)
    vendor.reply = (_, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end()
    expect((await ask(`/v1/videos/${id}/content`)).status).toBe(503)
  })

  test('that is truncated ends the client’s download with an error', async () => {
    const { ended, client, vendor } = await world()
    const { id } = await ended(veo)
    vendor.reply = (_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half', () => response.destroy())
    }
    const download = await client.videos.downloadContent(id)
    await expect(download.text()).rejects.toThrow('terminated')
  })

  test.each([
    'http://files.example/a',
    'https://10.0.0.1/a',
    'https://169.254.169.254/latest',
    'ftp://files.example/a',
  ])('at %s is not downloaded for a vendor on the internet', (place) => {
    const vendor = new Vendor({ baseURL: 'https://vendor.example', apiKey: key })
    expect(() => vendor.clientAt(new URL(place))).toThrow('unavailable')
  })
})
