/** The demo model's pictures: a sky of two colours and some discs, all of them told by the prompt alone. */
import { createHash } from 'node:crypto'
import type { Picture } from './png.ts'

type Colour = readonly [number, number, number]

/** A disc in pixels. */
interface Shape {
  readonly x: number
  readonly y: number
  /** The square of the radius. */
  readonly reach: number
  readonly colour: Colour
}

interface Scene {
  readonly top: Colour
  readonly bottom: Colour
  readonly height: number
  readonly shapes: readonly Shape[]
}

/** `nth`: which of several pictures of the same prompt. `grain`: the side of the squares it is made of, in pixels. */
export function draw(prompt: string, width: number, height: number, nth = 0, grain = 1): Picture {
  const scene = sceneFor(`${nth} ${prompt}`, width, height)
  const pixels = new Uint8Array(width * height * 4)
  for (let y = 0; y < height; y++) {
    const row = y * width * 4
    if (y % grain !== 0) {
      pixels.copyWithin(row, row - width * 4, row)
      continue
    }
    const sky = skyAt(scene, y)
    for (let x = 0; x < width; x++) {
      const at = row + x * 4
      if (x % grain === 0) put(pixels, at, shapeAt(scene, x, y)?.colour ?? sky)
      else pixels.copyWithin(at, at - 4, at)
    }
  }
  return { width, height, pixels }
}

/**
 * The picture with the prompt's scene laid over the pixels of the region, through which what was there still shines;
 * all other pixels stay what they are.
 */
export function repaint(picture: Picture, prompt: string, nth: number, inRegion: (pixel: number) => boolean): Picture {
  const { width, height } = picture
  const scene = sceneFor(`${nth} ${prompt}`, width, height)
  const pixels = Uint8Array.from(picture.pixels)
  for (let y = 0, pixel = 0; y < height; y++) {
    const sky = skyAt(scene, y)
    for (let x = 0; x < width; x++, pixel++) {
      if (inRegion(pixel)) lay(pixels, pixel * 4, shapeAt(scene, x, y)?.colour ?? sky)
    }
  }
  return { width, height, pixels }
}

/** The nearest pixel of the old picture for each of the new one. */
export function resize({ width, height, pixels }: Picture, newWidth: number, newHeight: number): Picture {
  const resized = new Uint8Array(newWidth * newHeight * 4)
  for (let y = 0, to = 0; y < newHeight; y++) {
    const row = Math.floor((y * height) / newHeight) * width
    for (let x = 0; x < newWidth; x++, to += 4) {
      const from = (row + Math.floor((x * width) / newWidth)) * 4
      resized.set(pixels.subarray(from, from + 4), to)
    }
  }
  return { width: newWidth, height: newHeight, pixels: resized }
}

function sceneFor(text: string, width: number, height: number): Scene {
  const bytes = createHash('sha512').update(text).digest()
  const colour = (at: number) => [...bytes.subarray(at, at + 3)] as unknown as Colour
  const shapes = [6, 13, 20, 27, 34].map((at) => {
    const [x = 0, y = 0, size = 0] = bytes.subarray(at, at + 3)
    const radius = (0.05 + size / 1000) * Math.min(width, height)
    return { x: (x / 255) * width, y: (y / 255) * height, reach: radius * radius, colour: colour(at + 3) }
  })
  return { top: colour(0), bottom: colour(3), height, shapes }
}

function skyAt({ top, bottom, height }: Scene, y: number): Colour {
  const between = (nth: 0 | 1 | 2) => Math.round(top[nth] + (bottom[nth] - top[nth]) * (y / height))
  return [between(0), between(1), between(2)]
}

function shapeAt({ shapes }: Scene, x: number, y: number): Shape | undefined {
  for (const shape of shapes) {
    const [dx, dy] = [x - shape.x, y - shape.y]
    if (dx * dx + dy * dy <= shape.reach) return shape
  }
  return undefined
}

/** Lays a colour over a pixel, so that it shows even where it happens to be what was there. */
function lay(pixels: Uint8Array, at: number, colour: Colour): void {
  const before: Colour = [pixels[at] as number, pixels[at + 1] as number, pixels[at + 2] as number]
  const [red, green, blue] = [mix(before[0], colour[0]), mix(before[1], colour[1]), mix(before[2], colour[2])]
  const same = pixels[at + 3] === 255 && red === before[0] && green === before[1] && blue === before[2]
  put(pixels, at, [same ? 255 - red : red, green, blue])
}

function mix(before: number, after: number): number {
  return Math.round(before * 0.25 + after * 0.75)
}

function put(pixels: Uint8Array, at: number, [red, green, blue]: Colour): void {
  pixels[at] = red
  pixels[at + 1] = green
  pixels[at + 2] = blue
  pixels[at + 3] = 255
}
