/** Transcribes audio without speech recognition: the transcript describes the recording, spread over its length. */
import { invalid } from '../../errors.ts'
import { isFile, type Form } from '../../http/form.ts'
import type { Transcript, TranscriptEvent, TranscriptionRequest } from '../../wire/transcriptions.ts'
import type { Call, TranscriptAnswer } from '../contract.ts'
import { pace } from './breaks.ts'
import { countTokens } from './tokens.ts'
import { readWav, type Sound } from './wav.ts'

/** `paceMs`: milliseconds between two words of a stream. */
export async function transcribe(call: Call<TranscriptionRequest>, paceMs: number): Promise<TranscriptAnswer> {
  const transcript = transcriptOf(await soundOf(call.form))
  // Read only now: `stream` may be the last field of the form.
  return call.stream ? events(call, transcript, paceMs) : transcript
}

/** The description is in English already. */
export async function translateSpeech({ form }: Call<TranscriptionRequest>): Promise<TranscriptAnswer> {
  return transcriptOf(await soundOf(form))
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
    `This recording is ${Number(duration.toFixed(3))} ${duration === 1 ? 'second' : 'seconds'} long. `,
    `It has ${channels} ${channels === 1 ? 'channel' : 'channels'}. `,
    `Each holds ${rate} samples a second, of ${bits} bits.`,
  ]
  const text = sentences.join('')
  // Every character takes the same time, spaces included.
  const timed = (from: number, length: number) => {
    return { start: (duration * from) / text.length, end: (duration * (from + length)) / text.length }
  }
  const segments = sentences.map((sentence, id) => {
    return { id, ...timed(text.indexOf(sentence), sentence.length), text: sentence.trim(), speaker: 'A' }
  })
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ word, ...timed(index, word.length) }))
  const usage = { type: 'duration', seconds: Math.ceil(duration) } as const
  return { text, language: 'english', duration, segments, words, usage }
}

async function* events(
  call: Call<TranscriptionRequest>,
  { text, duration = 0, segments = [] }: Transcript,
  paceMs: number,
): AsyncGenerator<TranscriptEvent> {
  for (const [at, segment] of segments.entries()) {
    for (const word of `${at === 0 ? '' : ' '}${segment.text}`.split(/(?<=\S)(?= )/)) {
      await pace(call, paceMs)
      yield { type: 'transcript.text.delta', delta: word }
    }
    if (call.request.response_format === 'diarized_json') {
      yield { type: 'transcript.text.segment', ...segment, id: `seg_00${at + 1}` }
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
