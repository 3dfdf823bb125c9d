/** Transcription responses: converts what a provider returned to the form and format the client requested. */
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
import type { Inspection } from '../../inspect/inspection.ts'
import type { Context } from '../endpoint.ts'
import { parsedEvents } from '../events.ts'
import { afterFirstPiece } from '../first-content.ts'
import { wholeOf, type Open } from '../open.ts'
import {
  jsonOf,
  lengthOf,
  secondsOf,
  leastSeconds,
  speakerSegment,
  speakerSegments,
  transcriptText,
  withParts,
  textTypes,
  type TranscriptTask,
} from './formats.ts'
import type { Recording } from './recording.ts'
import { endOf } from './subtitles.ts'
import { withUsage } from './usage.ts'

/** A transcript that has arrived, or whose first event has, and the recording that the vendor was sent. */
export type OpenTranscript = OpenAnswer & { readonly recording: Recording }

type OpenAnswer =
  | Open<Transcript, TranscriptEvent | Verbatim<TranscriptEvent>>
  /** Already in the requested text format. */
  | { readonly kind: 'text'; readonly text: string }

type TranscriptContext = Context<TranscriptionRequest>

/** Resolves once the transcript or its first event has arrived. */
export async function openTranscript(
  answer: TranscriptAnswer,
  context: TranscriptContext,
  recording: Recording,
): Promise<OpenTranscript> {
  const { inspection } = context
  if (inspection?.seesAnswers !== true) return { ...(await opened(answer, context, true)), recording }
  // The words of a transcript are not in order before its end.
  return { ...(await inspected(await opened(answer, context, false), inspection)), recording }
}

/** A transcript whose text has changed has neither times of words nor log probabilities, which have the words. */
async function inspected(answer: OpenAnswer, inspection: Inspection): Promise<OpenAnswer> {
  if (answer.kind === 'stream') throw new TypeError('events are collected before they are inspected')
  if (answer.kind === 'text') {
    const [text = ''] = await inspection.answeredTexts([answer.text])
    return { kind: 'text', text }
  }
  const { segments, words: _, logprobs: __, ...whole } = answer.body
  const given = [whole.text, ...(segments ?? []).map(({ text }) => text)]
  const [text = '', ...others] = await inspection.answeredTexts(given)
  if (text === given[0] && others.every((each, index) => each === given[index + 1])) return answer
  const passed = segments?.map((segment, index) => ({ ...segment, text: others[index] ?? '' }))
  return { kind: 'whole', body: { ...whole, text, ...(passed && { segments: passed }) } }
}

/** `mayStream`: whether the client may get events as they come. */
async function opened(answer: TranscriptAnswer, { order }: TranscriptContext, mayStream: boolean): Promise<OpenAnswer> {
  if (typeof answer === 'string') return textAnswer(answer, formatOf(order.request), order.stream)
  if (Symbol.asyncIterator in answer) {
    const pieces = await afterFirstPiece(answer)
    return mayStream && order.stream ? { kind: 'stream', pieces } : { kind: 'whole', body: await collected(pieces) }
  }
  const raw = answer instanceof Verbatim ? answer.value : answer
  const transcript = withUsage(withParts(raw))
  const untouched = answer instanceof Verbatim && transcript === raw
  return { kind: 'whole', body: transcript, bytes: untouched ? answer.bytes : undefined }
}

/**
 * A provider that returns text has made the requested text format; for a JSON format or a stream, it is the transcript.
 */
function textAnswer(text: string, format: TranscriptFormat, stream: boolean): OpenAnswer {
  if (!stream && Object.hasOwn(textTypes, format)) return { kind: 'text', text }
  return { kind: 'whole', body: { text } }
}

async function collected(events: AsyncIterable<TranscriptEvent | Verbatim<TranscriptEvent>>): Promise<Transcript> {
  let text = ''
  let end: TranscriptEvent | undefined
  const segments: TranscriptSegment[] = []
  for await (const { event } of parsedEvents(events)) {
    if (isDone(event)) end = event
    else if (event.type === 'transcript.text.segment') segments.push(event as unknown as TranscriptSegment)
    else text += event.delta ?? ''
  }
  const { type: _, text: whole = text, ...rest } = end ?? { type: '' }
  const transcript: Transcript = { ...rest, text: whole, ...(segments.length > 0 && { segments }) }
  return withUsage(withParts(transcript))
}

