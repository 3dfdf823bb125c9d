import { crc32, deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { draw, repaint, resize } from '../../../src/providers/demo/draw.ts'
import { readPng, writePng, type Picture } from '../../../src/providers/demo/png.ts'
import { formOf, send, type Entry } from '../../endpoints/forms.ts'
import { hostedWith } from '../../hosted.ts'
import { demo } from '../../../src/providers/index.ts'

/** A handwritten PNG: rows of samples, each after the number of its filter. */
function png(
  header: { width: number; height: number; depth: number; colour: number; interlace?: number },
  rows: number[],
  more: [string, number[]][] = [],
): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(header.width, 0)
  head.writeUInt32BE(header.height, 4)
  head.set([header.depth, header.colour, 0, 0, header.interlace ?? 0], 8)
  const data = deflateSync(Buffer.from(rows))
  const chunks: [string, Iterable<number>][] = [
    ['IHDR', head],
    ...more,
    ['IDAT', data.subarray(0, 3)],
    ['IDAT', data.subarray(3)],
    ['IEND', []],
  ]
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ...chunks.map(([type, content]) => {
      const body = Buffer.concat([Buffer.from(type), Buffer.from([...content])])
      const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
      length.writeUInt32BE(body.length - 4)
      check.writeUInt32BE(crc32(body))
      return Buffer.concat([length, body, check])
    }),
  ])
}

async function pixelsOf(bytes: Buffer): Promise<number[]> {
  return [...(await readPng(bytes, 'image')).pixels]
}

function isThird(pixel: number): boolean {
  return pixel % 3 === 0
}

async function blob(picture: Picture): Promise<Blob> {
  return new Blob([await writePng(picture)] as BlobPart[])
}

async function edit(...entries: Entry[]) {
  const { url } = await hostedWith({ models: { m: demo() } })
  const response = await send(url, '/images/edits', formOf(['model', 'm'], ['prompt', 'a hat'], ...entries))
  const { data, error } = (await response.json()) as { data?: { b64_json: string }[]; error?: { param: string } }
  if (data === undefined) return { status: response.status, param: error?.param }
  const { width, height, pixels } = await readPng(Buffer.from(data[0]?.b64_json ?? '', 'base64'), 'image')
  const changed = Array.from({ length: width * height }, (_, pixel) => pixel).filter((pixel) =>
    pixels.subarray(pixel * 4, pixel * 4 + 4).some((value) => value !== 255),
  )
  return { width, height, changed }
}

