/** Streams of chunks, as chat and text completions have them: waiting for the first content, and writing frames. */
import { dataFrame, doneFrame } from '../http/sse.ts'
import { textInChunks } from '../billing/estimate.ts'
import type { Tally } from '../billing/receipt.ts'
import { estimateTokens } from '../wire/counts.ts'
import { ContentFrames } from '../providers/contract.ts'
import { retrySame } from '../providers/failure.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import type { Order } from './endpoint.ts'
import { readVendor } from './read-vendor.ts'

/** Normalises the chunks of one response, whichever vendor they come from. */
export interface ChunkState<Chunk, Full extends object> {
  /** The totals reported last. */
  readonly usage: Usage | undefined
  /** The chunks for the client that result from one chunk of the vendor. */
  accept(chunk: Chunk): Full[]
  /** After the vendor's stream ended without an error: the finish reasons that it did not send. */
  complete(): Full[]
  /** A chunk without choices, for the usage. */
  last(): Full
  /** A chunk without content, to keep the connection open. */
  idle(): Full
  /** The first chunk, sent before the vendor has sent anything; the response then keeps the gateway's id. */
  open(): Full
}

/** A stream whose first content has arrived: the pieces read so far, and the iterator for the rest. */
export interface OpenStream<Chunk, Full extends object> {
  readonly state: ChunkState<Chunk, Full>
  readonly seen: readonly (Chunk | ContentFrames)[]
  readonly rest: AsyncIterator<Chunk | ContentFrames>
}

interface Chunky {
  readonly choices?: readonly unknown[]
}

/** Reads up to the first content: an error before it can still become an HTTP status, or another attempt. */
export async function begin<Chunk extends Chunky, Full extends object>(
  rest: AsyncIterator<Chunk | ContentFrames>,
  state: ChunkState<Chunk, Full>,
  hasContent: (chunk: Chunk) => boolean,
): Promise<OpenStream<Chunk, Full>> {
  const seen: (Chunk | ContentFrames)[] = []
  try {
    for (;;) {
      const next = await rest.next()
      if (next.done === true) {
        if (seen.some((piece) => piece instanceof ContentFrames || piece.choices?.length)) break
        throw retrySame(new Error('the vendor ended the response before any content'))
      }
      const { value } = next
      seen.push(value)
      if (value instanceof ContentFrames || readVendor(() => hasContent(value))) break
    }
  } catch (error) {
    release(rest)
    throw error
  }
  return { state, seen, rest }
}

/** The pieces until `signal` is aborted, also for a provider that ignores its signal. Throws the signal's reason. */
export async function* untilAborted<T>(pieces: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  for await (const piece of pieces) {
    if (signal.aborted) throw signal.reason
    yield piece
  }
}

/**
 * The frames of an OpenAI stream. The client gets the usage only if it requested it, in a last chunk without choices,
 * because some clients fail on such a chunk. The vendor's usage is always counted. `ahead`: the opening frame was
 * already sent.
 */
export function chunkFrames<Chunk, Full extends object>(
  stream: OpenStream<Chunk, Full>,
  context: { readonly order: Order<unknown>; readonly meter: Tally },
  ahead: boolean = false,
): AsyncIterableIterator<string | Uint8Array, undefined> {
  return new ChunkFrames(stream, context.order, context.meter, ahead)
}

/** One chunk as a frame. */
export function frameOf(chunk: object, order: Order<unknown>): string {
  return dataFrame(includesUsage(order) ? { ...chunk, usage: null } : chunk)
}

function includesUsage(order: Order<unknown>): boolean {
  const options = order.field('stream_options') as { include_usage?: boolean } | null | undefined
  return options?.include_usage === true
}

/** Not a generator, because that takes several microtasks for each frame. */
class ChunkFrames<Chunk, Full extends object> implements AsyncIterableIterator<string | Uint8Array, undefined> {
  readonly #stream: OpenStream<Chunk, Full>
  readonly #order: Order<unknown>
  readonly #meter: Tally
  readonly #includesUsage: boolean
  /** Whether to rewrite the vendor's frames, because they carry another id than the opening frame. */
  readonly #rewrite: boolean
  /** How many of the pieces in `seen` were written. */
  #given = 0
  #over = false

  constructor(stream: OpenStream<Chunk, Full>, order: Order<unknown>, meter: Tally, rewrite: boolean) {
    this.#stream = stream
    this.#order = order
    this.#meter = meter
    this.#rewrite = rewrite
    this.#includesUsage = includesUsage(order)
    if (rewrite) stream.state.open()
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
    if (isFrames && !this.#rewrite) {
      this.#meter.textBytes += piece.textBytes
      return piece.bytes
    }
    const { state } = this.#stream
    return readVendor(() => {
      const chunks = isFrames ? chunksIn<Chunk>(piece).flatMap((chunk) => state.accept(chunk)) : state.accept(piece)
      this.#meter.textBytes += textInChunks(chunks)
      this.#meter.usage = state.usage
      return this.#framesOf(chunks)
    })
  }

  /** Everything after the last piece. */
  #end(): string {
    void this.return()
    const { state } = this.#stream
    const ends = this.#framesOf(state.complete())
    if (!this.#includesUsage) return ends + doneFrame
    const usage = state.usage ?? usageOf(this.#order.promptTokens, estimateTokens(this.#meter.textBytes))
    return ends + dataFrame({ ...state.last(), usage }) + doneFrame
  }

  #framesOf(chunks: readonly Full[]): string {
    let frames = ''
    for (const chunk of chunks) frames += dataFrame(this.#includesUsage ? { ...chunk, usage: null } : chunk)
    return frames
  }
}

/** The single chunks of a stream, for endpoints that convert them to another format. */
export async function* chunksOf<Chunk, Full extends object>(
  { state, seen, rest }: OpenStream<Chunk, Full>,
  meter: Tally,
): AsyncGenerator<Full, void, void> {
  try {
    for (let index = 0; ; index++) {
      const piece = index < seen.length ? seen[index] : await nextOf(rest)
      if (piece === undefined) break
      const taken = piece instanceof ContentFrames ? chunksIn<Chunk>(piece) : [piece]
      const chunks = readVendor(() => taken.flatMap((chunk) => state.accept(chunk)))
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

/** The next value; undefined at the end. */
export async function nextOf<T>(pieces: AsyncIterator<T>): Promise<T | undefined> {
  const next = await pieces.next()
  return next.done === true ? undefined : next.value
}

/** Ends a provider's iterator without waiting; errors of its clean-up are ignored. */
export function release(rest: AsyncIterator<unknown>): void {
  void (async () => rest.return?.())().catch(ignore)
}

function ignore(): void {}
