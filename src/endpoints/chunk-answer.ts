/** The answer of a provider to a chat or a text completion: begun, whole or in chunks, in the form that was asked for. */
import { textInAnswer } from '../billing/estimate.ts'
import type { Tally } from '../billing/receipt.ts'
import { estimateTokens } from '../wire/counts.ts'
import { bytesReply, jsonReply } from '../http/answers.ts'
import type { Reply } from '../http/exchange.ts'
import { ContentFrames, Verbatim, type Call } from '../providers/contract.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import { begin, chunkFrames, frameOf, release, wanted, type ChunkState, type OpenStream } from './chunk-stream.ts'
import type { Visit } from './endpoint.ts'
import { readable } from './readable.ts'

/** Identity of an answer. */
export interface AnswerHead {
  readonly id: string
  /** Seconds since the epoch. */
  readonly created: number
  readonly model: string
}

/** What an endpoint's answers are like. `renamed`: the name of the model is the gateway's in any case. */
export interface AnswerForm<Chunk, Full extends object, Whole> {
  /** Stands in front of the ids that the gateway makes. */
  readonly idPrefix: string
  readonly state: (head: AnswerHead, renamed: boolean) => ChunkState<Chunk, Full>
  /** Whether a chunk holds more than the opening of an answer. */
  readonly tellsSomething: (chunk: Chunk) => boolean
  /** Chunks → the whole. */
  readonly collect: (
    pieces: AsyncIterable<Chunk | ContentFrames>,
    state: ChunkState<Chunk, Full>,
    meter: Tally,
  ) => Promise<Whole>
  /** A vendor's whole answer in the one form; the same object where nothing had to change. */
  readonly normalise: (raw: Whole, head: AnswerHead, renamed: boolean) => Whole
  /** The whole → chunks. */
  readonly explode: (whole: Whole) => AsyncIterable<Chunk>
}

/** An answer that has begun well. */
export type OpenAnswer<Chunk, Full extends object, Whole> =
  | { readonly kind: 'whole'; readonly whole: Whole; readonly bytes?: Uint8Array }
  | { readonly kind: 'stream'; readonly stream: OpenStream<Chunk, Full> }

/** What of a visit an answer needs, whichever endpoint it is made for. */
export type AnswerVisit = Pick<Visit<unknown>, 'id' | 'order' | 'startedAt'> & { readonly meter: Tally }

interface Countable {
  readonly usage?: Usage
}

export async function openAnswer<
  Chunk extends { choices?: readonly unknown[] },
  Full extends object,
  Whole extends Countable,
>(
  form: AnswerForm<Chunk, Full, Whole>,
  answer: AsyncIterable<Chunk | ContentFrames> | Whole | Verbatim<Whole>,
  call: Pick<Call<unknown>, 'model' | 'publicModel' | 'stream' | 'signal'>,
  visit: AnswerVisit,
): Promise<OpenAnswer<Chunk, Full, Whole>> {
  const head = headFor(form.idPrefix, visit)
  const renamed = call.publicModel !== call.model
  const open = async (pieces: AsyncIterable<Chunk | ContentFrames>, state: ChunkState<Chunk, Full>) => ({
    kind: 'stream' as const,
    stream: await begin(pieces[Symbol.asyncIterator](), state, form.tellsSomething),
  })
  if (Symbol.asyncIterator in answer) {
    const state = form.state(head, renamed)
    if (call.stream) return open(answer, state)
    return { kind: 'whole', whole: await form.collect(wanted(answer, call.signal), state, visit.meter) }
  }
  const value = answer instanceof Verbatim ? answer.value : answer
  const whole = readable(() => form.normalise(value, head, renamed))
  if (call.stream) return open(form.explode(whole), form.state(head, false))
  visit.meter.usage = whole.usage
  if (whole.usage === undefined) visit.meter.textBytes = textInAnswer(whole)
  const untouched = answer instanceof Verbatim && whole === value
  return { kind: 'whole', whole, ...(untouched && { bytes: answer.bytes }) }
}

/** The reply to a client that waits for the whole: the vendor's own bytes where nothing had to change. */
export function wholeReply(answer: OpenAnswer<unknown, object, Countable>, { order, meter }: AnswerVisit): Reply {
  if (answer.kind === 'stream') throw new TypeError('a streamed answer is not whole')
  const { whole, bytes } = answer
  if (whole.usage !== undefined) return bytes === undefined ? jsonReply(whole) : bytesReply(bytes)
  return jsonReply({ ...whole, usage: usageOf(order.promptTokens, estimateTokens(meter.textBytes)) })
}

/** For an answer that nobody wants any more. */
export function discardAnswer(answer: OpenAnswer<unknown, object, unknown>): void {
  if (answer.kind === 'stream') release(answer.stream.rest)
}

export function framesOf<Chunk, Full extends object>(
  answer: OpenAnswer<Chunk, Full, unknown>,
  visit: AnswerVisit,
  ahead: boolean = false,
): AsyncIterable<string | Uint8Array> {
  if (answer.kind === 'whole') throw new TypeError('a whole answer has no frames')
  return chunkFrames(answer.stream, visit, ahead)
}

/** What a stream gets while nothing of its answer comes. */
export function idling<Chunk, Full extends object, Whole>(form: AnswerForm<Chunk, Full, Whole>) {
  const unknown = (visit: AnswerVisit) => form.state(headFor(form.idPrefix, visit), true)
  return {
    idle(answer: OpenAnswer<Chunk, Full, Whole> | undefined, visit: AnswerVisit): string {
      const state = answer?.kind === 'stream' ? answer.stream.state : unknown(visit)
      return frameOf(state.idle(), visit.order)
    },
    opening: (visit: AnswerVisit): string => frameOf(unknown(visit).open(), visit.order),
  }
}

/** Identity of the answer where the vendor gives none. */
function headFor(prefix: string, { id, startedAt, order }: AnswerVisit): AnswerHead {
  return { id: id.replace('req_', prefix), created: Math.floor(startedAt / 1000), model: order.model }
}
