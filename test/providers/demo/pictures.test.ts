import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { inflateSync } from 'node:zlib'
import { draw, sizeOfPng } from '../../../src/providers/demo/png.ts'
import { formOf, send, type Entry } from '../../endpoints/forms.ts'
import { hostedWith } from '../../hosted.ts'
import { demo } from '../../../src/providers/index.ts'

async function blob(side: number): Promise<Blob> {
  return new Blob([await draw('a cat', { width: side, height: side })] as BlobPart[])
}

/** The bytes of each row, which begins with its filter. */
async function rowsOf(...image: Parameters<typeof draw>): Promise<Buffer[]> {
  const bytes = await draw(...image)
  const stride = 1 + image[1].width * 3
  const data = inflateSync(bytes.subarray(41, 41 + bytes.readUInt32BE(33)))
  return Array.from({ length: image[1].height }, (_, y) => data.subarray(y * stride, (y + 1) * stride))
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
    expect(sizeOfPng(await draw('a cat', { width: 37, height: 23 }), 'image')).toEqual({ width: 37, height: 23 })
  })

  it('writes valid chunks and checksums', async () => {
    const bytes = await draw('a cat', { width: 5, height: 4 })
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
    const whole = await draw('a cat', { width: 5, height: 4 })
    const huge = Buffer.from(whole)
    huge.writeUInt32BE(60_000, 16)
    huge.writeUInt32BE(60_000, 20)
    for (const bytes of [Buffer.from('GIF89a'), whole.subarray(0, 20), huge]) {
      expect(() => sizeOfPng(bytes, 'image')).toThrow(expect.objectContaining({ status: 400, param: 'image' }))
    }
  })
})

describe('images', () => {
  const [wide, high] = [
    { width: 64, height: 32 },
    { width: 32, height: 64 },
  ]

  it('depend only on the prompt, their number and the size', async () => {
    const image = await draw('a cat', wide)
    expect(await draw('a cat', wide)).toEqual(image)
    const others = [await draw('a dog', wide), await draw('a cat', wide, 1), await draw('a cat', high)]
    for (const other of others) expect(other).not.toEqual(image)
  })

  it('have rows of three bytes a pixel, without a filter', async () => {
    const rows = await rowsOf('a cat', high)
    expect(rows.map((row) => row.length)).toEqual(rows.map(() => 1 + 32 * 3))
    expect(rows.every(([filter]) => filter === 0)).toBe(true)
  })

  it('consist of squares as partial images', async () => {
    const rows = await rowsOf('a cat', { width: 64, height: 64 }, 0, 16)
    const at = (x: number, y: number) => rows[y]?.subarray(1 + x * 3, 4 + x * 3)
    expect(at(0, 0)).not.toEqual(at(0, 63))
    for (const [x, y] of [
      [15, 15],
      [8, 3],
      [0, 15],
    ] as const)
      expect(at(x, y)).toEqual(at(0, 0))
  })
})

describe('edits', () => {
  it('have the size of the image, or the requested one', async () => {
    expect(await edit(['image', await blob(8)])).toEqual({ width: 8, height: 8 })
    expect(await edit(['image', await blob(8)], ['size', '16x4'])).toMatchObject({ width: 16, height: 4 })
  })

  it('require a mask of the image’s size', async () => {
    const small = await blob(1)
    expect(await edit(['image', await blob(8)], ['mask', small])).toEqual({ status: 400, param: 'mask' })
  })

  it('accept images in JSON, but no web URLs', async () => {
    const { url } = await hostedWith({ models: { m: demo() } })
    const json = { 'content-type': 'application/json' }
    const inline = `data:image/png;base64,${(await draw('a cat', { width: 8, height: 8 })).toString('base64')}`
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
