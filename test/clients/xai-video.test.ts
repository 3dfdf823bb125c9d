/** The AI SDK's video model of xAI, and OpenAI's client, with the same tasks. */
import { createXai } from '@ai-sdk/xai'
import { experimental_generateVideo as generateVideo } from 'ai'
import { demo, defineProvider, gatewayVideo, openai, type Provider } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { createGateway } from '../../src/index.ts'
import { ask, clientOf, errorOf } from '../endpoints/ask.ts'
import { hosted } from '../hosted.ts'

async function served(provider: Provider) {
  let passed = 0
  const gateway = createGateway({
    keys: { 'sk-test': {} },
    models: { film: { provider, video: { sizes: ['1280x720', '720x1280'] } } },
    clock: () => Date.now() + passed,
    publicUrl: 'https://front.example/ai',
    tasks: { sweepMs: 3_600_000 },
  })
  const url = await hosted(gateway)
  const model = createXai({ baseURL: `${url}/v1`, apiKey: 'sk-test' }).video('film')
  const options = { prompt: 'A hatch', n: 1, duration: 5, resolution: '1280x720', aspectRatio: '16:9' }
  const more = { fps: undefined, seed: undefined, image: undefined, providerOptions: {} }
  const start = async () => {
    const started = await model.doStart?.({ ...options, ...more } as never)
    return started?.operation as { requestId: string }
  }
  /** At first, the sweep that a new task starts may hold the task, which is then told as it was. */
  const status = async (operation: object) => {
    passed += 6_000
    return model.doStatus?.({ operation } as never)
  }
  return { url, start, status, pass: (ms: number) => (passed += ms) }
}

function ending(end: object): Provider {
  return defineProvider({
    name: 'ending',
    video: { submit: 'none', start: async () => ({ id: 'up' }), check: async () => end as never },
  })
}

describe('the video model of xAI', () => {
  test('polls a task until its video is finished', async () => {
    const url = 'https://videos.example/1.mp4'
    const { start, status } = await served(ending({ state: 'completed', url, seconds: 4 }))
    const operation = await start()
    await expect
      .poll(() => status(operation))
      .toMatchObject({
        status: 'completed',
        videos: [{ type: 'url', url }],
        providerMetadata: { xai: { requestId: operation.requestId, duration: 4 } },
      })
  })

  test('waits for an unfinished task, and gets a URL of the gateway if only the gateway can download the video', async () => {
    const waiting = await served(ending({ state: 'processing', progress: 40 }))
    expect(await waiting.status(await waiting.start())).toMatchObject({ status: 'pending' })
    const { start, status } = await served(demo({ videoSeconds: 0 }))
    const operation = await start()
    const url = `https://front.example/ai/v1/videos/${operation.requestId}/content`
    await expect.poll(() => status(operation)).toMatchObject({ status: 'completed', videos: [{ url }] })
  })

  test('reports a failed task and an unknown task', async () => {
    const { start, status } = await served(ending({ state: 'failed', error: 'No.' }))
    const operation = await start()
    await expect.poll(() => status(operation)).toMatchObject({ status: 'error' })
    await expect(status({ requestId: 'video_of_another' })).rejects.toMatchObject({ statusCode: 404 })
  })

  test('gets a video by generateVideo of the AI SDK, which names another program in its User-Agent', async () => {
    const { url, pass } = await served(ending({ state: 'completed', url: 'https://videos.example/1.mp4', seconds: 5 }))
    const renamed: typeof fetch = (input, init) => {
      pass(6_000)
      const headers = new Headers(init?.headers)
      headers.set('user-agent', 'studio/1.0')
      return fetch(input, { ...init, headers })
    }
    const model = createXai({ baseURL: `${url}/v1`, apiKey: 'sk-test', fetch: renamed }).video('film')
    const { video } = await generateVideo({
      model,
      prompt: 'A hatch',
      duration: 5,
      resolution: '1280x720',
      poll: { intervalMs: 1, timeoutMs: 5_000 },
      download: async () => ({ data: new Uint8Array([1]), mediaType: 'video/mp4' }),
    })
    expect([...video.uint8Array]).toEqual([1])
  })

  test('gets the same task as clients of the specification', async () => {
    const { url, start, status } = await served(demo({ videoSeconds: 0 }))
    const { requestId } = await start()
    await expect.poll(() => status({ requestId })).toMatchObject({ status: 'completed' })
    const { json } = await ask(url, 'GET', `/videos/generations/${requestId}`)
    expect(json).toMatchObject({ id: requestId, task_id: requestId, request_id: requestId, status: 'completed' })
  })
})

describe('`openai()`', () => {
  test.each([
    ['serves itself', demo({ videoSeconds: 0 }), 200],
    ['redirects to', undefined, 200],
  ] as const)('serves the videos that another gateway as its vendor %s', async (_, own, status) => {
    let passed = 0
    const clock = () => Date.now() + passed
    const keys = { 'sk-test': {} }
    const tasks = { sweepMs: 3_600_000 }
    const far = await hosted(createGateway({ keys, clock, tasks, models: { film: demo({ videoSeconds: 0 }) } }))
    const provider = own ?? gatewayVideo({ baseURL: `${far}/v1`, apiKey: 'sk-test' })
    const back = await hosted(createGateway({ keys, clock, tasks, models: { film: provider } }))
    const front = openai({ baseURL: `${back}/v1`, apiKey: 'sk-test' })
    const url = await hosted(createGateway({ keys, clock, tasks, models: { 'openai/*': front } }))
    const client = clientOf(url)
    const { id } = await client.videos.create({
      model: 'openai/film',
      prompt: 'A hatch',
      seconds: '5' as never,
    })
    for (let poll = 0; poll < 4; poll++) {
      passed += 6_000
      await client.videos.retrieve(id)
    }
    expect(await client.videos.retrieve(id)).toMatchObject({ status: 'completed', model: 'openai/film' })
    if (own === undefined) return
    const content = await client.videos.downloadContent(id)
    expect([content.status, (await content.arrayBuffer()).byteLength > 1_000]).toEqual([status, true])
  })

  test('reports that OpenAI no longer makes videos', async () => {
    for (const provider of [openai({ apiKey: 'k' }), openai({ baseURL: 'https://api.openai.com/v1', apiKey: 'k' })]) {
      const url = await hosted(createGateway({ keys: { 'sk-test': {} }, models: { sora: provider } }))
      const refused = await ask(url, 'POST', '/videos', { model: 'sora', prompt: 'A hatch', seconds: '5' })
      expect([refused.status, errorOf(refused).message]).toEqual([400, expect.stringContaining('2026-09-24')])
    }
    const groq = openai({ preset: 'groq', apiKey: 'k' })
    const url = await hosted(createGateway({ keys: { 'sk-test': {} }, models: { m: groq } }))
    const refused = await ask(url, 'POST', '/videos', { model: 'm', prompt: 'x', seconds: '5' })
    expect(errorOf(refused).message).toBe('This model does not make videos.')
  })
})
