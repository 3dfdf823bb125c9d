/** The demo's videos: MP4s of a hatch that opens, as long as was asked for, through a real task. */
import { inflateSync } from 'node:zlib'
import { GatewayError } from '../../errors.ts'
import type { Json } from '../../wire/json.ts'
import type { VideoProvider, VideoStatus } from '../video.ts'
import { ranged } from '../videos/content.ts'
import { clips } from './clips.ts'

const sizes = Object.keys(clips)
const [defaultSize = ''] = sizes

interface Job {
  readonly [name: string]: Json
  readonly startedAt: number
  readonly seconds: number
  readonly size: string
}

/** `secondsToMake`: how long a job is pretended to take. */
export function demoVideo(secondsToMake: number, now: () => number): VideoProvider {
  return {
    // Nothing is kept of a job but its operation, so that beginning it twice makes no difference.
    submit: 'token',
    limits: () => ({ sizes }),
    async start({ request }) {
      const { size = defaultSize, duration } = request
      if (!sizes.includes(size)) {
        throw new GatewayError('unsupported_value', {
          param: 'size',
          message: `The demo makes videos of the sizes ${sizes.join(', ')}.`,
        })
      }
      return { startedAt: now(), seconds: duration, size } satisfies Job
    },
    async check(operation): Promise<VideoStatus> {
      const { startedAt, seconds } = operation as Job
      const done = (now() - startedAt) / (secondsToMake * 1_000)
      if (done >= 1) return { state: 'completed', seconds }
      return { state: done < 0.1 ? 'pending' : 'processing', progress: Math.max(Math.floor(done * 100), 0) }
    },
    async cancel() {},
    async content(operation, { range }) {
      return ranged(clipOf(operation as Job), range)
    },
  }
}

/** Durations in the boxes of a clip: how far behind the type of the box, and in units of how many to a second. */
const durations = [
  ['mvhd', 20, 16_000],
  ['tkhd', 24, 16_000],
  ['mdhd', 20, 16_000],
  // Of each of the 16 pictures.
  ['stts', 16, 1_000],
] as const

/** The clip of that size, its pictures shown for so long that together they last as many seconds. */
function clipOf({ size, seconds }: Job): Buffer {
  const clip = inflateSync(Buffer.from(clips[size] ?? clips[defaultSize] ?? '', 'base64'))
  for (const [box, at, units] of durations) clip.writeUInt32BE(Math.round(seconds * units), clip.indexOf(box) + at)
  return clip
}
