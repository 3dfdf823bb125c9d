/** The answer of a provider that transcribes: begun, whole or in events, in the format that was asked for. */
import { readTokenUsage } from '../../wire/counts.ts'
import { bytesReply, jsonReply } from '../../http/answers.ts'
import type { Reply } from '../../http/exchange.ts'
import { dataFrame, doneFrame } from '../../http/sse.ts'
import { Verbatim, type TranscriptAnswer } from '../../providers/contract.ts'
import type {
  Transcript,
  TranscriptEvent,
  TranscriptFormat,
  TranscriptionRequest,
  TranscriptSegment,
} from '../../wire/transcriptions.ts'
import type { Visit } from '../endpoint.ts'
import { beginEvents, eventsOf, type OpenEvents } from '../events.ts'
import { jsonOf, secondsOf, secondsToSay, textOf, textTypes } from './formats.ts'
import { endOf } from './subtitles.ts'
import { withUsage } from './usage.ts'

export type OpenTranscript =
  | { readonly kind: 'events'; readonly events: OpenEvents<TranscriptEvent> }
  | { readonly kind: 'whole'; readonly transcript: Transcript; readonly bytes?: Uint8Array }
  /** Already in the text format that was asked for. */
  | { readonly kind: 'text'; readonly text: string }

type TranscriptVisit = Visit<TranscriptionRequest>

export async function openTranscript(answer: TranscriptAnswer, { order }: TranscriptVisit): Promise<OpenTranscript> {
  if (typeof answer === 'string') return textAnswer(answer, formatOf(order.request), order.stream)
  if (Symbol.asyncIterator in answer) {
    const events = await beginEvents(answer)
    return order.stream ? { kind: 'events', events } : { kind: 'whole', transcript: await collected(events) }
  }
  const raw = answer instanceof Verbatim ? answer.value : answer
  const transcript = withUsage(raw)
  const untouched = answer instanceof Verbatim && transcript === raw
  return { kind: 'whole', transcript, ...(untouched && { bytes: answer.bytes }) }
}

/** Text stands for a transcript wherever the format has room for nothing else. */
function textAnswer(text: string, format: TranscriptFormat, stream: boolean): OpenTranscript {
  if (!stream && Object.hasOwn(textTypes, format)) return { kind: 'text', text }
  return { kind: 'whole', transcript: { text } }
}

async function collected(events: OpenEvents<TranscriptEvent>): Promise<Transcript> {
  let text = ''
  let end: TranscriptEvent | undefined
  const segments: TranscriptSegment[] = []
  for await (const { event } of eventsOf(events)) {
    if (isDone(event)) end = event
    else if (event.type === 'transcript.text.segment') segments.push(event as unknown as TranscriptSegment)
    else text += event.delta ?? ''
  }
  const { type: _, text: whole = text, ...rest } = end ?? { type: '' }
  const transcript: Transcript = { ...rest, text: whole, ...(segments.length > 0 && { segments }) }
  return withUsage(transcript)
}

export function transcriptReply(answer: OpenTranscript, visit: TranscriptVisit): Reply {
  if (answer.kind === 'events') throw new TypeError('a streamed answer is not whole')
  const { request } = visit.order
  const format = formatOf(request)
  const type = textTypes[format]
  if (answer.kind === 'text') {
    count(visit, sizeOf(answer.text), endOf(answer.text))
    return bytesReply(answer.text, 200, type)
  }
  const { transcript, bytes } = answer
  count(visit, sizeOf(transcript.text), secondsOf(transcript), transcript.usage)
  if (type !== undefined) return bytesReply(textOf(transcript, format), 200, type)
  return bytes === undefined ? jsonReply(jsonOf(transcript, format, request)) : bytesReply(bytes)
}

/** Data alone, without the name of the event, as OpenAI sends them. */
export async function* transcriptFrames(
  answer: OpenTranscript,
  visit: TranscriptVisit,
): AsyncGenerator<string | Uint8Array> {
  if (answer.kind !== 'events') {
    const transcript = answer.kind === 'text' ? { text: answer.text } : answer.transcript
    const { text, usage } = transcript
    count(visit, sizeOf(text), secondsOf(transcript), usage)
    yield dataFrame({ type: 'transcript.text.delta', delta: text })
    yield dataFrame({ type: 'transcript.text.done', text, ...(usage && { usage }) })
  } else yield* eventFrames(answer.events, visit)
  yield doneFrame
}

async function* eventFrames(
  events: OpenEvents<TranscriptEvent>,
  visit: TranscriptVisit,
): AsyncGenerator<string | Uint8Array> {
  let text = ''
  let done = false
  /** Bytes of the text. */
  let size = 0
  let seconds: number | undefined
  for await (const { event: raw, bytes } of eventsOf(events)) {
    const event = withUsage(raw)
    text += event.delta ?? ''
    size += sizeOf(event.delta ?? '')
    if (event.type === 'transcript.text.segment') seconds = (event as unknown as TranscriptSegment).end
    done ||= isDone(event)
    seconds = secondsOf({ text, ...event }) ?? seconds
    count(visit, size, seconds, event.usage)
    yield bytes === undefined || event !== raw
      ? dataFrame(event)
      : Buffer.concat([Buffer.from('data: '), bytes, Buffer.from('\n\n')])
  }
  if (!done) yield dataFrame({ type: 'transcript.text.done', text })
}

/** A second has its price also where the vendor does not tell how many there were. */
function count({ meter }: TranscriptVisit, textBytes: number, seconds?: number, usage?: Transcript['usage']): void {
  meter.textBytes = textBytes
  meter.units = { seconds: seconds ?? secondsToSay(textBytes) }
  meter.usage = usage?.type === 'tokens' ? readTokenUsage(usage) : meter.usage
}

/** Bytes of a text. A provider may give something else for one. */
function sizeOf(text: unknown): number {
  return Buffer.byteLength(String(text))
}

function isDone({ type }: TranscriptEvent): boolean {
  return type === 'transcript.text.done'
}

function formatOf({ response_format: format = 'json' }: TranscriptionRequest): TranscriptFormat {
  return format
}
