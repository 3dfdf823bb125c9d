/** The demo model's pictures: a sky of two colours and some discs, all of them told by the prompt alone. */
import { createHash } from 'node:crypto'
import type { Picture } from './png.ts'

type Colour = readonly [number, number, number]

interface Disc {
  /** Middle and radius as parts of the picture's sides. */
  readonly x: number
  readonly y: number
  readonly radius: number
  readonly colour: Colour
}

interface Scene {
  readonly top: Colour
  readonly bottom: Colour
  readonly discs: readonly Disc[]
}

/** `nth`: which of several pictures of the same prompt. `grain`: the side of the squares it is made of, in pixels. */
export function draw(prompt: string, width: number, height: number, nth = 0, grain = 1): Picture {
  const scene = sceneFor(`${nth} ${prompt}`)
  const pixels = new Uint8Array(width * height * 4)
  for (let y = 0; y < height; y++) {
    const row = y * width * 4
    if (y % grain !== 0) {
      pixels.copyWithin(row, row - width * 4, row)
      continue
    }
    for (let x = 0; x < width; x++) {
      const at = row + x * 4
      if (x % grain === 0) put(pixels, at, colourAt(scene, x, y, width, height))
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
  const scene = sceneFor(`${nth} ${prompt}`)
  const pixels = Uint8Array.from(picture.pixels)
  for (let pixel = 0, at = 0; pixel < width * height; pixel++, at += 4) {
    if (!inRegion(pixel)) continue
    const colour = colourAt(scene, pixel % width, Math.floor(pixel / width), width, height)
    const opaque = pixels[at + 3] === 255
    const mixed = colour.map((value, nth) => mix(pixels[at + nth] as number, value)) as unknown as Colour
    // Where the scene happens to be what was there, it would not show.
    const same = opaque && mixed.every((value, nth) => value === pixels[at + nth])
    put(pixels, at, same ? [255 - mixed[0], mixed[1], mixed[2]] : mixed)
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

function sceneFor(text: string): Scene {
  const bytes = createHash('sha512').update(text).digest()
  const colour = (at: number) => [...bytes.subarray(at, at + 3)] as unknown as Colour
  const discs = [6, 13, 20, 27, 34].map((at) => ({
    x: (bytes[at] as number) / 255,
    y: (bytes[at + 1] as number) / 255,
    radius: 0.05 + (bytes[at + 2] as number) / 1000,
    colour: colour(at + 3),
  }))
  return { top: colour(0), bottom: colour(3), discs }
}

function colourAt({ top, bottom, discs }: Scene, x: number, y: number, width: number, height: number): Colour {
  const side = Math.min(width, height)
  for (const disc of discs) {
    const [dx, dy, radius] = [x - disc.x * width, y - disc.y * height, disc.radius * side]
    if (dx * dx + dy * dy <= radius * radius) return disc.colour
  }
  const part = y / height
  return top.map((value, nth) => Math.round(value + ((bottom[nth] as number) - value) * part)) as unknown as Colour
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
