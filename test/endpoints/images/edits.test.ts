import { describe, expect, it } from 'vitest'
import { defineProvider, tryNext } from '../../../src/providers/index.ts'
import type { ImageEditRequest } from '../../../src/wire/images.ts'
import { hostedWith } from '../../hosted.ts'
import { errorOf, formOf, read, send, type Entry } from '../forms.ts'

const image: Entry = ['image', new Blob(['cat'], { type: 'image/png' }), 'cat.png']
const model: Entry = ['model', 'm']
const prompt: Entry = ['prompt', 'a hat']

interface Seen {
  readonly request: ImageEditRequest
  readonly parts: unknown[][]
}

function editor(seen: Seen[] = []) {
  return defineProvider({
    name: 'editor',
    async editImages(call) {
      const parts = await read(call.form)
      seen.push({ request: call.request, parts })
      return { data: [{ b64_json: 'AAAA' }] }
    },
  })
}

/** Several images; `#` in the name is replaced by the index of each. */
function images(name: string, count: number): Entry[] {
  return Array.from({ length: count }, (_, index) => [name.replace('#', String(index)), new Blob(['x']), 'x.png'])
}

describe('edits of uploaded images', () => {
  it.each([
    ['fields first', [model, prompt, image]],
    ['the file first', [image, prompt, model]],
    ['the file in the middle', [prompt, image, model]],
  ])('accept their parts in any order: %s', async (_, entries) => {
    const seen: Seen[] = []
    const { url } = await hostedWith({ models: { m: editor(seen) } })
    const response = await send(url, '/images/edits', formOf(...entries))
    expect(response.status).toBe(200)
    expect(seen[0]?.request).toMatchObject({ model: 'm', prompt: 'a hat' })
    const expected = entries.map(([name, value, filename]) =>
      typeof value === 'string' ? [name, value] : [name, 'cat', filename, value.type],
    )
    expect(seen[0]?.parts).toEqual(expected)
  })

  it('give the provider values of the same types as a JSON request, and unknown fields', async () => {
    const seen: Seen[] = []
    const { url } = await hostedWith({ models: { m: editor(seen) } })
    const fields: Entry[] = [
      ['n', '2'],
      ['stream', 'false'],
      ['partial_images', '0'],
      ['user', '7'],
      ['style', 'bold'],
    ]
    const masks: Entry[] = [['mask', new Blob(['hole'], { type: 'image/png' }), 'mask.png']]
    const response = await send(url, '/images/edits', formOf(model, prompt, ...fields, image, ...masks))
    expect(response.status).toBe(200)
    const typed = { n: 2, stream: false, partial_images: 0, user: '7', style: 'bold' }
    expect(seen[0]?.request).toEqual({ model: 'm', prompt: 'a hat', ...typed })
    expect(seen[0]?.parts.map(([name]) => name)).toEqual(['model', 'prompt', ...Object.keys(typed), 'image', 'mask'])
  })

  it('accept up to 16 images, under each of the field names that clients use', async () => {
    const { url } = await hostedWith({ models: { m: editor() } })
    for (const name of ['image', 'image[]', 'image[#]']) {
      expect((await send(url, '/images/edits', formOf(model, prompt, ...images(name, 16)))).status).toBe(200)
    }
    const many = await send(url, '/images/edits', formOf(model, prompt, ...images('image[]', 17)))
    expect(await errorOf(many)).toMatchObject({ status: 400, param: 'image' })
  })

  it('count the images made', async () => {
    const { url, receipt } = await hostedWith({ models: { m: editor() } })
    await send(url, '/images/edits', formOf(model, prompt, ['size', '512x512'], image))
    expect(await receipt()).toMatchObject({ endpoint: 'images.edits', units: { images: 1, size: '512x512' } })
  })

  it.each<[string, Entry[], string]>([
    ['without a model', [prompt, image], 'model'],
    ['without a prompt', [model, image], 'prompt'],
    ['without an image', [model, prompt], 'image'],
    ['with text instead of an image', [model, prompt, ['image', 'https://example.com/cat.png']], 'image'],
    ['with an invalid number', [model, prompt, image, ['n', 'two']], 'n'],
    ['with too many images requested', [model, prompt, image, ['n', '11']], 'n'],
    ['with an invalid size', [model, prompt, image, ['size', 'large']], 'size'],
    ['with two prompts', [model, prompt, prompt, image], 'prompt'],
    ['with two models', [model, ['model', 'other'], prompt, image], 'model'],
    ['with an empty image', [model, prompt, ['image', new Blob([]), 'cat.png']], 'image'],
  ])('%s are rejected', async (_, entries, param) => {
    const { url, receipts } = await hostedWith({ models: { m: editor() } })
    const response = await send(url, '/images/edits', formOf(...entries))
    expect(await errorOf(response)).toMatchObject({ status: 400, param })
    expect(receipts).toEqual([])
  })

  it('are rejected by a model without image edits', async () => {
    const { url } = await hostedWith({
      models: { m: { provider: editor(), image: { edits: false } }, talker: defineProvider({ name: 'talker' }) },
    })
    for (const id of ['m', 'talker']) {
      const response = await send(url, '/images/edits', formOf(['model', id], prompt, image))
      expect(await errorOf(response)).toMatchObject({ status: 400, code: 'unsupported_value', param: 'model' })
    }
  })

  it('of an unknown model are rejected before and after the end of the upload', async () => {
    const { url } = await hostedWith({ models: { m: editor() }, sizes: { uploadMemoryBytes: 1_000 } })
    const large: Entry = ['image', new Blob([new Uint8Array(3_000_000)]), 'cat.png']
    const early: Entry[] = [
      ['n', '1'],
      ['size', '512x512'],
      ['quality', 'hd'],
    ]
    const response = await send(url, '/images/edits', formOf(['model', 'no'], prompt, ...early, large))
    expect(await errorOf(response)).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  it('of a large image are sent complete to the next deployment if the first one cannot be reached', async () => {
    const seen: Seen[] = []
    const unreachable = defineProvider({
      name: 'unreachable',
      async editImages(call) {
        await read(call.form)
        throw tryNext(new Error('refused'), { begun: false })
      },
    })
    const route = [{ provider: unreachable }, { provider: editor(seen) }]
    const { url } = await hostedWith({ models: { m: { route } }, sizes: { uploadMemoryBytes: 1_000 } })
    const early: Entry[] = [
      ['n', '1'],
      ['size', '512x512'],
      ['quality', 'hd'],
    ]
    const large: Entry = ['image', new Blob(['c'.repeat(300_000)], { type: 'image/png' }), 'cat.png']
    const response = await send(url, '/images/edits', formOf(model, prompt, ...early, large))
    expect(response.status).toBe(200)
    expect(seen[0]?.parts.at(-1)).toEqual(['image', 'c'.repeat(300_000), 'cat.png', 'image/png'])
  })
})

describe('edits of referenced images', () => {
  const json = { 'content-type': 'application/json' }
  const body = {
    model: 'm',
    prompt: 'a hat',
    images: [{ image_url: 'data:image/png;base64,AAAA' }, { file_id: 'file-1' }],
  }

  it('are passed to the provider as JSON', async () => {
    const seen: Seen[] = []
    const { url } = await hostedWith({ models: { m: editor(seen) } })
    const response = await send(url, '/images/edits', JSON.stringify(body), json)
    expect(response.status).toBe(200)
    expect(seen).toEqual([{ request: body, parts: [] }])
  })

  it.each([
    ['images', { images: [] }],
    ['images', { images: undefined }],
    ['images[0]', { images: [{}] }],
    ['images[0]', { images: [{ image_url: 'x', file_id: 'y' }] }],
    ['mask', { mask: {} }],
    ['prompt', { prompt: undefined }],
  ])('are rejected with an invalid %s', async (param, change) => {
    const { url } = await hostedWith({ models: { m: editor() } })
    const response = await send(url, '/images/edits', JSON.stringify({ ...body, ...change }), json)
    expect(await errorOf(response)).toMatchObject({ status: 400, param })
  })
})
