/** A stream of frames as a reply body: back-pressure, keep-alive, and an end that never looks cleaner than it is. */
import { GatewayError } from '../errors.ts'
import { drained } from './byte-stream.ts'
import type { Sink, StreamBody } from './exchange.ts'
import type { Heartbeat } from './heartbeat.ts'
import { errorFrame, keepAliveFrame } from './sse.ts'

export interface EventStreamOptions {
  readonly heartbeat: Heartbeat
  /** Milliseconds a client may leave written data unread before it is given up. */
  readonly stallMs: number
  /** Heartbeats without content after which a source that has begun is given up. Default: no limit. */
  readonly silentBeats?: number
  /** Ends the stream when it is aborted, whether or not the source of the frames takes notice. */
  readonly signal: AbortSignal
  /** Goes ahead while the first frame is still far, and carries the status to the client. */
  readonly opening?: string | undefined
  /** What is written when nothing else has been for a while. Default: a comment. */
  readonly idle?: (() => string | undefined) | undefined
  /** Asked when the client has gone: whether the frames are pulled on all the same. Default: they are not. */
  readonly goesOn?: () => boolean
  /** Called with every frame before it is handed to the client. */
  readonly writing: () => void
  /**
   * What is written at the end of a stream that failed. Absent: the body is bytes of another kind than events. Nothing is
   * written into its silences, and one that fails is cut.
   */
  readonly failed?: ((error: GatewayError) => string) | undefined
  /**
   * Called once when the stream is over; `completed` means that the client was there to the end, `cancelled` without an
   * error that it was not, but the answer came to its end. Must not throw.
   */
  readonly ended: (outcome: 'completed' | 'failed' | 'cancelled', error?: GatewayError) => void
}

type Frames = AsyncIterable<string | Uint8Array>

/** Frames are pulled as fast as the client reads. A throw becomes the error frame that ends the stream. */
export function eventStream(frames: Frames, options: EventStreamOptions): StreamBody {
  const pump = new Pump(frames, options)
  return { start: (sink) => pump.start(sink) }
}

function silence(): GatewayError {
  const cause = new Error('the provider fell silent in the middle of its answer')
  return new GatewayError('service_unavailable', { cause })
}

/** For a stream whose client left before anybody wrote to it. */
const nowhere: Sink = {
  write: () => true,
  drained: () => Promise.resolve(),
  end() {},
  destroy() {},
  closed: true,
}

class Pump {
  quiet = 0
  readonly #frames: Frames
  readonly #options: EventStreamOptions
  #sink = nowhere
  #started = false
  /** Beats since the last frame; undefined before the first one, whose time is bounded elsewhere. */
  #silent: number | undefined
  #stalled = false
  #over = false

  constructor(frames: Frames, options: EventStreamOptions) {
    this.#frames = frames
    this.#options = options
    options.signal.addEventListener('abort', this)
  }

  start(sink: Sink): void {
    if (this.#started) {
      // It was over before it could begin.
      sink.destroy()
      return sink.end(false)
    }
    this.#started = true
    this.#sink = sink
    void this.#run()
  }

  /** For the signal. */
  handleEvent(): void {
    if (this.#started) this.#end(this.#options.signal.reason)
    else this.start(nowhere)
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { heartbeat, signal, opening, writing, goesOn } = this.#options
    heartbeat.add(this)
    try {
      if (signal.aborted) this.#end(signal.reason)
      else if (opening !== undefined) this.#sink.write(opening)
      // Even a stream that nobody reads is begun: only then does its source get to know that it is over.
      for await (const frame of this.#frames) {
        if (this.#over) break
        if (this.#sink.closed && goesOn?.() !== true) throw new GatewayError('client_closed')
        writing()
        this.quiet = this.#silent = 0
        if (!this.#sink.write(frame)) await this.#drained()
      }
      this.#end(undefined)
    } catch (thrown) {
      this.#end(thrown ?? new Error('the source of the frames threw nothing'))
    } finally {
      signal.removeEventListener('abort', this)
    }
  }

  beat(): void {
    if (this.#stalled) return
    const { silentBeats = Infinity, failed } = this.#options
    if (this.#silent !== undefined && ++this.#silent >= silentBeats) this.#end(silence())
    else if (failed !== undefined) this.#sink.write(this.#idleFrame())
  }

  /** Called by a timer, so nothing may be thrown. */
  #idleFrame(): string {
    try {
      return this.#options.idle?.() ?? keepAliveFrame
    } catch {
      return keepAliveFrame
    }
  }

  #end(thrown: unknown): void {
    if (this.#over) return
    this.#over = true
    const { heartbeat, ended, failed } = this.#options
    heartbeat.remove(this)
    const error = thrown === undefined ? undefined : GatewayError.from(thrown)
    // A host may tell that its client has gone before it closes the sink.
    if (this.#sink.closed || error?.code === 'client_closed') ended('cancelled', error)
    else if (error === undefined) ended('completed')
    else {
      if (failed !== undefined) this.#sink.write(lastFrame(failed, error))
      ended('failed', error)
      if (failed === undefined) this.#sink.destroy()
    }
    this.#sink.end(error === undefined)
  }

  /** Waits until the client has read; one that does not is cut off, which ends the pull from the vendor too. */
  async #drained(): Promise<void> {
    this.#stalled = true
    await drained(this.#sink, this.#options.stallMs)
    this.#stalled = false
  }
}

function lastFrame(failed: (error: GatewayError) => string, error: GatewayError): string {
  try {
    return failed(error)
  } catch {
    return errorFrame(new GatewayError('server_error'))
  }
}
