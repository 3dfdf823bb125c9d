/** A transcript in the format that was asked for, as far as it holds what the format needs. */
import { GatewayError } from '../../errors.ts'
import type {
  Transcript,
  TranscriptFormat,
  TranscriptionRequest,
  TranscriptSegment,
} from '../../wire/transcriptions.ts'
import { srtOf, vttOf } from './subtitles.ts'

/** What a transcript is sent as. JSON formats are `application/json`. */
export const textTypes: Readonly<Partial<Record<TranscriptFormat, string>>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'text/plain; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
}

/** Throws 400 when the format needs times that the provider does not give. */
export function textOf(transcript: Transcript, format: TranscriptFormat): string {
  if (format === 'srt') return srtOf(cuesOf(transcript))
  return format === 'vtt' ? vttOf(cuesOf(transcript)) : `${transcript.text}\n`
}

export function jsonOf(transcript: Transcript, format: TranscriptFormat, request: TranscriptionRequest): object {
  if (format === 'verbose_json') return verbose(transcript, request)
  if (format === 'diarized_json') return diarized(transcript)
  const { segments: _, words: __, duration: ___, language: ____, ...rest } = transcript
  return rest
}

/** Seconds of sound, as far as the transcript tells. */
export function secondsOf({ duration, usage, segments, words }: Transcript): number | undefined {
  if (duration !== undefined) return duration
  return usage?.type === 'duration' ? usage.seconds : (segments?.at(-1) ?? words?.at(-1))?.end
}

/** UTF-8 bytes a second: 150 English words a minute, or 300 Chinese characters. */
const speech = 15

/** About how many seconds it takes to say a text of so many bytes; at least one. */
export function secondsToSay(textBytes: number): number {
  return Math.max(1, Math.ceil(textBytes / speech))
}

function verbose(transcript: Transcript, request: TranscriptionRequest): object {
  const { text, language, segments, words, duration: _, ...rest } = transcript
  const asked = request.timestamp_granularities ?? ['segment']
  return {
    task: 'transcribe',
    language: language ?? request.language ?? 'unknown',
    duration: secondsOf(transcript) ?? 0,
    text,
    ...(words && asked.includes('word') && { words }),
    ...(segments && asked.includes('segment') && { segments: segments.map(measured) }),
    ...rest,
  }
}

/** With the measurements that clients know from Whisper, for providers that make none. */
function measured(segment: TranscriptSegment, index: number): object {
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

function diarized(transcript: Transcript): object {
  const { text, usage } = transcript
  const segments = cuesOf(transcript).map(({ id, start, end, text, speaker = 'A' }, index) => ({
    type: 'transcript.text.segment',
    id: typeof id === 'string' ? id : `seg_${String(index + 1).padStart(3, '0')}`,
    start,
    end,
    text,
    speaker,
  }))
  return { task: 'transcribe', duration: secondsOf(transcript) ?? 0, text, segments, ...(usage && { usage }) }
}

/** One cue for all of it where only the length is known. */
function cuesOf(transcript: Transcript): readonly TranscriptSegment[] {
  if (transcript.segments !== undefined) return transcript.segments
  const end = secondsOf(transcript)
  if (end !== undefined) return [{ start: 0, end, text: transcript.text }]
  const message = 'This model does not tell times. Ask for the "response_format" "json" or "text".'
  throw new GatewayError('unsupported_value', { param: 'response_format', message })
}