/** The non-streaming reply. Throws 400 if the format needs timestamps that the transcript does not have. */
export function transcriptReply(answer: OpenTranscript, context: TranscriptContext, task: TranscriptTask): Reply {
  const { request } = context.order
  const format = formatOf(request)
  const type = textTypes[format]
  if (answer.kind === 'text') {
    count(context, answer.recording, sizeOf(answer.text), endOf(answer.text))
    return bytesReply(answer.text, 200, type)
  }
  const { body: transcript, bytes } = wholeOf(answer)
  count(context, answer.recording, sizeOf(transcript.text), secondsOf(transcript), transcript.usage)
  if (type !== undefined) return bytesReply(transcriptText(transcript, format), 200, type)
  return bytes === undefined ? jsonReply(jsonOf(transcript, format, request, task)) : bytesReply(bytes)
}

/** The frames of a stream; without event names, as OpenAI sends them. */
export async function* transcriptFrames(
  answer: OpenTranscript,
  context: TranscriptContext,
): AsyncGenerator<string | Uint8Array> {
  if (answer.kind !== 'stream') {
    const transcript: Transcript = answer.kind === 'text' ? { text: answer.text } : answer.body
    const { text, usage, logprobs, languages } = transcript
    count(context, answer.recording, sizeOf(text), secondsOf(transcript), usage)
    yield dataFrame({ type: 'transcript.text.delta', delta: text, logprobs })
    if (formatOf(context.order.request) === 'diarized_json') {
      for (const segment of speakerSegments(transcript)) yield dataFrame(segment)
    }
    // The event has usage in tokens alone.
    const counted = usage?.type === 'tokens' ? usage : undefined
    yield dataFrame({ type: 'transcript.text.done', text, logprobs, languages, usage: counted })
  } else yield* eventFrames(answer.pieces, answer.recording, context)
  yield doneFrame
}

async function* eventFrames(
  events: AsyncIterable<TranscriptEvent | Verbatim<TranscriptEvent>>,
  recording: Recording,
  context: TranscriptContext,
): AsyncGenerator<string | Uint8Array> {
  let text = ''
  let done = false
  /** Bytes of the text. */
  let size = 0
  let seconds: number | undefined
  let segments = 0
  for await (const { event: raw, bytes } of parsedEvents(events)) {
    const event = raw.type === 'transcript.text.segment' ? identified(raw, segments++) : withUsage(raw)
    text += event.delta ?? ''
    size += sizeOf(event.delta ?? '')
    if (event.type === 'transcript.text.segment') seconds = lengthOf(event['end']) ?? seconds
    done ||= isDone(event)
    seconds = secondsOf({ text, ...event }) ?? seconds
    count(context, recording, size, seconds, event.usage)
    yield bytes === undefined || event !== raw
      ? dataFrame(event)
      : Buffer.concat([Buffer.from('data: '), bytes, Buffer.from('\n\n')])
  }
  if (!done) yield dataFrame({ type: 'transcript.text.done', text })
}

/** A segment with the fields that clients rely on; the same object if it has them. */
function identified(event: TranscriptEvent, index: number): TranscriptEvent {
  if (typeof event['id'] === 'string' && typeof event['speaker'] === 'string') return event
  return { ...event, ...speakerSegment(event as unknown as TranscriptSegment, index) }
}

/** Counts text and duration: what the vendor bills, which may be rounded, otherwise the length of the recording. */
function count(
  { meter }: TranscriptContext,
  recording: Recording,
  textBytes: number,
  seconds?: number,
  usage?: Transcript['usage'],
): void {
  meter.textBytes = textBytes
  const billed = usage?.type === 'duration' ? usage.seconds : seconds
  meter.units = { seconds: billed ?? Math.max(Math.ceil(recording.seconds), leastSeconds(textBytes)) }
  meter.usage = usage?.type === 'tokens' ? readTokenUsage(usage) : meter.usage
}

/** Length in bytes. Accepts any type, because a provider may return something other than a string. */
function sizeOf(text: unknown): number {
  return Buffer.byteLength(String(text))
}

function isDone({ type }: TranscriptEvent): boolean {
  return type === 'transcript.text.done'
}

function formatOf({ response_format: format = 'json' }: TranscriptionRequest): TranscriptFormat {
  return format
}
