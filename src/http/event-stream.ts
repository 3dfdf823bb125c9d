/** A stream of frames as a reply body: back-pressure, keep-alive, and an end that shows whether it is complete. */
import { GatewayError } from '../errors.ts'
import { drained } from './byte-stream.ts'
import type { Cancellation } from './cancellation.ts'
import { closedSink, type Sink, type StreamBody } from './exchange.ts'
import type { Flow, Receiver } from './flow.ts'
import { flowOf } from './flow-of.ts'
import type { Heartbeat } from './heartbeat.ts'
import { errorFrame, keepAliveFrame } from './sse.ts'

/** Options of `eventStream`. */
export interface EventStreamOptions {
  readonly heartbeat: Heartbeat
  /** Milliseconds that a client may leave written data unread before it is disconnected. */
  readonly stallMs: number
  /** Heartbeats without a frame, counted from the first frame on, after which the stream fails. Default: no limit. */
  readonly silentBeats?: number
  /** Ends the stream when it is cancelled, whether or not the source of the frames reacts. */
  readonly signal: Cancellation
  /** Written before the first frame, so that status and headers reach the client while that frame is still pending. */
  readonly opening?: string | undefined
  /** The frame that keeps an idle connection open. Default: a comment. */
  readonly idle?: (() => string | undefined) | undefined
  /** Whether the frames are the bytes of a file: it gets no idle frames, and is cut where it fails. Default: no. */
  readonly isFile?: boolean | undefined
  /** Whether frames are still read after the client has disconnected. Default: no. */
  readonly keepReading?: () => boolean
  /** Called before each frame is written. It may return a comment to be written before it. */
  readonly writing: () => string | undefined
  /** The last frame of a stream that failed. */
  readonly failed: (error: GatewayError) => string
  /**
   * Called once at the end. `completed`: the client stayed connected to the end. `cancelled`: it disconnected; without
   * an error, the source was still read to its end. Must not throw.
   */
  readonly ended: (outcome: 'completed' | 'failed' | 'cancelled', error?: GatewayError) => void
}

/** The chunks of a body, each written at once. */
export type Frames = AsyncIterable<string | Uint8Array>

/** A reply body that takes `frames` as fast as the client reads. If they fail, an error frame ends the stream. */
export function eventStream(frames: Frames, options: EventStreamOptions): StreamBody {
  const pump = new Pump(frames, options)
  return { start: (sink) => pump.start(sink) }
}

function silence(): GatewayError {
  const cause = new Error('the provider stopped sending in the middle of its response')
  return new GatewayError('service_unavailable', { cause, fault: 'provider_timeout' })
}

class Pump implements Receiver<string | Uint8Array> {
  quiet = 0
  readonly #frames: Flow<string | Uint8Array>
  readonly #options: EventStreamOptions
  #sink = closedSink
  #started = false
  /** Heartbeats since the last frame; undefined before the first one, which has its own time limit. */
  #silent: number | undefined
  #stalled = false
  #over = false

  constructor(frames: Frames, options: EventStreamOptions) {
    this.#frames = flowOf(frames)
    this.#options = options
    options.signal.addEventListener('abort', this)
  }

  start(sink: Sink): void {
    if (this.#started) {
      // The signal was aborted before the adapter called `start`.
      sink.destroy()
      return sink.end(false)
    }
    this.#started = true
    this.#sink = sink
    const { heartbeat, signal, opening } = this.#options
    if (signal.aborted) return this.#end(signal.reason)
    heartbeat.add(this)
    if (opening !== undefined) sink.write(opening)
    this.#frames.start(this)
  }

  /** Listener for the signal's `abort` event. */
  handleEvent(): void {
    if (this.#started) this.#end(this.#options.signal.reason)
    else this.start(closedSink)
  }

  receive(frames: readonly (string | Uint8Array)[], last: boolean): void {
    if (this.#over) return
    const { writing, keepReading } = this.#options
    for (const frame of frames) {
      if (this.#sink.closed && keepReading?.() !== true) return this.#end(new GatewayError('client_closed'))
      const comment = writing()
      if (comment !== undefined) this.#sink.write(comment)
      this.quiet = this.#silent = 0
      if (!this.#sink.write(frame) && !this.#stalled) void this.#stall(last)
    }
    if (last && !this.#stalled) this.#end(undefined)
  }

  fail(error: unknown): void {
    this.#end(error ?? new Error('the source of the frames threw nothing'))
  }

  beat(): void {
    if (this.#stalled) return
    const { silentBeats = Infinity, isFile = false } = this.#options
    if (this.#silent !== undefined && ++this.#silent >= silentBeats) this.#end(silence())
    else if (!isFile) this.#sink.write(this.#idleFrame())
  }

  /** Called from a timer, where an exception would crash the host. */
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
    const { heartbeat, signal, ended, failed, isFile = false } = this.#options
    heartbeat.remove(this)
    signal.removeEventListener('abort', this)
    this.#frames.stop()
    const error = thrown === undefined ? undefined : GatewayError.from(thrown)
    // Some hosts abort the signal before they close the sink.
    if (this.#sink.closed || error?.code === 'client_closed') ended('cancelled', error)
    else if (error === undefined) ended('completed')
    else {
      if (isFile) this.#sink.destroy()
      else this.#sink.write(lastFrame(failed, error))
      ended('failed', error)
    }
    this.#sink.end(error === undefined)
  }

  /** Waits until the client has read what was written, without reading more from the source. Never rejects. */
  async #stall(last: boolean): Promise<void> {
    this.#stalled = true
    if (!last) this.#frames.pause()
    await drained(this.#sink, this.#options.stallMs)
    this.#stalled = false
    if (last) this.#end(undefined)
    else if (!this.#over) this.#frames.start(this)
  }
}

function lastFrame(failed: (error: GatewayError) => string, error: GatewayError): string {
  try {
    return failed(error)
  } catch {
    return errorFrame(new GatewayError('server_error'))
  }
}
