import { get, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import OpenAI, { toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import { landscapeVideo, portraitVideo, type TaskEvent } from '../../../src/index.ts'
import { demo, type Provider, type VideoProvider } from '../../../src/providers/index.ts'
import { createGateway } from '../../../src/index.ts'
import { everyBundle } from '../../every-bundle.ts'
import { hosted, hostedWith } from '../../hosted.ts'
import { storeTimeouts } from '../../patience.ts'

interface Served {
  readonly url: string
  readonly events: TaskEvent[]
  readonly client: OpenAI
  /** Advances the clock of the gateway. */
  readonly pass: (ms: number) => void
  readonly ask: (
    path: string,
    init?: { body?: unknown; key?: string; headers?: Record<string, string>; method?: string },
  ) => Promise<Response>
}

async function served(provider: Provider = demo({ videoSeconds: 0 })): Promise<Served> {
  const events: TaskEvent[] = []
  let passed = 0
  const gateway = createGateway({
    keys: { 'sk-a': { account: 'a' }, 'sk-b': { account: 'b' } },
    models: {
      portrait: { provider, video: portraitVideo },
      landscape: { provider, video: landscapeVideo },
      chatty: demo(),
      'no-video': { name: 'silent' },
    },
    clock: () => Date.now() + passed,
    hooks: { task: (event) => events.push(event) },
  })
  const url = await hosted(gateway)
  return {
    url,
    events,
    client: new OpenAI({ apiKey: 'sk-a', baseURL: `${url}/v1`, maxRetries: 0 }),
    pass: (ms) => void (passed += ms),
    ask: (path, { body, key = 'sk-a', headers = {}, method } = {}) =>
      fetch(`${url}${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        redirect: 'manual',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  }
}

const submission = { model: 'landscape', prompt: 'a hatch opens', duration: 5, async: true }

describe('POST /v1/videos/generations', () => {
  test('returns id, status "pending", creation time and the poll interval', async () => {
    const { ask } = await served()
    const response = await ask('/v1/videos/generations', { body: submission })
    expect(response.status).toBe(200)
    const task = (await response.json()) as Record<string, unknown>
    expect(task).toMatchObject({
      task_id: task['id'],
      object: 'video.generation',
      model: 'landscape',
      status: 'pending',
    })
    expect(Math.abs((task['created_at'] as number) - Date.now() / 1000)).toBeLessThan(5)
    expect(task['expires_at']).toBe((task['created_at'] as number) + 24 * 3600)
    expect([response.headers.get('retry-after'), response.headers.get('openai-poll-after-ms')]).toEqual(['5', '5000'])
  })

  test('advises a longer poll interval for longer videos', async () => {
    const { ask } = await served()
    const response = await ask('/v1/videos/generations', { body: { ...submission, duration: 20 } })
    expect(response.headers.get('retry-after')).toBe('15')
  })

  test.each([
    [{ ...submission, duration: 7 }, 'duration', '5, 10, 15, 20'],
    [{ ...submission, duration: '5' }, 'duration', 'duration'],
    [{ ...submission, duration: 5.5 }, 'duration', 'duration'],
    [{ ...submission, prompt: '' }, 'prompt', 'prompt'],
    [{ model: 'landscape' }, 'prompt', 'Missing required parameter'],
    [{ prompt: 'x' }, 'model', 'Missing required parameter'],
    [{ ...submission, size: '720x1280' }, 'size', '1280x720'],
    [{ ...submission, async: 'yes' }, 'async', 'async'],
    [{ ...submission, model: 'no-video' }, 'model', 'does not make videos'],
  ])('rejects %o, and lists the allowed values', async (body, param, words) => {
    const { ask } = await served()
    const response = await ask('/v1/videos/generations', { body })
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { param: string; message: string } }
    expect(error.param).toBe(param)
    expect(error.message).toContain(words)
  })

  test('uses the shortest duration and the first size by default', async () => {
    const { ask, events } = await served()
    await ask('/v1/videos/generations', { body: { model: 'portrait', prompt: 'x' } })
    expect(events[0]?.task.data.request).toMatchObject({ duration: 5, size: '720x1280' })
  })

  test('with async false returns the finished task', async () => {
    const { ask, pass } = await served()
    const answer = ask('/v1/videos/generations', { body: { ...submission, async: false } })
    const timer = setInterval(() => pass(6_000), 20)
    const task = (await (await answer).json()) as Record<string, unknown>
    clearInterval(timer)
    expect(task).toMatchObject({ status: 'completed', video_url: `/v1/videos/${task['id'] as string}/content` })
  })

  test('creates one task per Idempotency-Key, and rejects another body as a conflict', async () => {
    const { ask, events } = await served()
    const headers = { 'idempotency-key': 'k1' }
    const ids = await Promise.all(
      [1, 2, 3].map(async () => {
        const response = await ask('/v1/videos/generations', { body: submission, headers })
        return ((await response.json()) as { id: string }).id
      }),
    )
    expect(new Set(ids).size).toBe(1)
    expect(events.filter((event) => event.type === 'created')).toHaveLength(1)
    const other = await ask('/v1/videos/generations', { body: { ...submission, prompt: 'another' }, headers })
    expect([other.status, other.headers.get('x-should-retry')]).toEqual([409, 'false'])
  })
})

describe('GET /v1/videos/generations/{id}', () => {
  test('returns the task and, once completed, the URL of the video', async () => {
    const { ask, pass } = await served()
    const { id } = (await (await ask('/v1/videos/generations', { body: submission })).json()) as { id: string }
    expect(await (await ask(`/v1/videos/generations/${id}`)).json()).toMatchObject({ id, status: 'pending' })
    pass(6_000)
    const done = await ask(`/v1/videos/generations/${id}`)
    expect(done.headers.get('retry-after')).toBeNull()
    const task = (await done.json()) as { status: string; video_url: string }
    expect(task.status).toBe('completed')
    const video = await ask(task.video_url)
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    const bytes = Buffer.from(await video.arrayBuffer())
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp')
    expect(String(bytes.length)).toBe(video.headers.get('content-length'))
    const part = await ask(task.video_url, { headers: { range: 'bytes=4-7' } })
    expect([part.status, await part.text()]).toEqual([206, 'ftyp'])
  })

  test.each(['/v1/video/generations'])('is also available at %s, for other clients', async (path) => {
    const { ask } = await served()
    const { id } = (await (await ask(path, { body: submission })).json()) as { id: string }
    expect((await ask(`${path}/${id}`)).status).toBe(200)
  })

  test('returns identical 404s for ids that are unknown, of another account, expired or malformed', async () => {
    const { ask, pass } = await served()
    const { id } = (await (await ask('/v1/videos/generations', { body: submission })).json()) as { id: string }
    const asked: [string, string][] = [
      ['sk-b', `/v1/videos/generations/${id}`],
      ['sk-a', '/v1/videos/generations/video_unknown'],
      ['sk-a', '/v1/videos/generations/..%2f..%2fmodels'],
      ['sk-a', `/v1/videos/generations/${id}%00`],
      ['sk-b', `/v1/videos/${id}`],
      ['sk-b', `/v1/videos/${id}/content`],
    ]
    const bodies = await Promise.all(
      asked.map(async ([key, path]) => {
        const response = await ask(path, { key })
        return `${response.status} ${await response.text()}`
      }),
    )
    pass(24 * 3_600_000)
    const expired = await ask(`/v1/videos/generations/${id}`)
    bodies.push(`${expired.status} ${await expired.text()}`)
    expect(new Set(bodies).size).toBe(1)
    expect(bodies[0]).toMatch(/^404 /)
  })

  test('returns the reason of a failed task', async () => {
    const failing: Provider = {
      name: 'failing',
      video: {
        submit: 'token',
        start: async () => ({ id: 1 }),
        check: async () => ({ state: 'failed', error: 'The video was refused.', code: 'content_policy_violation' }),
      },
    }
    const { ask, pass } = await served(failing)
    const { id } = (await (await ask('/v1/videos/generations', { body: submission })).json()) as { id: string }
    pass(6_000)
    expect(await (await ask(`/v1/videos/generations/${id}`)).json()).toMatchObject({
      status: 'failed',
      error: 'The video was refused.',
    })
    expect(await (await ask(`/v1/videos/${id}`)).json()).toMatchObject({
      status: 'failed',
      error: { code: 'content_policy_violation', message: 'The video was refused.' },
    })
  })
})

describe('the official client', () => {
  test('creates, retrieves, lists, downloads and deletes videos', async () => {
    const { client, pass } = await served(demo({ videoSeconds: 0 }))
    const video = await client.videos.create({
      model: 'landscape',
      prompt: 'a hatch',
      seconds: '10' as '8',
      size: '1280x720',
    })
    expect(video).toMatchObject({
      object: 'video',
      status: 'queued',
      seconds: '10' as '8',
      size: '1280x720',
      error: null,
    })
    pass(6_000)
    expect(await client.videos.retrieve(video.id)).toMatchObject({ id: video.id, status: 'completed', progress: 100 })
    const download = await client.videos.downloadContent(video.id)
    expect(Buffer.from(await download.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp')
    const second = await client.videos.create({ model: 'portrait', prompt: 'another' })
    const listed: string[] = []
    for await (const each of client.videos.list({ limit: 1 })) listed.push(each.id)
    expect(listed.toSorted()).toEqual([video.id, second.id].toSorted())
    expect(await client.videos.delete(second.id)).toMatchObject({
      id: second.id,
      deleted: true,
      object: 'video.deleted',
    })
    await expect(client.videos.retrieve(second.id)).rejects.toMatchObject({ status: 404, code: 'not_found' })
  })

  test('can send an image, which the provider receives as a data URL', async () => {
    const { promise: started, resolve } = Promise.withResolvers<Readonly<Record<string, unknown>>>()
    const { client } = await served({
      name: 'filmer',
      video: {
        submit: 'none',
        async start({ request }) {
          resolve(request)
          return { id: 'job' }
        },
        check: async () => ({ state: 'processing' as const }),
      },
    })
    const body = { model: 'landscape', prompt: 'a hatch' }
    await client.videos.create({
      ...body,
      input_reference: await toFile(Buffer.from('PNG'), 'a.png', { type: 'image/png' }),
    })
    expect(await started).toMatchObject({
      prompt: 'a hatch',
      input_reference: { image_url: 'data:image/png;base64,UE5H' },
    })

    const text = await toFile(Buffer.from('Hi'), 'a.txt', { type: 'text/plain' })
    await expect(client.videos.create({ ...body, input_reference: text })).rejects.toMatchObject({
      status: 400,
      param: 'input_reference',
    })
    const large = await toFile(Buffer.alloc(16 * 1024 * 1024), 'a.png', { type: 'image/png' })
    await expect(client.videos.create({ ...body, input_reference: large })).rejects.toMatchObject({ status: 413 })
  })

  test('gets 409 for the content of an unfinished video', async () => {
    const { client } = await served()
    const { id } = await client.videos.create({ model: 'landscape', prompt: 'a hatch' })
    await expect(client.videos.downloadContent(id)).rejects.toMatchObject({ status: 409 })
  })
})

test('a client that does not read a video is disconnected, and so is the vendor', async () => {
  const sample = demo({ videoSeconds: 0 })
  const released = Promise.withResolvers<string>()
  async function* endless() {
    try {
      for (;;) yield new Uint8Array(65_536)
    } finally {
      released.resolve('let go')
    }
  }
  const video = {
    ...sample.video,
    content: async () => ({ status: 200, headers: {}, body: endless() }),
  } as VideoProvider
  let passed = 0
  const { url } = await hostedWith({
    models: { v: { ...sample, video } },
    clock: () => Date.now() + passed,
    timeouts: { stallMs: 100 },
  })
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'v', prompt: 'a hatch opens', duration: 5 })
  const made = await fetch(`${url}/v1/videos/generations`, { method: 'POST', headers, body })
  const { id } = (await made.json()) as { id: string }
  passed += 60_000
  const unread = await new Promise<IncomingMessage>((resolve) =>
    get(`${url}/v1/videos/${id}/content`, { headers }, resolve),
  )
  expect(unread.statusCode).toBe(200)
  expect(await Promise.race([released.promise, pause(3_000)])).toBe('let go')
})

describe.each(everyBundle())('malformed ids, with %s', (_, there, open) => {
  test.runIf(there)('do not reach the store, which would fail and seem to be down', async () => {
    const provider = demo({ videoSeconds: 0 })
    const gateway = createGateway({
      keys: { 'sk-a': { account: 'a' } },
      models: { v: provider },
      storage: await open(),
      timeouts: storeTimeouts,
    })
    const url = await hosted(gateway)
    const status = async (path: string) =>
      (await fetch(`${url}/v1/videos${path}`, { headers: { authorization: 'Bearer sk-a' } })).status
    for (let turn = 0; turn < 6; turn++) {
      expect([await status('/%00'), await status('/%00/content'), await status('?after=%00')]).toEqual([404, 404, 400])
    }
    expect([await status('/video_unknown'), await status('')]).toEqual([404, 200])
  })
})
