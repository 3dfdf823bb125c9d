/** Draws the demo model's images: a sky of two colours and some discs, derived from a hash of the prompt. */
import { createHash } from 'node:crypto'
import type { Picture } from './png.ts'
import { eachRow } from './rows.ts'

type Colour = readonly [red: number, green: number, blue: number, alpha: number]
/** Returns the colour of each pixel in a row. */
type Scene = (y: number) => (x: number) => Colour

/** `nth`: the number of the image for its prompt, from 0. `grain`: the side of the squares it consists of, in pixels. */
export function draw(prompt: string, width: number, height: number, nth = 0, grain = 1): Promise<Picture> {
  const scene = sceneFor(`${nth} ${prompt}`, width, height)
  return paint(width, height, (y) => {
    const colourAt = scene(y - (y % grain))
    return (x) => colourAt(x - (x % grain))
  })
}

/**
 * Blends the prompt's scene over the pixels of the region. All other pixels are unchanged.

 */
export function repaint(
  picture: Picture,
  prompt: string,
  nth: number,
  inRegion: (pixel: number) => boolean,
): Promise<Picture> {
  const { width, height } = picture
  const scene = sceneFor(`${nth} ${prompt}`, width, height)
  return paint(width, height, (y) => {
    const colourAt = scene(y)
    return (x) => {
      const before = pixelOf(picture, x, y)
      return inRegion(y * width + x) ? blend(before, colourAt(x)) : before
    }
  })
}

/** Scales an image by nearest neighbour. */
export function resize(picture: Picture, width: number, height: number): Promise<Picture> {
  const [across, down] = [picture.width / width, picture.height / height]
  return paint(width, height, (y) => (x) => pixelOf(picture, Math.floor(x * across), Math.floor(y * down)))
}

async function paint(width: number, height: number, scene: Scene): Promise<Picture> {
  const pixels = new Uint8Array(width * height * 4)
  await eachRow({ width, height }, (y) => {
    const colourAt = scene(y)
    for (let x = 0, at = y * width * 4; x < width; x++) {
      const [red, green, blue, alpha] = colourAt(x)
      pixels[at++] = red
      pixels[at++] = green
      pixels[at++] = blue
      pixels[at++] = alpha
    }
  })
  return { width, height, pixels }
}

function pixelOf({ width, pixels }: Picture, x: number, y: number): Colour {
  const at = (y * width + x) * 4
  return [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0, pixels[at + 3] ?? 0]
}

/** Discs on a vertical gradient. */
function sceneFor(text: string, width: number, height: number): Scene {
  const bytes = createHash('sha512').update(text).digest()
  const colour = (at: number) => [...bytes.subarray(at, at + 3), 255] as unknown as Colour
  const [top, bottom] = [colour(0), colour(3)]
  const discs = [6, 13, 20, 27, 34].map((at) => {
    const [x = 0, y = 0, size = 0] = bytes.subarray(at, at + 3)
    const radius = (0.05 + size / 1000) * Math.min(width, height)
    return { x: (x / 255) * width, y: (y / 255) * height, reach: radius * radius, colour: colour(at + 3) }
  })
  return (y) => {
    const sky = mix(top, bottom, y / height)
    return (x) => discs.find((disc) => (x - disc.x) ** 2 + (y - disc.y) ** 2 <= disc.reach)?.colour ?? sky
  }
}

/** Blends a colour over a pixel. The lowest bit of red always flips, so that every edited pixel differs. */
function blend(before: Colour, colour: Colour): Colour {
  const [red, green, blue] = mix(before, colour, 0.75)
  return [(red & ~1) | (~before[0] & 1), green, blue, 255]
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const between = (nth: 0 | 1 | 2) => Math.round(from[nth] + (to[nth] - from[nth]) * share)
  return [between(0), between(1), between(2), 255]
}
