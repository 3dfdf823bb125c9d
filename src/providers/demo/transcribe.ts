/** Transcribes audio without speech recognition: the transcript describes the recording, spread over its length. */
import { setTimeout as pause } from 'node:timers/promises'
import { invalid } from '../../errors.ts'
import { isFile, type Form } from '../../http/form.ts'
import type { Transcript, TranscriptEvent, TranscriptionRequest, TranscriptSegment } from '../../wire/transcriptions.ts'
import type { Call, TranscriptAnswer } from '../contract.ts'
import { countTokens } from './tokens.ts'
import { readWav, type Sound } from './wav.ts'

/** `paceMs`: milliseconds between two words of a stream. */
export async function transcribe(call: Call<TranscriptionRequest>, paceMs: number): Promise<TranscriptAnswer> {
  const sound = await soundOf(call.form)
  const transcript = transcriptOf(sound)
  // Read only now: `stream` may be the last field of the form.
  return call.stream ? events(call, transcript, paceMs) : transcript
}

async function soundOf(form: Form | undefined): Promise<Sound> {
  let sound: Sound | undefined
  for await (const part of form?.parts() ?? []) {
    if (isFile(part) && part.name === 'file') sound = await readWav(part.bytes)
  }
  if (sound === undefined) throw invalid('Missing required parameter: "file".', 'file')
  return sound
}

export function transcriptOf({ channels, rate, bits, duration }: Sound): Transcript {
  const sentences = [
    `This recording is ${Number(duration.toFixed(3))} ${duration === 1 ? 'second' : 'seconds'} long.`,
    `It has ${channels} ${channels === 1 ? 'channel' : 'channels'}.`,
    `Each holds ${rate} samples a second, of ${bits} bits.`,
  ]
  const text = sentences.join(' ')
  const segments: TranscriptSegment[] = []
  const words: { word: string; start: number; end: number }[] = []
  // Every character takes the same time, spaces included.
  const timeAt = (character: number) => (duration * character) / text.length
  for (const [id, sentence] of sentences.entries()) {
    const from = text.indexOf(sentence)
    const end = id === sentences.length - 1 ? duration : timeAt(from + sentence.length + 1)
    segments.push({ id, start: timeAt(from), end, text: sentence, speaker: 'A' })
  }
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    words.push({ word, start: timeAt(index), end: timeAt(index + word.length) })
  }
  const usage = { type: 'duration' as const, seconds: Math.ceil(duration) }
  return { text, language: 'english', duration, segments, words, usage }
}

async function* events(
  { request, signal }: Call<TranscriptionRequest>,
  { text, duration = 0, segments = [] }: Transcript,
  paceMs: number,
): AsyncGenerator<TranscriptEvent> {
  for (const segment of segments) {
    const words = segment.text.split(/(?= )/)
    for (const [nth, word] of words.entries()) {
      if (paceMs > 0) await pause(paceMs, undefined, { signal, ref: false })
      yield { type: 'transcript.text.delta', delta: nth === 0 && segment.id !== 0 ? ` ${word}` : word }
    }
    if (request.response_format === 'diarized_json') {
      yield {
        type: 'transcript.text.segment',
        ...segment,
        id: `seg_${String(Number(segment.id) + 1).padStart(3, '0')}`,
      }
    }
  }
  const inputTokens = Math.ceil(duration * 10)
  const outputTokens = countTokens(text)
  const usage = {
    type: 'tokens' as const,
    input_tokens: inputTokens,
    input_token_details: { text_tokens: 0, audio_tokens: inputTokens },
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  }
  yield { type: 'transcript.text.done', text, usage }
}
