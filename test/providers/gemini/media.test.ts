/** Embeddings and images. */
import { createHash } from 'node:crypto'
import { gemini } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import { vendorFor } from '../../hosted.ts'
import { hasShared, sharedJson } from '../../shared.ts'
import type { Sent } from '../vendor-requests.ts'
import { recordingsOf, replay } from '../recordings.ts'
import { served } from '../served.ts'

async function against(reply: VendorReply, providerModel = 'gemini-x') {
  const vendor = await vendorFor(reply)
  const { client } = await served({
    model: { provider: gemini({ baseURL: vendor.baseURL.slice(0, -3) }), providerModel },
  })
  return { vendor, client, sent: (): Sent => vendor.requests.at(-1)?.json }
}

const json =
  (body: object, status = 200): VendorReply =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

describe('embeddings', () => {
  test.skipIf(!hasShared)('returns the recorded vector, in base64 bit for bit', async () => {
    const recording = recordingsOf('gemini').find(({ file }) => file === 'embedding.json')
    if (recording === undefined) throw new Error('no recording')
    const { client, sent } = await against(replay(recording), 'gemini-embedding-2-preview')
    const answer = await client.embeddings.create({
      model: 'model',
      input: 'Hello, world!',
      dimensions: 768,
      encoding_format: 'base64',
    })
    const base64 = answer.data[0]?.embedding as unknown as string
    expect(createHash('sha256').update(base64).digest('hex')).toBe(recording.expect['base64_sha256'])
    const { body } = sharedJson('recordings/gemini/embedding.request.json') as { body: Sent }
    const [{ taskType: _, ...request }] = body.requests
    expect(sent()).toEqual({ requests: [request] })
  })

  test('splits many inputs into batches of a hundred, and returns them in order', async () => {
    const { client, vendor } = await against(({ json: body }, response) => {
      const { requests } = body as { requests: { content: { parts: [{ text: string }] } }[] }
      const embeddings = requests.map(({ content }) => ({ values: [Number(content.parts[0].text)] }))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ embeddings }))
    })
    const input = Array.from({ length: 250 }, (_, index) => String(index))
    const { data } = await client.embeddings.create({ model: 'model', input })
    expect(data.map(({ embedding }) => embedding[0])).toEqual(input.map(Number))
    expect(vendor.requests).toHaveLength(3)
    expect(vendor.requests[0]?.url).toBe('/v1beta/models/gemini-x:batchEmbedContents')
  })

  test('rejects tokens, because the vendor accepts only strings', async () => {
    const { client } = await against(json({}))
    const refused = client.embeddings.create({ model: 'model', input: [1, 2] })
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'input' })
  })
})

const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
const drawn = {
  candidates: [{ content: { parts: [{ text: 'Here:' }, { inlineData }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1_290 },
}

describe('images', () => {
  test.skipIf(!hasShared)('returns the recorded image', async () => {
    const recording = recordingsOf('gemini').find(({ file }) => file === 'image-output.json')
    if (recording === undefined) throw new Error('no recording')
    const { client } = await against(replay(recording))
    const answer = await client.images.generate({ model: 'model', prompt: 'An axolotl' })
    expect(answer.data?.[0]?.b64_json).toMatch(/^\/9j\//)
    expect(answer.usage).toMatchObject({ input_tokens: 9, output_tokens: 1_290, total_tokens: 1_299 })
  })

  test('sends one request for each image, and adds up their usage', async () => {
    const { client, vendor, sent } = await against(json(drawn))
    const two = await client.images.generate({ model: 'model', prompt: 'A cat', n: 2, size: '1536x1024' })
    expect(two.data).toEqual([{ b64_json: inlineData.data }, { b64_json: inlineData.data }])
    expect(two.usage).toMatchObject({ input_tokens: 18, output_tokens: 2_580 })
    expect(vendor.requests).toHaveLength(2)
    expect(sent()).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '3:2' } },
    })
  })

  test('sends the images of an edit to the model', async () => {
    const { client, sent } = await against(json(drawn))
    const image = await toFile(Buffer.from('iVBORw0KGgo=', 'base64'), 'a.png', { type: 'image/png' })
    const answer = await client.images.edit({ model: 'model', prompt: 'Bluer', image })
    expect(answer.data?.[0]?.b64_json).toBe(inlineData.data)
    expect(sent().contents[0].parts).toEqual([{ text: 'Bluer' }, { inlineData }])
  })

  test('rejects unsupported fields by name', async () => {
    const { client, vendor } = await against(json(drawn))
    const wrong: readonly [object, string][] = [
      [{ size: '1000x333' }, 'size'],
      [{ quality: 'hd' }, 'quality'],
      [{ background: 'transparent' }, 'background'],
      [{ output_format: 'webp' }, 'output_format'],
    ]
    for (const [request, param] of wrong) {
      const refused = client.images.generate({ model: 'model', prompt: 'A cat', ...request })
      await expect(refused).rejects.toMatchObject({ status: 400, param })
    }
    const mask = await toFile(Buffer.from('x'), 'mask.png', { type: 'image/png' })
    const masked = client.images.edit({ model: 'model', prompt: 'Bluer', image: mask, mask })
    await expect(masked).rejects.toMatchObject({ status: 400, param: 'mask' })
    expect(vendor.requests).toEqual([])
  })

  test.each([
    { promptFeedback: { blockReason: 'SAFETY' } },
    { candidates: [{ finishReason: 'IMAGE_SAFETY', content: {} }] },
  ])('maps a rejected image to content_policy_violation', async (body) => {
    const { client } = await against(json(body))
    const refused = client.images.generate({ model: 'model', prompt: 'A cat' })
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'content_policy_violation' })
  })

  test('is a failure if there is neither an image nor a reason', async () => {
    const { client } = await against(
      json({ candidates: [{ finishReason: 'STOP', content: { parts: [{ text: 'No.' }] } }] }),
    )
    await expect(client.images.generate({ model: 'model', prompt: 'A cat' })).rejects.toMatchObject({ status: 503 })
  })
})
