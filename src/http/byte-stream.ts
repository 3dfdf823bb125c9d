/** Bytes of any kind as a reply body: pulled as fast as the client reads, cut where the source breaks off. */
import type { Sink, StreamBody } from './exchange.ts'

export function byteStream(source: AsyncIterable<Uint8Array>): StreamBody {
  return { start: (sink) => void pour(source, sink) }
}

async function pour(source: AsyncIterable<Uint8Array>, sink: Sink): Promise<void> {
  try {
    for await (const piece of source) {
      if (sink.closed) return
      if (!sink.write(piece)) await sink.drained()
    }
    sink.end()
  } catch {
    // Half a file must not look like a whole one.
    sink.destroy()
  }
}
