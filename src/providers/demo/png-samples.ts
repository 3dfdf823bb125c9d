/** Converts the filtered rows of a PNG with 8 bits per sample to RGBA. */
import { eachRow } from './rows.ts'

export interface Header {
  readonly width: number
  readonly height: number
  /** 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha. */
  readonly colour: number
}

/** Samples, and so bytes, per pixel; 0 for an unknown colour type. */
export function samplesOf({ colour }: Header): number {
  return [1, 0, 3, 1, 2, 0, 4][colour] ?? 0
}

/** Undoes the filters of the rows and drops the filter bytes. Undefined for an unknown filter. */
export async function unfiltered(rows: Buffer, header: Header): Promise<Uint8Array | undefined> {
  const step = samplesOf(header)
  const stride = header.width * step
  const lines = new Uint8Array(stride * header.height)
  let known = true
  await eachRow(header, (y) => {
    const from = y * (stride + 1)
    const to = y * stride
    const filter = rows[from] as number
    known &&= filter <= 4
    for (let x = 0; x < stride; x++) {
      const left = x >= step ? (lines[to + x - step] as number) : 0
      const up = y > 0 ? (lines[to + x - stride] as number) : 0
      const corner = x >= step && y > 0 ? (lines[to + x - stride - step] as number) : 0
      lines[to + x] = (rows[from + 1 + x] as number) + predicted(filter, left, up, corner)
    }
  })
  return known ? lines : undefined
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter < 3) return [0, left, up][filter] as number
  if (filter === 3) return (left + up) >> 1
  const estimate = left + up - corner
  const [toLeft, toUp, toCorner] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)]
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}

/** `palette` and `alphas` are the contents of PLTE and tRNS. */
export async function toPixels(
  lines: Uint8Array,
  header: Header,
  palette: Uint8Array = new Uint8Array(),
  alphas: Uint8Array = new Uint8Array(),
): Promise<Uint8Array> {
  const { width, height, colour } = header
  if (colour === 6) return lines
  const step = samplesOf(header)
  const pixels = new Uint8Array(width * height * 4)
  await eachRow(header, (y) => {
    for (let pixel = y * width; pixel < (y + 1) * width; pixel++) {
      const [from, to] = [pixel * step, pixel * 4]
      const entry = lines[from] as number
      for (let nth = 0; nth < 3; nth++) {
        const sample = colour === 2 ? lines[from + nth] : colour === 3 ? palette[entry * 3 + nth] : entry
        pixels[to + nth] = sample ?? 0
      }
      pixels[to + 3] = (colour === 3 ? alphas[entry] : colour === 4 ? lines[from + 1] : undefined) ?? 255
    }
  })
  return pixels
}
