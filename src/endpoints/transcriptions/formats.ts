/** Conversion of transcripts to the response formats. */
import { refusedValue } from '../../errors.ts'
import type {
  Transcript,
  TranscriptFormat,
  TranscriptionRequest,
  TranscriptSegment,
} from '../../wire/transcriptions.ts'
import { fieldsOf } from '../../wire/json.ts'
import { srtOf, vttOf } from './subtitles.ts'

/** The media types of the text formats. The other formats are JSON. */
export const textTypes: Readonly<Partial<Record<TranscriptFormat, string>>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'text/plain; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
}

/** Whether a transcript is what was said, or its translation into English. */
export type TranscriptTask = 'transcribe' | 'translate'

/** A transcript in a text format. Throws 400 if the format needs timestamps that the transcript does not have. */
export function transcriptText(transcript: Transcript, format: TranscriptFormat): string {
  if (format === 'srt') return srtOf(cuesOf(transcript))
  return format === 'vtt' ? vttOf(cuesOf(transcript)) : `${transcript.text}\n`
}

/** A transcript in a JSON format. Throws 400 if the format needs timestamps that the transcript does not have. */
export function jsonOf(
  transcript: Transcript,
  format: TranscriptFormat,
  request: TranscriptionRequest,
  task: TranscriptTask,
): object {
  if (format === 'verbose_json') return verbose(transcript, request, task)
  if (format === 'diarized_json') return diarized(transcript)
  const { segments: _, words: __, duration: ___, language: ____, ...rest } = transcript
  return rest
}

/** The transcript without segments and words that are no lists of texts; the same object if it has none of these. */
export function withParts(transcript: Transcript): Transcript {
  const { segments, words, ...rest } = transcript
  const isFit = areTexts(segments, 'text') && areTexts(words, 'word')
  if (isFit) return transcript
  return {
    ...rest,
    ...(segments && areTexts(segments, 'text') && { segments }),
    ...(words && areTexts(words, 'word') && { words }),
  }
}

function areTexts(parts: unknown, name: string): boolean {
  if (parts === undefined) return true
  return Array.isArray(parts) && parts.every((each) => typeof fieldsOf(each)[name] === 'string')
}

/** The length of the audio in seconds; undefined if the transcript does not contain it. */
export function secondsOf({ duration, usage, segments, words }: Transcript): number | undefined {
  const stated = lengthOf(duration)
  if (stated !== undefined) return stated
  return usage?.type === 'duration' ? usage.seconds : lengthOf((segments?.at(-1) ?? words?.at(-1))?.end)
}

/** Seconds, which some vendors write as text; undefined for what is no length. */
export function lengthOf(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? Number(value) : value
  return typeof seconds === 'number' && seconds > 0 && seconds < Infinity ? seconds : undefined
}

/** UTF-8 bytes per second of speech: 150 English words or 300 Chinese characters a minute. */
const speechBytesPerSecond = 15

/** The least length of the audio for a text of so many bytes, in seconds; at least 1. */
export function leastSeconds(textBytes: number): number {
  return Math.max(1, Math.ceil(textBytes / speechBytesPerSecond))
}

function verbose(transcript: Transcript, request: TranscriptionRequest, task: TranscriptTask): object {
  const { text, language, segments, words, duration: _, ...rest } = transcript
  const granularities = request.timestamp_granularities ?? ['segment']
  return {
    task,
    language: task === 'translate' ? 'english' : (language ?? request.language ?? 'unknown'),
    duration: secondsOf(transcript) ?? 0,
    text,
    ...(words && granularities.includes('word') && { words }),
    ...(segments && granularities.includes('segment') && { segments: segments.map(whisperSegment) }),
    ...rest,
  }
}

/** A segment with all fields that Whisper reports, for providers that do not have them. */
function whisperSegment(segment: TranscriptSegment, index: number): object {
  return {
    seek: 0,
    tokens: [],
    temperature: 0,
    avg_logprob: 0,
    compression_ratio: 1,
    no_speech_prob: 0,
    ...segment,
    id: typeof segment.id === 'number' ? segment.id : index,
  }
}

/** A segment of a transcript by speakers, as JSON and as an event have it. `index`: from 0. */
export function speakerSegment(
  { id, start, end, text, speaker = 'A' }: TranscriptSegment,
  index: number,
): TranscriptSegment & { readonly type: string } {
  return {
    type: 'transcript.text.segment',
    id: typeof id === 'string' ? id : `seg_${String(index + 1).padStart(3, '0')}`,
    start,
    end,
    text,
    speaker,
  }
}

/** The segments of a transcript by speakers. Throws 400 if the transcript has no times. */
export function speakerSegments(transcript: Transcript): ReturnType<typeof speakerSegment>[] {
  return cuesOf(transcript).map(speakerSegment)
}

function diarized(transcript: Transcript): object {
  const { text, usage } = transcript
  const segments = speakerSegments(transcript)
  return { task: 'transcribe', duration: secondsOf(transcript) ?? 0, text, segments, ...(usage && { usage }) }
}

/** The segments; a single one if only the length of the audio is known. Throws 400 if not even that is known. */
function cuesOf(transcript: Transcript): readonly TranscriptSegment[] {
  const { segments } = transcript
  if (segments?.every(({ start, end }) => Number.isFinite(start) && Number.isFinite(end)) === true) return segments
  const end = secondsOf(transcript)
  if (end !== undefined) return [{ start: 0, end, text: transcript.text }]
  const message = 'This model does not report timestamps. Set "response_format" to "json" or "text".'
  throw refusedValue(message, 'response_format')
}
