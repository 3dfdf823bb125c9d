/** Videos by a model that can only be waited for: the work, and what came of it, are in this process and nowhere else. */
import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../../src/errors.ts'
import { tryNext } from '../../../src/providers/failure.ts'
import type { VideoStatus } from '../../../src/providers/video.ts'
import { failedStatus } from '../../../src/providers/videos/states.ts'
import type { ChatSettings } from './chat.ts'
import { refuseUnheeded } from './failure.ts'
import type { AiSdkVideoModel } from './models.ts'
import { failedBy, type VideoAsking } from './video-asking.ts'
import { madeIn, type MadeVideo } from './video-result.ts'

export interface Outcome {
  readonly status: VideoStatus
  readonly video?: MadeVideo
}

/** Of works under way, and of outcomes. */
const most = { running: 256, ended: 10_000 }

/** The life of a task: what is older belongs to nobody. */
const lifeMs = 24 * 60 * 60_000

export class VideoWork {
  readonly #bytes: number
  /** How to stop each. */
  readonly #running = new Map<string, () => void>()
  /** The oldest first. */
  readonly #ended = new Map<string, Outcome>()
  #kept = 0
  #closed = false

  /** `bytes`: of finished videos at most. */
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** `make` never rejects. */
  begin(make: (signal: AbortSignal) => Promise<Outcome>): string {
    if (this.#closed || this.#running.size >= most.running) {
      throw tryNext(new Error('this process makes as many videos as it can'), { begun: false })
    }
    const id = randomUUID()
    const controller = new AbortController()
    const timer = setTimeout(() => this.stop(id), lifeMs)
    timer.unref()
    this.#running.set(id, () => {
      clearTimeout(timer)
      controller.abort(new GatewayError('service_unavailable', { message: 'The generation was stopped.' }))
    })
    void make(controller.signal).then((outcome) => {
      clearTimeout(timer)
      // Nobody waits for what was stopped.
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
      return this.#keep(id, { status: { state: 'failed', error: 'The video is too large. Ask for a shorter one.' } })
    }
    this.#ended.set(id, outcome)
    this.#kept += bytesOf(outcome)
    for (const [oldest, old] of this.#ended) {
      if (this.#kept <= this.#bytes && this.#ended.size <= most.ended) return
      this.#ended.delete(oldest)
      this.#kept -= bytesOf(old)
    }
  }
}

function bytesOf({ video }: Outcome): number {
  return video !== undefined && 'bytes' in video ? video.bytes.length : 0
}

/** The model's one call. `asking.signal` is aborted when nobody wants the video any more. */
export async function generate(
  model: AiSdkVideoModel,
  options: object,
  asking: VideoAsking,
  { dropParams }: ChatSettings,
): Promise<Outcome> {
  try {
    const made = await model.doGenerate?.({ ...options, abortSignal: asking.signal } as never)
    refuseUnheeded(made?.warnings, asking, dropParams)
    const video = madeIn(made?.videos)
    return video === undefined ? { status: failedStatus('no video') } : { status: { state: 'completed' }, video }
  } catch (thrown) {
    return { status: failedBy(thrown, asking) }
  }
}
