/** Real clients against the quick start: images, edits and transcriptions, with the demo model and that of a vendor. */
import { createOpenAI } from '@ai-sdk/openai'
import { generateImage, transcribe } from 'ai'
import OpenAI, { toFile } from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { draw, sizeOfPng } from '../../src/providers/demo/png.ts'
import { wav } from '../sound.ts'
import { serve, type Served } from './served.ts'

let served: Served
let client: OpenAI

beforeAll(async () => {
  served = await serve()
  client = served.client
})
afterAll(() => served?.stop())
afterEach(async () => {
  expect(await served.verdict()).toEqual([])
})

const size = '256x256'
const sound = wav({ seconds: 2.5, channels: 2 })
const statement =
  'This recording is 2.5 seconds long. It has 2 channels. Each holds 16000 samples a second, of 16 bits.'

/** A small image. */
async function drawing(prompt = 'a hat') {
  return toFile(await draw(prompt, { width: 64, height: 64 }), 'drawing.png')
}

async function soundFile() {
  return toFile(sound, 'sound.wav')
}

function sizeOf(base64: string | undefined) {
  return sizeOfPng(Buffer.from(base64 ?? '', 'base64'), 'image')
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

describe.each(['demo-image', 'openai/gpt-9'])('images of %s', (model) => {
  test('an image of the requested size, the same for the same prompt', async () => {
    const [one, same, other] = await Promise.all(
      ['a cat', 'a cat', 'a dog'].map((prompt) =>
        client.images.generate({ model, prompt, size, response_format: 'b64_json' }),
      ),
    )
    expect(sizeOf(one?.data?.[0]?.b64_json)).toMatchObject({ width: 256, height: 256 })
    expect(same?.data).toEqual(one?.data)
    expect(other?.data).not.toEqual(one?.data)
  })

  test('several images as data URLs', async () => {
    const { data } = await client.images.generate({ model, prompt: 'a cat', n: 2, size, response_format: 'url' })
    const urls = data?.map(({ url }) => url ?? '') ?? []
    expect(new Set(urls).size).toBe(2)
    const picture = await (await fetch(urls[0] as string)).arrayBuffer()
    expect(sizeOfPng(Buffer.from(picture), 'image')).toMatchObject({ width: 256 })
  })

  test('a stream of partial images and the final one', async () => {
    const stream = await client.images.generate({ model, prompt: 'a cat', size, stream: true, partial_images: 2 })
    const events = await all(stream)
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ])
    const { data } = await client.images.generate({ model, prompt: 'a cat', size, response_format: 'b64_json' })
    expect(events.at(-1)?.b64_json).toBe(data?.[0]?.b64_json)
    expect(events[0]?.b64_json).not.toBe(events.at(-1)?.b64_json)
  })

  test('an edit with a mask, of one image and of several', async () => {
    const [image, mask] = [await drawing(), await drawing('a mask')]
    const single = await client.images.edit({ model, image, mask, prompt: 'a sunset' })
    const several = await client.images.edit({ model, image: [image, image], mask, prompt: 'a sunset' })
    expect(several.data).toEqual(single.data)
    expect(sizeOf(single.data?.[0]?.b64_json).width).toBe(64)
  })

  test('variations of an image', async () => {
    const image = await drawing()
    const { data } = await client.images.createVariation({ model, image, n: 2, response_format: 'b64_json' })
    expect(data?.map(({ b64_json: base64 }) => sizeOf(base64).width)).toEqual([64, 64])
    expect(data?.[0]?.b64_json).not.toBe(data?.[1]?.b64_json)
  })

  test('a streamed edit', async () => {
    const image = await drawing()
    const stream = await client.images.edit({ model, image, prompt: 'a sunset', size, stream: true, partial_images: 1 })
    expect((await all(stream)).map(({ type }) => type)).toEqual(['image_edit.partial_image', 'image_edit.completed'])
  })

  test('generation and edit with the AI SDK', async () => {
    const openai = createOpenAI({ baseURL: served.baseURL, apiKey: 'sk-demo', fetch: served.fetch })
    const made = await generateImage({ model: openai.image(model), prompt: 'a cat', size })
    expect(made.image.mediaType).toBe('image/png')
    expect(sizeOfPng(Buffer.from(made.image.uint8Array), 'image')).toMatchObject({ width: 256 })
    const edited = await generateImage({
      model: openai.image(model),
      prompt: { text: 'a sunset', images: [made.image.uint8Array] },
    })
    expect(edited.image.base64).not.toBe(made.image.base64)
  })
})

