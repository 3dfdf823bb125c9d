/** Bytes of any kind as a reply body: pulled as fast as the client reads, cut where the source breaks off. */
import type { Sink, StreamBody } from './exchange.ts'

/** A client that reads nothing for `stallMs` is cut off, which ends the pull from the source too. */
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
    // Half a file must not look like a whole one.
    sink.destroy()
  }
}

/** Resolves when there is room again, or nobody who could make it. */
export async function drained(sink: Sink, stallMs: number): Promise<void> {
  const timer = setTimeout(() => sink.destroy(), stallMs)
  timer.unref()
  await sink.drained()
  clearTimeout(timer)
}
