/** Draws the demo model's images: a sky of two colours and some discs, derived from a hash of the prompt. */
import { createHash } from 'node:crypto'
import type { Picture } from './png.ts'
import { eachRow } from './rows.ts'

type Colour = readonly [red: number, green: number, blue: number]

/** `nth`: the number of the image for its prompt, from 0. `grain`: the side of the squares it consists of, in pixels. */
export async function draw(prompt: string, width: number, height: number, nth = 0, grain = 1): Promise<Picture> {
  const bytes = createHash('sha512').update(`${nth} ${prompt}`).digest()
  const colour = (at: number): Colour => [...bytes.subarray(at, at + 3)] as unknown as Colour
  const [top, bottom] = [colour(0), colour(3)]
  const discs = [6, 13, 20, 27, 34].map((at) => {
    const [x = 0, y = 0, size = 0] = bytes.subarray(at, at + 3)
    const radius = (0.05 + size / 1000) * Math.min(width, height)
    return { x: (x / 255) * width, y: (y / 255) * height, reach: radius * radius, colour: colour(at + 3) }
  })
  const pixels = new Uint8Array(width * height * 4)
  await eachRow({ width, height }, (row) => {
    const y = row - (row % grain)
    const sky = top.map((from, at) => Math.round(from + ((bottom[at] ?? 0) - from) * (y / height)))
    for (let column = 0, at = row * width * 4; column < width; column++, at += 4) {
      const x = column - (column % grain)
      const disc = discs.find((each) => (x - each.x) ** 2 + (y - each.y) ** 2 <= each.reach)
      pixels.set(disc?.colour ?? sky, at)
      pixels[at + 3] = 255
    }
  })
  return { width, height, pixels }
}
