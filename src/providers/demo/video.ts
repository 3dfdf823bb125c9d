/** The demo's videos: real MP4s of a hatch that opens, in colours that depend on the prompt, through a real task. */
import { createHash } from 'node:crypto'
import { GatewayError } from '../../errors.ts'
import type { Json } from '../../wire/json.ts'
import type { VideoProvider, VideoStatus } from '../video.ts'
import { ranged } from '../videos/content.ts'
import { changedPicture, parameterSets, wholePicture, type Picture } from './h264.ts'
import { mp4 } from './mp4.ts'

const picturesPerSecond = 10

interface Job {
  readonly [name: string]: Json
  readonly startedAt: number
  readonly prompt: string
  readonly seconds: number
  readonly width: number
  readonly height: number
}

/** `secondsToMake`: how long a job is pretended to take. */
export function demoVideo(secondsToMake: number, now: () => number): VideoProvider {
  return {
    // Nothing is kept of a job but its operation, so that beginning it twice makes no difference.
    submit: 'token',
    async start({ request }) {
      const [width = 320, height = 180] = (request.size ?? '320x180').split('x').map((side) => Number(side) & ~1)
      if (width > 2_048 || height > 2_048) {
        throw new GatewayError('unsupported_value', {
          param: 'size',
          message: 'The demo makes videos of at most 2048x2048.',
        })
      }
      return { startedAt: now(), prompt: request.prompt, seconds: request.duration, width, height } satisfies Job
    },
    async check(operation): Promise<VideoStatus> {
      const { startedAt, seconds } = operation as Job
      const done = (now() - startedAt) / (secondsToMake * 1_000)
      if (done >= 1) return { state: 'completed', seconds }
      return { state: done < 0.1 ? 'pending' : 'processing', progress: Math.max(Math.floor(done * 100), 0) }
    },
    async cancel() {},
    async content(operation, { range }) {
      return ranged(render(operation as Job), range)
    },
  }
}

function render({ prompt, seconds, width, height }: Job): Buffer {
  const [hue = 0, shade = 0, glow = 0, pace = 0] = createHash('sha256').update(prompt).digest()
  const across = Math.ceil(width / 16)
  const down = Math.ceil(height / 16)
  const wall = flat(40 + (shade % 60), 64 + (hue % 128), 64 + (glow % 128))
  const light = flat(235, 64 + (glow % 128), 64 + (hue % 128))
  const picture = (open: ReadonlySet<number>): Picture => ({
    across,
    down,
    block: (x, y) => (open.has(y * across + x) ? light : wall),
  })
  // The blocks of the hatch, in the order in which they open: from the middle outwards.
  const hatch = blocksFromTheMiddle(across, down).slice(0, Math.ceil((across * down) / 4))
  const pictures = [wholePicture(picture(new Set()))]
  const count = seconds * picturesPerSecond
  for (let index = 1; index < count; index++) {
    const until = (share: number) => Math.floor((hatch.length * Math.min(share * (1 + (pace % 3)), count)) / count)
    const changed = new Set(hatch.slice(until(index - 1), until(index)))
    pictures.push(changedPicture(picture(changed), index, changed))
  }
  return mp4({ width, height, picturesPerSecond, ...parameterSets(width, height), pictures })
}

/** A block of one colour. */
function flat(luma: number, blue: number, red: number): Uint8Array {
  return Buffer.concat([Buffer.alloc(256, luma), Buffer.alloc(64, blue), Buffer.alloc(64, red)])
}

function blocksFromTheMiddle(across: number, down: number): number[] {
  const blocks = Array.from({ length: across * down }, (_, block) => block)
  const distance = (block: number) =>
    Math.hypot((block % across) - (across - 1) / 2, Math.floor(block / across) - (down - 1) / 2)
  return blocks.sort((left, right) => distance(left) - distance(right))
}
