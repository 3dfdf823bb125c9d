/** Bytes as a reply body, with back-pressure. */
import type { Sink, StreamBody } from './exchange.ts'

/**
 * A reply body that pulls `source` as fast as the client reads. A client that reads nothing for `stallMs` milliseconds
 * is disconnected, which ends the source too. If the source throws, the connection is cut.
 */
export function byteStream(source: AsyncIterable<Uint8Array>, stallMs: number): StreamBody {
  return { start: (sink) => void pour(source, sink, stallMs) }
}

async function pour(source: AsyncIterable<Uint8Array>, sink: Sink, stallMs: number): Promise<void> {
  try {
    for await (const piece of source) {
      if (sink.closed) return
      if (!sink.write(piece)) await drained(sink, stallMs)
    }
    sink.end()
  } catch {
    // A truncated body must not look complete.
    sink.destroy()
  }
}

/** Resolves when the sink accepts data again, or is closed. Destroys it after `stallMs` milliseconds. */
export async function drained(sink: Sink, stallMs: number): Promise<void> {
  const timer = setTimeout(() => sink.destroy(), stallMs)
  timer.unref()
  await sink.drained()
  clearTimeout(timer)
}
