import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { demoVideo } from '../../../src/providers/demo/video.ts'

const provider = demoVideo(0, Date.now)
const signal = new AbortController().signal

async function videoOf(size: string, duration: number): Promise<Buffer> {
  const request = { model: 'demo', prompt: 'a hatch', duration, size }
  const job = await provider.start({ request, model: 'demo', openModel: false, token: 't', signal })
  const content = await provider.content?.(job, { signal })
  if (content === undefined) throw new Error('no content')
  return buffer(content.body)
}

interface Box {
  readonly type: string
  /** The offset of its content in the file. */
  readonly at: number
  readonly body: Buffer
}

const containers = ['moov', 'trak', 'mdia', 'minf', 'stbl']

function boxesOf(file: Buffer, from = 0, to = file.length): Box[] {
  const boxes: Box[] = []
  for (let at = from; at < to;) {
    const end = at + file.readUInt32BE(at)
    const type = file.toString('latin1', at + 4, at + 8)
    boxes.push({ type, at: at + 8, body: file.subarray(at + 8, end) })
    if (containers.includes(type)) boxes.push(...boxesOf(file, at + 8, end))
    at = end
  }
  return boxes
}

describe('a video of the demo model', () => {
  test.each(provider.limits?.('demo')?.sizes ?? [])('of %s has this size and the requested length', async (size) => {
    for (const seconds of [1, 5, 20]) {
      const boxes = boxesOf(await videoOf(size, seconds))
      const number = (box: string, at: number) => boxes.find(({ type }) => type === box)?.body.readUInt32BE(at) ?? 0
      expect(number('mvhd', 16) / number('mvhd', 12)).toBe(seconds)
      expect(number('tkhd', 20)).toBe(number('mvhd', 16))
      expect(number('mdhd', 16) / number('mdhd', 12)).toBe(seconds)
      expect([number('stts', 4), number('stts', 8)]).toEqual([1, number('stsz', 8)])
      expect(number('stts', 8) * number('stts', 12)).toBe(number('mdhd', 16))
      expect(`${number('tkhd', 76) >> 16}x${number('tkhd', 80) >> 16}`).toBe(size)
    }
  })

  test('has its frames where its index says', async () => {
    const boxes = boxesOf(await videoOf('720x1280', 5))
    const box = (name: string) => boxes.find(({ type }) => type === name) as Box
    const { body: places } = box('stco')
    const { body: lengths } = box('stsz')
    const pictures = box('mdat')
    expect([places.readUInt32BE(4), places.readUInt32BE(8)]).toEqual([1, pictures.at])
    const sum = Array.from({ length: lengths.readUInt32BE(8) }, (_, nth) => lengths.readUInt32BE(12 + nth * 4))
    expect(sum.reduce((all, length) => all + length, 0)).toBe(pictures.body.length)
  })

  test('is not available in other sizes', async () => {
    await expect(videoOf('640x480', 5)).rejects.toMatchObject({ status: 400, param: 'size' })
  })
})
