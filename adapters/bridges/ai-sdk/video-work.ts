/** Videos of models with `doGenerate` only: both the running call and its result are in the memory of this process. */
import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../../src/errors.ts'
import { tryNext } from '../../../src/providers/failure.ts'
import type { VideoStatus } from '../../../src/providers/video.ts'
import { failedStatus } from '../../../src/providers/videos/states.ts'
import type { ModelSettings } from './generate.ts'
import { rejectIgnored } from './failure.ts'
import type { AiSdkVideoModel } from './models.ts'
import { failedBy, type VideoCallInfo } from './video-call.ts'
import { firstVideo, type MadeVideo } from './video-result.ts'

export interface Outcome {
  readonly status: VideoStatus
  readonly video?: MadeVideo
}

/** Maximum numbers of running calls and of stored outcomes. */
const max = { running: 256, ended: 10_000 }

/** Milliseconds after which a call is stopped: its task has expired by then. */
const taskAgeMs = 24 * 60 * 60_000

export class VideoWork {
  readonly #bytes: number
  /** The functions that stop each running call. */
  readonly #running = new Map<string, () => void>()
  /** Oldest first. */
  readonly #ended = new Map<string, Outcome>()
  #kept = 0
  #closed = false

  /** Keeps finished videos of at most `bytes` in total. */
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Runs `make`, which must not reject, and returns an id for its outcome. */
  begin(make: (signal: AbortSignal) => Promise<Outcome>): string {
    if (this.#closed || this.#running.size >= max.running) {
      throw tryNext(new Error(`this process is closing or already generates ${max.running} videos`), { begun: false })
    }
    const id = randomUUID()
    const controller = new AbortController()
    const timer = setTimeout(() => this.stop(id), taskAgeMs)
    timer.unref()
    this.#running.set(id, () => {
      clearTimeout(timer)
      controller.abort(new GatewayError('service_unavailable', { message: 'The generation was stopped.' }))
    })
    void make(controller.signal).then((outcome) => {
      clearTimeout(timer)
      // The outcome of a stopped call is not needed.
      if (this.#running.delete(id)) this.#keep(id, outcome)
    })
    return id
  }

  statusOf(id: string): VideoStatus {
    if (this.#running.has(id)) return { state: 'processing' }
    return this.#outcome(id).status
  }

  videoOf(id: string): MadeVideo | undefined {
    return this.#outcome(id).video
  }

  stop(id: string): void {
    const stop = this.#running.get(id)
    this.#running.delete(id)
    stop?.()
  }

  close(): void {
    this.#closed = true
    for (const id of this.#running.keys()) this.stop(id)
    this.#ended.clear()
    this.#kept = 0
  }

  #outcome(id: string): Outcome {
    const outcome = this.#ended.get(id)
    if (outcome === undefined) throw new GatewayError('not_found')
    return outcome
  }

  #keep(id: string, outcome: Outcome): void {
    if (bytesOf(outcome) > this.#bytes) {
      return this.#keep(id, { status: { state: 'failed', error: 'The video is too large. Request a shorter one.' } })
    }
    this.#ended.set(id, outcome)
    this.#kept += bytesOf(outcome)
    for (const [oldest, old] of this.#ended) {
      if (this.#kept <= this.#bytes && this.#ended.size <= max.ended) return
      this.#ended.delete(oldest)
      this.#kept -= bytesOf(old)
    }
  }
}

function bytesOf({ video }: Outcome): number {
  return video !== undefined && 'bytes' in video ? video.bytes.length : 0
}

/** Calls the model. `info.signal` is aborted when the video is no longer needed. Never rejects. */
export async function generate(
  model: AiSdkVideoModel,
  options: object,
  info: VideoCallInfo,
  { dropParams }: ModelSettings,
): Promise<Outcome> {
  try {
    const { headers, signal: abortSignal } = info
    const made = await model.doGenerate?.({ ...options, headers, abortSignal } as never)
    rejectIgnored(made?.warnings, info, dropParams)
    const video = firstVideo(made?.videos)
    return video === undefined ? { status: failedStatus('no video') } : { status: { state: 'completed' }, video }
  } catch (thrown) {
    return { status: failedBy(thrown, info) }
  }
}
