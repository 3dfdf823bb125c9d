/** The demo model's pictures: a sky of two colours and some discs, all of them told by the prompt alone. */
import { createHash } from 'node:crypto'
import type { Picture } from './png.ts'
import { eachRow } from './rows.ts'

type Colour = readonly [red: number, green: number, blue: number, alpha: number]
/** The colours of the pixels of a row. */
type Scene = (y: number) => (x: number) => Colour

/** `nth`: which of several pictures of the same prompt. `grain`: the side of the squares it is made of, in pixels. */
export function draw(prompt: string, width: number, height: number, nth = 0, grain = 1): Promise<Picture> {
  const scene = sceneFor(`${nth} ${prompt}`, width, height)
  return paint(width, height, (y) => {
    const colourAt = scene(y - (y % grain))
    return (x) => colourAt(x - (x % grain))
  })
}

/**
 * The picture with the prompt's scene laid over the pixels of the region, through which what was there still shines;
 * all other pixels stay what they are.
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
      return inRegion(y * width + x) ? laid(before, colourAt(x)) : before
    }
  })
}

/** The nearest pixel of the old picture for each of the new one. */
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

/** Discs in front of a sky that goes from one colour to another. */
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
    const sky = mixed(top, bottom, y / height)
    return (x) => discs.find((disc) => (x - disc.x) ** 2 + (y - disc.y) ** 2 <= disc.reach)?.colour ?? sky
  }
}

/** A colour over a pixel. Red becomes odd where it was even, so that it shows even where it is the one that is there. */
function laid(before: Colour, colour: Colour): Colour {
  const [red, green, blue] = mixed(before, colour, 0.75)
  return [(red & ~1) | (~before[0] & 1), green, blue, 255]
}

function mixed(from: Colour, to: Colour, share: number): Colour {
  const between = (nth: 0 | 1 | 2) => Math.round(from[nth] + (to[nth] - from[nth]) * share)
  return [between(0), between(1), between(2), 255]
}
