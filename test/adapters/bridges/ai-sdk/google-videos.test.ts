/** The AI SDK's Google package behind a gateway, against a vendor in Google's format. */
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { describe, expect, test } from 'vitest'
import { googleVideos, type VideoScript } from '../../../../src/testing/dialects/google-videos.ts'
import { vendorFor } from '../../../hosted.ts'
import { rejection, world, type Process } from './video-world.ts'

const key = 'key-of-google'
const veo = 'veo-3.1-generate-preview'

async function google(script: VideoScript = {}) {
  const fake = googleVideos(key, () => ({ files: origin, ...script }))
  const vendor = await vendorFor(fake.reply)
  const origin = vendor.baseURL.slice(0, -3)
  const provider = createGoogleGenerativeAI({ apiKey: key, baseURL: `${origin}/v1beta` })
  const shared = world()
  const process = () => shared.process(provider.video(veo), { allowPrivateNetwork: true })
  return { ...fake, ...shared, vendor, process }
}

async function finished({ submit, next }: Process) {
  const id = await submit()
  await next(id)
  return next(id)
}

test('makes a video for the official client and downloads it with a key that the client never sees', async () => {
  const whole = Buffer.from('the whole video'.repeat(100_000))
  const { process, submissions, events, store, vendor } = await google({ video: whole })
  const { submit, next, client, ask } = await process()
  const id = await submit({ size: '1280x720', seed: 7 })
  expect(submissions[0]).toMatchObject({ model: veo, prompt: 'A hatch opens', seconds: 4 })
  expect(submissions[0]?.settings).toEqual({ sampleCount: 1, aspectRatio: '16:9', resolution: '720p', seed: 7 })
  expect(await next(id)).toMatchObject({ status: 'in_progress' })
  await expect(client.videos.downloadContent(id)).rejects.toMatchObject({ status: 409 })
  expect(await next(id)).toMatchObject({ status: 'completed', error: null })
  expect(await (await client.videos.downloadContent(id)).text()).toBe(whole.toString())
  const part = await client.videos.downloadContent(id, undefined, { headers: { range: 'bytes=4-8' } })
  expect([part.status, await part.text()]).toEqual([206, 'whole'])
  expect(vendor.requests.some(({ url }) => url.includes(`key=${key}`))).toBe(true)
  const response = await (await ask(`/v1/videos/generations/${id}`)).text()
  expect(response + JSON.stringify([events, await store.find('a', id, Date.now())])).not.toContain(key)
})

test('continues in the next process, which can also download the finished video', async () => {
  const { process, spent } = await google()
  const first = await process()
  const id = await first.submit()
  await first.next(id)
  await first.gateway.close({ graceMs: 0 })
  const second = await process()
  expect(await second.next(id)).toMatchObject({ status: 'completed' })
  await second.gateway.close({ graceMs: 0 })
  const third = await process()
  expect(await (await third.client.videos.downloadContent(id)).text()).toBe('a video')
  expect(await spent()).toBe(4n)
})

test('sends the input image', async () => {
  const { process, submissions } = await google()
  await (await process()).submit({ input_reference: { image_url: 'data:image/png;base64,iVBORw0KGgo=' } })
  expect(submissions[0]?.image).toEqual({ type: 'image/png', base64: 'iVBORw0KGgo=' })
})

describe('a video that cannot be made', () => {
  test.each(['filtered', 'failed'] as const)('%s: the task fails without vendor text or charge', async (end) => {
    const { process, spent } = await google({ end })
    expect(await finished(await process())).toMatchObject({ status: 'failed', error: { code: 'generation_failed' } })
    expect(await spent()).toBe(0n)
  })

  test('unsupported duration: a 400 that names the field', async () => {
    const { process, vendor } = await google()
    const error = { code: 400, status: 'INVALID_ARGUMENT', message: 'Unsupported durationSeconds 4.' }
    vendor.reply = (_, response) =>
      void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    expect(await rejection(await process(), {})).toMatchObject({ status: 400, param: 'duration' })
  })

  test('the package ignores the input image: a 400 that names the field', async () => {
    const { process } = await google()
    const rejected = await rejection(await process(), { input_reference: 'https://pictures.test/a.png' })
    expect(rejected).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'input_reference' })
  })

  test('the vendor no longer knows the job: the task fails as lost', async () => {
    const { process, vendor } = await google()
    const { submit, next } = await process()
    const id = await submit()
    vendor.reply = (_, response) => void response.writeHead(404).end('{"error":{"code":404,"status":"NOT_FOUND"}}')
    await next(id)
    await next(id)
    expect(await next(id)).toMatchObject({ error: { code: 'lost' } })
  })

  test('deleted by its owner: the id is unknown from then on, and the price stays held, because Google goes on', async () => {
    const { process, spent } = await google()
    const { submit, client } = await process()
    const id = await submit()
    expect(await client.videos.delete(id)).toMatchObject({ deleted: true })
    await expect(client.videos.retrieve(id)).rejects.toMatchObject({ status: 404 })
    expect(await spent()).toBe(4n)
  })
})

test('a file that the vendor no longer has is a 404', async () => {
  const { process, vendor, reply } = await google()
  const running = await process()
  const { id } = await finished(running)
  vendor.reply = (request, response) =>
    request.url.includes('/files/') ? void response.writeHead(404).end('{}') : reply(request, response)
  expect((await running.ask(`/v1/videos/${id}/content`)).status).toBe(404)
})
