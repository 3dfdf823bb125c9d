/** Generates videos: MP4s of an opening hatch with the requested length, as asynchronous tasks. */
import { inflateSync } from 'node:zlib'
import { refusedValue } from '../../errors.ts'
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

/** `secondsToMake`: the simulated duration of a job. */
export function demoVideo(secondsToMake: number, now: () => number): VideoProvider {
  return {
    // The operation is the only state of a job, so a repeated submission is harmless.
    submit: 'token',
    limits: () => ({ sizes, frames: [], fields: [] }),
    async start({ request }) {
      const { size = defaultSize, duration } = request
      if (!sizes.includes(size)) {
        throw refusedValue(`This model supports only the sizes ${sizes.join(', ')}.`, 'size')
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

/** The duration fields of a clip: the box, the offset after its type, and the units per second. */
const durations = [
  ['mvhd', 20, 16_000],
  ['tkhd', 24, 16_000],
  ['mdhd', 20, 16_000],
  // The duration of each of the 16 frames.
  ['stts', 16, 1_000],
] as const

/** The clip of this size, with its frames stretched to this length. */
function clipOf({ size, seconds }: Job): Buffer {
  const clip = inflateSync(Buffer.from(clips[size] ?? clips[defaultSize] ?? '', 'base64'))
  for (const [box, at, units] of durations) clip.writeUInt32BE(Math.round(seconds * units), clip.indexOf(box) + at)
  return clip
}
