/** Google's own clients accept the fake video API of our tests. */
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { GenerateVideosOperation, GoogleGenAI } from '@google/genai'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { googleVideos, type VideoScript } from '../../src/testing/dialects/google-videos.ts'
import { vendorFor } from '../hosted.ts'

async function google(script: VideoScript = {}) {
  const vendor = googleVideos('k', () => script)
  const { baseURL } = await vendorFor(vendor.reply)
  return { ...vendor, origin: baseURL.slice(0, -3) }
}

const png = 'iVBORw0KGgo='

/** `generateVideos` of Google's client supports only Vertex AI; the AI SDK submits to the Gemini API. */
test('@ai-sdk/google submits a prediction and polls it to its end', async () => {
  const { origin, submissions } = await google()
  const model = createGoogleGenerativeAI({ apiKey: 'k', baseURL: `${origin}/v1beta` }).video('veo-3.1-generate-preview')
  const options = {
    prompt: 'A hatch opens',
    n: 1,
    aspectRatio: '16:9' as const,
    resolution: '1280x720' as const,
    duration: 8,
    fps: undefined,
    seed: 7,
    image: { type: 'file' as const, data: png, mediaType: 'image/png' },
    providerOptions: { google: { negativePrompt: 'rain' } },
  }
  const started = await model.doStart?.(options as never)
  expect(submissions).toEqual([
    {
      model: 'veo-3.1-generate-preview',
      prompt: 'A hatch opens',
      seconds: 8,
      settings: { sampleCount: 1, aspectRatio: '16:9', resolution: '720p', seed: 7, negativePrompt: 'rain' },
      image: { type: 'image/png', base64: png },
    },
  ])
  const ask = () => model.doStatus?.({ ...options, operation: started?.operation } as never)
  expect(await ask()).toMatchObject({ status: 'pending' })
  expect(await ask()).toMatchObject({
    status: 'completed',
    videos: [{ url: expect.stringContaining('files/') as string }],
  })
})

test('@google/genai polls a prediction on the Gemini API to its end, and downloads it through the redirect', async () => {
  const { origin } = await google({ video: Buffer.from('the video itself') })
  const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: origin } })
  const submitted = await fetch(`${origin}/v1beta/models/veo-3.1-generate-preview:predictLongRunning`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'k', 'content-type': 'application/json' },
    body: JSON.stringify({ instances: [{ prompt: 'A hatch' }], parameters: { durationSeconds: 8 } }),
  })
  const named = Object.assign(new GenerateVideosOperation(), await submitted.json())
  const unfinished = await client.operations.getVideosOperation({ operation: named })
  expect(unfinished.done).toBeUndefined()
  const { done, response } = await client.operations.getVideosOperation({ operation: named })
  expect(done).toBe(true)
  const folder = await mkdtemp(join(tmpdir(), 'videos-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const downloadPath = join(folder, 'a.mp4')
  await client.files.download({ file: response?.generatedVideos?.[0] ?? {}, downloadPath })
  expect(await readFile(downloadPath, 'utf8')).toBe('the video itself')
})

test('@google/genai gets the reason of a filtered video', async () => {
  const { origin } = await google({ end: 'filtered', unfinished: 0 })
  const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: origin } })
  await fetch(`${origin}/v1beta/models/veo-3.1:predictLongRunning`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'k', 'content-type': 'application/json' },
    body: JSON.stringify({ instances: [{ prompt: 'A hatch' }] }),
  })
  const operation = Object.assign(new GenerateVideosOperation(), { name: 'models/veo-3.1/operations/op-0' })
  const { response } = await client.operations.getVideosOperation({ operation })
  expect(response).toMatchObject({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: [expect.any(String)] })
})

test('@google/genai submits on Vertex AI and reads the video from the response', async () => {
  const { origin, submissions } = await google({ video: Buffer.from('on vertex') })
  const client = new GoogleGenAI({
    vertexai: true,
    project: 'p',
    location: 'l',
    httpOptions: { baseUrl: origin, apiVersion: 'v1', headers: { authorization: 'Bearer k' } },
    googleAuthOptions: {
      authClient: new (class {
        async getRequestHeaders() {
          return new Headers()
        }
      })() as never,
    },
  })
  const submitted = await client.models.generateVideos({
    model: 'veo-3.1-generate-001',
    source: { prompt: 'A hatch', image: { imageBytes: png, mimeType: 'image/png' } },
    config: { durationSeconds: 6, numberOfVideos: 1 },
  })
  expect(submitted.name).toBe('projects/p/locations/l/publishers/google/models/veo-3.1-generate-001/operations/op-0')
  expect(submissions[0]).toMatchObject({ seconds: 6, image: { base64: png } })
  await client.operations.getVideosOperation({ operation: submitted })
  const { response } = await client.operations.getVideosOperation({ operation: submitted })
  const bytes = response?.generatedVideos?.[0]?.video?.videoBytes ?? ''
  expect(Buffer.from(bytes, 'base64').toString()).toBe('on vertex')
})

test('@google/genai starts an interaction, polls it to its end and cancels it', async () => {
  const { origin, submissions, cancelled } = await google()
  const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: origin } })
  const begun = await client.interactions.create({
    model: 'gemini-omni-1.1-flash',
    input: 'A hatch',
    background: true,
    response_format: { type: 'video', duration: '5s', delivery: 'uri', aspect_ratio: '9:16' },
  })
  expect(begun.status).toBe('in_progress')
  expect(submissions[0]).toMatchObject({ model: 'gemini-omni-1.1-flash', prompt: 'A hatch', seconds: 5 })
  expect((await client.interactions.get(begun.id)).status).toBe('in_progress')
  const { status, output_video: video } = await client.interactions.get(begun.id)
  expect([status, video?.type, video?.uri]).toEqual(['completed', 'video', expect.stringContaining('files/video0')])
  await client.interactions.cancel(begun.id)
  expect(cancelled).toEqual([0])
})
