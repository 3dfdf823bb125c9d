import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { draw } from '../../../src/providers/demo/draw.ts'
import { sizeOfPng, writePng, type Picture } from '../../../src/providers/demo/png.ts'
import { formOf, send, type Entry } from '../../endpoints/forms.ts'
import { hostedWith } from '../../hosted.ts'
import { demo } from '../../../src/providers/index.ts'

async function blob(picture: Picture): Promise<Blob> {
  return new Blob([await writePng(picture)] as BlobPart[])
}

async function edit(...entries: Entry[]) {
  const { url } = await hostedWith({ models: { m: demo() } })
  const response = await send(url, '/images/edits', formOf(['model', 'm'], ['prompt', 'a hat'], ...entries))
  const { data, error } = (await response.json()) as { data?: { b64_json: string }[]; error?: { param: string } }
  if (data === undefined) return { status: response.status, param: error?.param }
  return sizeOfPng(Buffer.from(data[0]?.b64_json ?? '', 'base64'), 'image')
}

describe('PNG', () => {
  it('reads the size of what it has written', async () => {
    expect(sizeOfPng(await writePng(await draw('a cat', 37, 23)), 'image')).toEqual({ width: 37, height: 23 })
  })

  it('writes valid chunks and checksums', async () => {
    const bytes = await writePng(await draw('a cat', 5, 4))
    const types: string[] = []
    for (let at = 8; at < bytes.length;) {
      const length = bytes.readUInt32BE(at)
      types.push(bytes.toString('latin1', at + 4, at + 8))
      expect(bytes.readUInt32BE(at + 8 + length)).toBe(crc32(bytes.subarray(at + 4, at + 8 + length)))
      at += 12 + length
    }
    expect(types).toEqual(['IHDR', 'IDAT', 'IEND'])
  })

  it('rejects what has no size, or too large a one', async () => {
    const whole = await writePng(await draw('a cat', 5, 4))
    const huge = Buffer.from(whole)
    huge.writeUInt32BE(60_000, 16)
    huge.writeUInt32BE(60_000, 20)
    for (const bytes of [Buffer.from('GIF89a'), whole.subarray(0, 20), huge]) {
      expect(() => sizeOfPng(bytes, 'image')).toThrow(expect.objectContaining({ status: 400, param: 'image' }))
    }
  })
})

describe('images', () => {
  it('depend only on the prompt, their number and the size', async () => {
    expect(await draw('a cat', 64, 32)).toEqual(await draw('a cat', 64, 32))
    const others = [await draw('a dog', 64, 32), await draw('a cat', 64, 32, 1), await draw('a cat', 32, 64)]
    for (const other of others) expect(other.pixels).not.toEqual((await draw('a cat', 64, 32)).pixels)
  })

  it('consist of squares as partial images', async () => {
    const { pixels } = await draw('a cat', 64, 64, 0, 16)
    const at = (x: number, y: number) => [...pixels.subarray((y * 64 + x) * 4, (y * 64 + x) * 4 + 4)]
    for (const [x, y] of [
      [15, 15],
      [8, 3],
      [0, 15],
    ] as const)
      expect(at(x, y)).toEqual(at(0, 0))
  })
})

describe('edits', () => {
  const white: Picture = { width: 8, height: 8, pixels: new Uint8Array(256).fill(255) }

  it('have the size of the image, or the requested one', async () => {
    expect(await edit(['image', await blob(white)])).toEqual({ width: 8, height: 8 })
    expect(await edit(['image', await blob(white)], ['size', '16x4'])).toMatchObject({ width: 16, height: 4 })
  })

  it('require a mask of the image’s size', async () => {
    const small = await blob({ width: 1, height: 1, pixels: new Uint8Array(4) })
    expect(await edit(['image', await blob(white)], ['mask', small])).toEqual({ status: 400, param: 'mask' })
  })

  it('accept images in JSON, but no web URLs', async () => {
    const { url } = await hostedWith({ models: { m: demo() } })
    const json = { 'content-type': 'application/json' }
    const inline = `data:image/png;base64,${(await writePng(white)).toString('base64')}`
    const ask = (image: string) =>
      send(url, '/images/edits', JSON.stringify({ model: 'm', prompt: 'a hat', images: [{ image_url: image }] }), json)
    expect((await ask(inline)).status).toBe(200)
    expect(await (await ask('https://example.com/cat.png')).json()).toMatchObject({ error: { param: 'images[0]' } })
  })
})

describe('the demo model', () => {
  it.each([
    [{ size: '4096x4096' }, 'size'],
    [{ output_format: 'webp' }, 'output_format'],
  ])('rejects %o', async (body, param) => {
    const { url } = await hostedWith({ models: { m: demo() } })
    const json = { 'content-type': 'application/json' }
    const response = await send(url, '/images/generations', JSON.stringify({ model: 'm', prompt: 'x', ...body }), json)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param } })
  })
})