describe.each(['demo-transcription', 'openai/gpt-9'])('transcripts of %s', (model) => {
  test('json', async () => {
    const { text } = await client.audio.transcriptions.create({ model, file: await soundFile() })
    expect(text).toBe(statement)
  })

  test.each(['text', 'srt', 'vtt'] as const)('%s', async (format) => {
    const text = await client.audio.transcriptions.create({ model, file: await soundFile(), response_format: format })
    expect(text).toEqual(expect.any(String))
    expect(
      text.startsWith({ text: statement, srt: '1\n00:00:00,000 -->', vtt: 'WEBVTT\n\n00:00:00.000 -->' }[format]),
    ).toBe(true)
    if (format !== 'text') expect(text.replace(',', '.')).toContain('--> 00:00:02')
  })

  test('verbose_json, with words and segments that span the recording', async () => {
    const verbose = await client.audio.transcriptions.create({
      file: await soundFile(),
      model,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })
    expect(verbose).toMatchObject({ duration: 2.5, language: 'english', text: statement })
    expect(verbose.words?.map(({ word }) => word).join(' ')).toBe(statement)
    for (const timed of [verbose.words ?? [], verbose.segments ?? []]) {
      expect(timed[0]?.start).toBe(0)
      expect(timed.at(-1)?.end).toBe(2.5)
      expect(timed.every(({ start, end }, at) => start < end && start >= (timed[at - 1]?.end ?? 0))).toBe(true)
    }
  })

  test('diarized_json', async () => {
    const diarized = await client.audio.transcriptions.create({
      file: await soundFile(),
      model,
      response_format: 'diarized_json',
    })
    const { segments } = diarized as unknown as OpenAI.Audio.TranscriptionDiarized
    expect(segments.map(({ text }) => text).join(' ')).toBe(statement)
  })

  test('a streamed transcript', async () => {
    const stream = await client.audio.transcriptions.create({ file: await soundFile(), model, stream: true })
    const events = await all(stream)
    const pieces = events.flatMap((event) => (event.type === 'transcript.text.delta' ? [event.delta] : []))
    expect(pieces.length).toBeGreaterThan(3)
    expect(pieces.join('')).toBe(statement)
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: statement })
  })

  test('with the AI SDK', async () => {
    const openai = createOpenAI({ baseURL: served.baseURL, apiKey: 'sk-demo', fetch: served.fetch })
    const { text } = await transcribe({ model: openai.transcription(model), audio: sound })
    expect(text).toBe(statement)
  })
})

describe.each(['demo-transcription', 'openai/gpt-9'])('translations of %s', (model) => {
  test('json, text, subtitles, and verbose_json in English', async () => {
    const translated = async (format: 'json' | 'text' | 'srt' | 'vtt' | 'verbose_json') =>
      client.audio.translations.create({ model, file: await soundFile(), response_format: format })
    expect(await translated('json')).toEqual(expect.objectContaining({ text: statement }))
    expect(await translated('text')).toBe(`${statement}\n`)
    expect(await translated('srt')).toMatch(/^1\n00:00:00,000 -->/)
    expect(await translated('vtt')).toMatch(/^WEBVTT\n\n00:00:00.000 -->/)
    const verbose = await translated('verbose_json')
    expect(verbose).toMatchObject({ task: 'translate', language: 'english', duration: 2.5, text: statement })
    expect(verbose).toHaveProperty('segments.2.end', 2.5)
  })
})

test('an unsupported size is an error with the name of the field', async () => {
  const asked = client.images.generate({ model: 'demo-image', prompt: 'a cat', size: '16:9' })
  await expect(asked).rejects.toMatchObject({ status: 400, param: 'size' })
})