describe('PNG', () => {
  it('reads what it has written', async () => {
    const picture = await draw('a cat', 37, 23)
    expect(await readPng(await writePng(picture), 'image')).toEqual(picture)
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

  it('reads every colour type', async () => {
    const one = { width: 1, height: 1, depth: 8 }
    expect(await pixelsOf(png({ ...one, colour: 0 }, [0, 90]))).toEqual([90, 90, 90, 255])
    expect(await pixelsOf(png({ ...one, colour: 2 }, [0, 1, 2, 3]))).toEqual([1, 2, 3, 255])
    expect(await pixelsOf(png({ ...one, colour: 4 }, [0, 90, 7]))).toEqual([90, 90, 90, 7])
    expect(await pixelsOf(png({ ...one, colour: 6 }, [0, 1, 2, 3, 4]))).toEqual([1, 2, 3, 4])
    const palette: [string, number[]][] = [
      ['PLTE', [1, 2, 3, 4, 5, 6]],
      ['tRNS', [9]],
    ]
    expect(await pixelsOf(png({ ...one, width: 2, colour: 3 }, [0, 0, 1], palette))).toEqual([1, 2, 3, 9, 4, 5, 6, 255])
  })

  it('reads rows with every filter', async () => {
    const rows = [1, 10, 5, 5, 2, 1, 1, 1, 3, 10, 10, 10, 4, 1, 1, 1]
    const grey = (await pixelsOf(png({ width: 3, height: 4, depth: 8, colour: 0 }, rows))).filter(
      (_, at) => at % 4 === 0,
    )
    expect(grey).toEqual([10, 15, 20, 11, 16, 21, 15, 25, 33, 16, 26, 34])
  })

  it.each([
    ['not a PNG', Buffer.from('GIF89a'), /must be a PNG/],
    ['truncated', png({ width: 9, height: 9, depth: 8, colour: 0 }, [0]), /broken/],
    ['without data', png({ width: 1, height: 1, depth: 8, colour: 0 }, [0, 1]).subarray(0, 40), /broken/],
    ['with an unknown filter', png({ width: 1, height: 1, depth: 8, colour: 0 }, [5, 1]), /broken/],
    ['with an unknown colour type', png({ width: 1, height: 1, depth: 8, colour: 5 }, [0, 1]), /broken/],
    ['of 1 bit per sample', png({ width: 1, height: 1, depth: 1, colour: 0 }, [0, 1]), /8 bits/],
    ['of 16 bits per sample', png({ width: 1, height: 1, depth: 16, colour: 0 }, [0, 1, 1]), /8 bits/],
    ['interlaced', png({ width: 1, height: 1, depth: 8, colour: 0, interlace: 1 }, [0, 1]), /interlaced/],
    ['too large', png({ width: 60_000, height: 60_000, depth: 8, colour: 6 }, [0]), /pixels/],
    [
      'larger than it says',
      png(
        { width: 1, height: 1, depth: 8, colour: 0 },
        Array.from({ length: 10_000 }, () => 0),
      ),
      /broken/,
    ],
  ])('rejects a file that is %s', async (_, bytes, message) => {
    await expect(readPng(bytes, 'image')).rejects.toMatchObject({
      status: 400,
      param: 'image',
      message: expect.stringMatching(message),
    })
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

  it('change in every pixel of the region, and nowhere else', async () => {
    const before = await draw('a cat', 40, 40)
    // The same prompt, so the blended scene equals the image.
    for (const prompt of ['a cat', 'a dog']) {
      const { pixels } = await repaint(before, prompt, 0, isThird)
      for (let pixel = 0; pixel < 1_600; pixel++) {
        const same = [0, 1, 2, 3].every((nth) => pixels[pixel * 4 + nth] === before.pixels[pixel * 4 + nth])
        expect(same).toBe(!isThird(pixel))
      }
    }
  })

  it('are scaled by nearest neighbour', async () => {
    const two: Picture = { width: 2, height: 1, pixels: Uint8Array.of(1, 1, 1, 1, 2, 2, 2, 2) }
    expect([...(await resize(two, 4, 1)).pixels].filter((_, at) => at % 4 === 0)).toEqual([1, 1, 2, 2])
  })
})

it('rejects a PNG with very many empty chunks', async () => {
  const parts = Array.from({ length: 20_000 }, (): [string, number[]] => ['IDAT', []])
  const many = png({ width: 1, height: 1, depth: 8, colour: 6 }, [0, 1, 2, 3, 4], parts)
  await expect(readPng(many, 'image')).rejects.toMatchObject({ status: 400, param: 'image' })
})

describe('edits', () => {
  const white: Picture = { width: 8, height: 8, pixels: new Uint8Array(256).fill(255) }
  const half: Picture = {
    ...white,
    pixels: white.pixels.map((value, at) => (at % 4 === 3 && at >> 2 < 32 ? 0 : value)),
  }
  const first = Array.from({ length: 32 }, (_, pixel) => pixel)

  it('change the transparent pixels of the mask, otherwise those of the image, otherwise all', async () => {
    const image: Entry = ['image', await blob(white)]
    expect(await edit(image, ['mask', await blob(half)])).toEqual({ width: 8, height: 8, changed: first })
    expect(await edit(['image', await blob(half)])).toMatchObject({ changed: first })
    expect(await edit(image)).toMatchObject({ changed: [...first, ...first.map((pixel) => pixel + 32)] })
  })

  it('have the requested size', async () => {
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
