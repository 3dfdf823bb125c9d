/** Streams of chunks, as chat and text completions have them: waiting for the first content, and writing frames. */
import type { Cancellation } from '../http/cancellation.ts'
import type { Flow } from '../http/flow.ts'
import { FrameWriter } from '../http/mapped-flow.ts'
import { dataFrame, doneFrame } from '../http/sse.ts'
import { textInChunks } from '../money/prices/estimate.ts'
import type { Tally } from '../money/tally.ts'
import { estimateTokens, readUsage } from '../wire/counts.ts'
import { ContentFrames } from '../providers/contract.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import type { Order } from './endpoint.ts'
import { afterFirstContent } from './first-content.ts'
import type { Streamed } from './open.ts'
import { readVendor } from './read-vendor.ts'

/** Normalises the chunks of one response, whichever vendor they come from. */
export interface ChunkState<Chunk, Full extends object> {
  /** The totals reported last. */
  readonly usage: Usage | undefined
  /** The service tier reported last. */
  readonly serviceTier?: string | undefined
  /** The identifying fields of the response, as the client gets them. */
  readonly head?: { readonly id: string }
  /** The finish reasons so far, one for each choice that has ended. */
  readonly finishReasons?: readonly string[] | undefined
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

/** A stream whose first content has arrived. */
export interface OpenStream<Chunk, Full extends object> extends Streamed<Chunk | ContentFrames> {
  readonly state: ChunkState<Chunk, Full>
}

interface Chunky {
  readonly choices?: readonly unknown[]
}

/** Reads up to the first content: an error before it can still become an HTTP status, or another attempt. */
export async function begin<Chunk extends Chunky, Full extends object>(
  pieces: AsyncIterable<Chunk | ContentFrames>,
  state: ChunkState<Chunk, Full>,
  hasContent: (chunk: Chunk) => boolean,
): Promise<OpenStream<Chunk, Full>> {
  const isContent = (piece: Chunk | ContentFrames) =>
    piece instanceof ContentFrames || readVendor(() => hasContent(piece))
  const hasChoices = (piece: Chunk | ContentFrames) => piece instanceof ContentFrames || Boolean(piece.choices?.length)
  return { kind: 'stream', state, pieces: await afterFirstContent(pieces, isContent, hasChoices, usageIn) }
}

function usageIn(piece: object): Usage | undefined {
  return readUsage((piece as { usage?: unknown }).usage)
}

/** The pieces until `call` is cancelled, also for a provider that ignores that. Throws the reason. */
export async function* untilAborted<T>(pieces: AsyncIterable<T>, call: Cancellation): AsyncGenerator<T, void, void> {
  for await (const piece of pieces) {
    if (call.aborted) throw call.reason
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
): Flow<string | Uint8Array> {
  return new ChunkFrames(stream, context.order, context.meter, ahead)
}

export function frameOf(chunk: object, order: Order<unknown>): string {
  return dataFrame(includesUsage(order) ? { ...chunk, usage: null } : chunk)
}

function includesUsage(order: Order<unknown>): boolean {
  const options = order.field('stream_options') as { include_usage?: boolean } | null | undefined
  return options?.include_usage === true
}

class ChunkFrames<Chunk, Full extends object> extends FrameWriter<Chunk | ContentFrames> {
  readonly #stream: OpenStream<Chunk, Full>
  readonly #order: Order<unknown>
  readonly #meter: Tally
  readonly #includesUsage: boolean
  /** Whether to rewrite the vendor's frames, because they carry another id than the opening frame. */
  readonly #rewrite: boolean

  constructor(stream: OpenStream<Chunk, Full>, order: Order<unknown>, meter: Tally, rewrite: boolean) {
    super(stream.pieces)
    this.#stream = stream
    this.#order = order
    this.#meter = meter
    this.#rewrite = rewrite
    this.#includesUsage = includesUsage(order)
    if (rewrite) stream.state.open()
  }

  protected print(piece: Chunk | ContentFrames): string | Uint8Array {
    const isFrames = piece instanceof ContentFrames
    if (isFrames && !this.#rewrite) {
      this.#meter.textBytes += piece.textBytes
      return piece.frames
    }
    const { state } = this.#stream
    return readVendor(
      () => {
        const chunks = isFrames ? chunksIn<Chunk>(piece).flatMap((chunk) => state.accept(chunk)) : state.accept(piece)
        this.#meter.textBytes += textInChunks(chunks)
        tell(this.#meter, state)
        return this.#framesOf(chunks)
      },
      () => state.usage,
    )
  }

  protected end(): string {
    const { state } = this.#stream
    const ends = this.#framesOf(state.complete())
    this.#meter.watch?.answered({ id: state.head?.id, finishReasons: state.finishReasons })
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

/** Tells the meter what the vendor has reported so far. */
export function tell(
  meter: Tally,
  { usage, serviceTier }: Pick<ChunkState<never, object>, 'usage' | 'serviceTier'>,
): void {
  meter.usage = usage
  if (serviceTier !== undefined) meter.serviceTier = serviceTier
}

function chunksIn<Chunk>({ frames }: ContentFrames): Chunk[] {
  const lines = asText(frames).split('\n\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line.slice('data: '.length)) as Chunk)
}

function asText(frames: string | Uint8Array): string {
  return typeof frames === 'string' ? frames : Buffer.from(frames.buffer, frames.byteOffset, frames.length).toString()
}
