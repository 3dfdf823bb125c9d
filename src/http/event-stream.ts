/** A stream of frames as a reply body: back-pressure, keep-alive, and an end that shows whether it is complete. */
import { GatewayError } from '../errors.ts'
import { drained } from './byte-stream.ts'
import type { Sink, StreamBody } from './exchange.ts'
import type { Heartbeat } from './heartbeat.ts'
import { errorFrame, keepAliveFrame } from './sse.ts'

/** Options of `eventStream`. */
export interface EventStreamOptions {
  readonly heartbeat: Heartbeat
  /** Milliseconds that a client may leave written data unread before it is disconnected. */
  readonly stallMs: number
  /** Heartbeats without a frame, counted from the first frame on, after which the stream fails. Default: no limit. */
  readonly silentBeats?: number
  /** Ends the stream when it is aborted, whether or not the source of the frames reacts. */
  readonly signal: AbortSignal
  /** Written before the first frame, so that status and headers reach the client while that frame is still pending. */
  readonly opening?: string | undefined
  /** The frame that keeps an idle connection open. Default: a comment. */
  readonly idle?: (() => string | undefined) | undefined
  /** Whether frames are still pulled after the client has disconnected. Default: no. */
  readonly keepReading?: () => boolean
  /** Called before each frame is written. */
  readonly writing: () => void
  /**
   * The last frame of a stream that failed. Absent for a body that is not an event stream: it gets no keep-alive
   * frames, and a failure cuts the connection.
   */
  readonly failed?: ((error: GatewayError) => string) | undefined
  /**
   * Called once at the end. `completed`: the client stayed connected to the end. `cancelled`: it disconnected; without
   * an error, the source was still read to its end. Must not throw.
   */
  readonly ended: (outcome: 'completed' | 'failed' | 'cancelled', error?: GatewayError) => void
}

/** The chunks of a body, each written at once. */
export type Frames = AsyncIterable<string | Uint8Array>

/** A reply body that pulls `frames` as fast as the client reads. If they throw, an error frame ends the stream. */
export function eventStream(frames: Frames, options: EventStreamOptions): StreamBody {
  const pump = new Pump(frames, options)
  return { start: (sink) => pump.start(sink) }
}

function silence(): GatewayError {
  const cause = new Error('the provider stopped sending in the middle of its response')
  return new GatewayError('service_unavailable', { cause })
}

/** For a stream that was aborted before the adapter started it. */
const closedSink: Sink = {
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
  #sink = closedSink
  #started = false
  /** Heartbeats since the last frame; undefined before the first one, which has its own time limit. */
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
      // The signal was aborted before the adapter called `start`.
      sink.destroy()
      return sink.end(false)
    }
    this.#started = true
    this.#sink = sink
    void this.#run()
  }

  /** Listener for the signal's `abort` event. */
  handleEvent(): void {
    if (this.#started) this.#end(this.#options.signal.reason)
    else this.start(closedSink)
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { heartbeat, signal, opening, writing, keepReading } = this.#options
    heartbeat.add(this)
    try {
      if (signal.aborted) this.#end(signal.reason)
      else if (opening !== undefined) this.#sink.write(opening)
      // Iterates even when already aborted: a generator's clean-up runs only if it was started.
      for await (const frame of this.#frames) {
        if (this.#over) break
        if (this.#sink.closed && keepReading?.() !== true) throw new GatewayError('client_closed')
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
    const { heartbeat, ended, failed } = this.#options
    heartbeat.remove(this)
    const error = thrown === undefined ? undefined : GatewayError.from(thrown)
    // Some hosts abort the signal before they close the sink.
    if (this.#sink.closed || error?.code === 'client_closed') ended('cancelled', error)
    else if (error === undefined) ended('completed')
    else {
      if (failed !== undefined) this.#sink.write(lastFrame(failed, error))
      ended('failed', error)
      if (failed === undefined) this.#sink.destroy()
    }
    this.#sink.end(error === undefined)
  }

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
