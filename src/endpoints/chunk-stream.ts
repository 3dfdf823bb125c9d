/** Streams of chunks, as chats and text completions have them: how one is begun, and how its frames are made. */
import { dataFrame, doneFrame } from '../http/sse.ts'
import { textInChunks } from '../billing/estimate.ts'
import type { Tally } from '../billing/receipt.ts'
import { estimateTokens } from '../wire/counts.ts'
import { ContentFrames } from '../providers/contract.ts'
import { retrySame } from '../providers/failure.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import type { Order } from './endpoint.ts'
import { readable } from './readable.ts'

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
  /** A chunk that says nothing. */
  idle(): Full
  /**
   * The first chunk of an answer of which nothing is known yet. All that follows has the identity that the gateway gives
   * it.
   */
  open(): Full
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
        throw retrySame(new Error('the vendor ended the answer before its first word'))
      }
      const { value } = next
      seen.push(value)
      if (value instanceof ContentFrames || readable(() => tellsSomething(value))) break
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
export function chunkFrames<Chunk, Full extends object>(
  stream: OpenStream<Chunk, Full>,
  visit: { readonly order: Order<unknown>; readonly meter: Tally },
  ahead: boolean = false,
): AsyncIterableIterator<string | Uint8Array, undefined> {
  return new ChunkFrames(stream, visit.order, visit.meter, ahead)
}

/** One chunk as a frame. */
export function frameOf(chunk: object, order: Order<unknown>): string {
  return dataFrame(asksForUsage(order) ? { ...chunk, usage: null } : chunk)
}

function asksForUsage(order: Order<unknown>): boolean {
  const options = order.field('stream_options') as { include_usage?: boolean } | null | undefined
  return options?.include_usage === true
}

/** Written out instead of a generator, which takes several turns of the microtask queue for each frame. */
class ChunkFrames<Chunk, Full extends object> implements AsyncIterableIterator<string | Uint8Array, undefined> {
  readonly #stream: OpenStream<Chunk, Full>
  readonly #order: Order<unknown>
  readonly #meter: Tally
  readonly #usageAsked: boolean
  /** Frames of the vendor carry its own identity of the answer: they are printed anew. */
  readonly #anew: boolean
  /** Of the pieces that were seen before. */
  #given = 0
  #over = false

  constructor(stream: OpenStream<Chunk, Full>, order: Order<unknown>, meter: Tally, anew: boolean) {
    this.#stream = stream
    this.#order = order
    this.#meter = meter
    this.#anew = anew
    this.#usageAsked = asksForUsage(order)
    if (anew) stream.state.open()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<string | Uint8Array, undefined>> {
    const { seen, rest } = this.#stream
    try {
      while (!this.#over) {
        const piece = this.#given < seen.length ? seen[this.#given++] : (await rest.next()).value
        const value = piece === undefined ? this.#end() : this.#print(piece)
        if (value !== '') return { done: false, value }
      }
      return { done: true, value: undefined }
    } catch (error) {
      void this.return()
      throw error
    }
  }

  return(): Promise<IteratorResult<string | Uint8Array, undefined>> {
    this.#over = true
    release(this.#stream.rest)
    return Promise.resolve({ done: true, value: undefined })
  }

  #print(piece: Chunk | ContentFrames): string | Uint8Array {
    const isFrames = piece instanceof ContentFrames
    if (isFrames && !this.#anew) {
      this.#meter.textBytes += piece.textBytes
      return piece.bytes
    }
    const { state } = this.#stream
    return readable(() => {
      const chunks = isFrames ? chunksIn<Chunk>(piece).flatMap((chunk) => state.accept(chunk)) : state.accept(piece)
      this.#meter.textBytes += textInChunks(chunks)
      this.#meter.usage = state.usage
      return this.#framesOf(chunks)
    })
  }

  /** All that comes behind the last piece. */
  #end(): string {
    void this.return()
    const { state } = this.#stream
    const ends = this.#framesOf(state.complete())
    if (!this.#usageAsked) return ends + doneFrame
    const usage = state.usage ?? usageOf(this.#order.promptTokens, estimateTokens(this.#meter.textBytes))
    return ends + dataFrame({ ...state.last(), usage }) + doneFrame
  }

  #framesOf(chunks: readonly Full[]): string {
    let frames = ''
    for (const chunk of chunks) frames += dataFrame(this.#usageAsked ? { ...chunk, usage: null } : chunk)
    return frames
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
      const chunks = readable(() => taken.flatMap((chunk) => state.accept(chunk)))
      meter.textBytes += textInChunks(chunks)
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

/** Undefined at the end. */
export async function nextOf<T>(pieces: AsyncIterator<T>): Promise<T | undefined> {
  const next = await pieces.next()
  return next.done === true ? undefined : next.value
}

/** Tells a provider that nobody reads on. What it does about it is its own affair. */
export function release(rest: AsyncIterator<unknown>): void {
  void (async () => rest.return?.())().catch(ignore)
}

function ignore(): void {}
