/** The samples of a PNG's rows, in whatever colour type and depth, as four bytes a pixel. */

export interface Header {
  readonly width: number
  readonly height: number
  /** Bits a sample. */
  readonly depth: number
  /** 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha. */
  readonly colour: number
}

/** Samples a pixel. */
export function samplesOf({ colour }: Header): number {
  return [1, 0, 3, 1, 2, 0, 4][colour] as number
}

/** `palette` and `transparency` are the contents of PLTE and tRNS. */
export function toPixels(
  lines: Uint8Array,
  stride: number,
  header: Header,
  palette: Uint8Array = new Uint8Array(),
  transparency: Uint8Array = new Uint8Array(),
): Uint8Array {
  const { width, height, colour, depth } = header
  if (colour === 6 && depth === 8) return lines
  const count = samplesOf(header)
  const pixels = new Uint8Array(width * height * 4)
  const sample = [0, 0, 0, 0]
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++, to += 4) {
      for (let nth = 0; nth < count; nth++) sample[nth] = sampleAt(lines, y * stride, x * count + nth, header)
      const [first = 0, second = 0, third = 0, fourth = 0] = sample
      if (colour === 3) {
        const entry = first * 3
        pixels.set([palette[entry] ?? 0, palette[entry + 1] ?? 0, palette[entry + 2] ?? 0], to)
        pixels[to + 3] = transparency[first] ?? 255
      } else if (colour === 0 || colour === 4) {
        const grey = scaled(first, header)
        pixels.fill(grey, to, to + 3)
        pixels[to + 3] = colour === 4 ? scaled(second, header) : alphaOf([first], transparency)
      } else {
        pixels.set([scaled(first, header), scaled(second, header), scaled(third, header)], to)
        pixels[to + 3] = colour === 6 ? scaled(fourth, header) : alphaOf([first, second, third], transparency)
      }
    }
  }
  return pixels
}

function sampleAt(lines: Uint8Array, line: number, index: number, { depth }: Header): number {
  if (depth === 8) return lines[line + index] as number
  if (depth === 16) return ((lines[line + index * 2] as number) << 8) | (lines[line + index * 2 + 1] as number)
  const perByte = 8 / depth
  const byte = lines[line + Math.floor(index / perByte)] as number
  return (byte >> (8 - depth * ((index % perByte) + 1))) & ((1 << depth) - 1)
}

/** A sample as a byte. */
function scaled(sample: number, { depth }: Header): number {
  return depth === 8 ? sample : Math.round((sample * 255) / ((1 << depth) - 1))
}

/** In images without alpha one colour may stand for full transparency. */
function alphaOf(sample: readonly number[], transparency: Uint8Array): number {
  if (transparency.length < sample.length * 2) return 255
  const clear = sample.every(
    (value, at) => value === ((transparency[at * 2] as number) << 8) + (transparency[at * 2 + 1] as number),
  )
  return clear ? 0 : 255
}
