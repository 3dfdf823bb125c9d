/** Streams of chunks, as chats and text completions have them: how one is begun, and how its frames are made. */
import { dataFrame, doneFrame } from '../http/sse.ts'
import { estimateChunks } from '../billing/estimate.ts'
import type { Tally } from '../billing/receipt.ts'
import { ContentFrames } from '../providers/contract.ts'
import { unavailable } from '../providers/failure.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import type { Order } from './endpoint.ts'

/** An answer while its chunks arrive: brings each vendor's chunks into the one form. */
export interface ChunkState<Chunk, Full extends object> {
  /** Totals as reported last. */
  readonly usage: Usage | undefined
  /** The chunks for clients that come of one chunk of the vendor. */
  accept(chunk: Chunk): Full[]
  /** The ends that the vendor did not send, after its stream came to a clean end. */
  complete(): Full[]
  /** A chunk without choices. */
  last(): Full
}

/** A stream that has begun well: some pieces seen, the rest still to come. */
export interface OpenStream<Chunk, Full extends object> {
  readonly state: ChunkState<Chunk, Full>
  readonly seen: readonly (Chunk | ContentFrames)[]
  readonly rest: AsyncIterator<Chunk | ContentFrames>
}

interface Chunky {
  readonly choices?: readonly unknown[]
}

/** Reads up to the first content, so that an error in front of it still becomes a status or another attempt. */
export async function begin<Chunk extends Chunky, Full extends object>(
  rest: AsyncIterator<Chunk | ContentFrames>,
  state: ChunkState<Chunk, Full>,
  tellsSomething: (chunk: Chunk) => boolean,
): Promise<OpenStream<Chunk, Full>> {
  const seen: (Chunk | ContentFrames)[] = []
  try {
    for (;;) {
      const next = await rest.next()
      if (next.done === true) {
        if (seen.some((piece) => piece instanceof ContentFrames || piece.choices?.length)) break
        throw unavailable('same', new Error('the vendor ended the answer before its first word'))
      }
      seen.push(next.value)
      if (next.value instanceof ContentFrames || tellsSomething(next.value)) break
    }
  } catch (error) {
    release(rest)
    throw error
  }
  return { state, seen, rest }
}

/** The pieces for as long as somebody wants them, also of a provider that takes no notice of its signal. */
export async function* wanted<T>(pieces: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  for await (const piece of pieces) {
    if (signal.aborted) throw signal.reason
    yield piece
  }
}

/**
 * The frames of an OpenAI stream. Usage goes to the client only if it asked for it, in one last chunk without choices:
 * others have been seen to break on such a chunk. The vendor is always asked.
 */
export async function* chunkFrames<Chunk, Full extends object>(
  stream: OpenStream<Chunk, Full>,
  { order, meter }: { readonly order: Order<unknown>; readonly meter: Tally },
): AsyncGenerator<string | Uint8Array> {
  const { state, seen, rest } = stream
  const options = order.field('stream_options') as { include_usage?: boolean } | null | undefined
  const asked = options?.include_usage === true
  const print = (chunks: Full[]) => chunks.map((chunk) => dataFrame(asked ? { ...chunk, usage: null } : chunk)).join('')
  try {
    for (let index = 0; ; index++) {
      const piece = index < seen.length ? seen[index] : await nextOf(rest)
      if (piece === undefined) break
      if (piece instanceof ContentFrames) {
        meter.estimatedCompletionTokens += piece.count
        yield piece.bytes
        continue
      }
      const chunks = state.accept(piece)
      meter.estimatedCompletionTokens += estimateChunks(chunks)
      meter.usage = state.usage
      if (chunks.length > 0) yield print(chunks)
    }
    const ends = state.complete()
    if (ends.length > 0) yield print(ends)
    if (asked) {
      const usage = state.usage ?? usageOf(order.promptTokens, meter.estimatedCompletionTokens)
      yield dataFrame({ ...state.last(), usage })
    }
    yield doneFrame
  } finally {
    release(rest)
  }
}

/** The chunks of the stream one by one, frames of the vendor included, for those who make something else of them. */
export async function* chunksOf<Chunk, Full extends object>(
  { state, seen, rest }: OpenStream<Chunk, Full>,
  meter: Tally,
): AsyncGenerator<Full, void, void> {
  try {
    for (let index = 0; ; index++) {
      const piece = index < seen.length ? seen[index] : await nextOf(rest)
      if (piece === undefined) break
      const taken = piece instanceof ContentFrames ? chunksIn<Chunk>(piece) : [piece]
      const chunks = taken.flatMap((chunk) => state.accept(chunk))
      meter.estimatedCompletionTokens += estimateChunks(chunks)
      meter.usage = state.usage
      yield* chunks
    }
    yield* state.complete()
  } finally {
    release(rest)
  }
}

function chunksIn<Chunk>({ bytes }: ContentFrames): Chunk[] {
  const lines = Buffer.from(bytes).toString('utf8').split('\n\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line.slice('data: '.length)) as Chunk)
}

async function nextOf<T>(pieces: AsyncIterator<T>): Promise<T | undefined> {
  const next = await pieces.next()
  return next.done === true ? undefined : next.value
}

/** Tells a provider that nobody reads on. What it does about it is its own affair. */
export function release(rest: AsyncIterator<unknown>): void {
  void (async () => rest.return?.())().catch(ignore)
}

function ignore(): void {}
