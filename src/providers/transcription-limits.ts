/** Refuses what most vendors cannot say of a recording. */
import type { TranscriptionRequest } from '../wire/transcriptions.ts'
import type { Call } from './contract.ts'
import { unsupported, unsupportedValue } from './unsupported.ts'

/** Throws a 400 for log probabilities, known speakers and a chunking of the client's own, as OpenAI alone has them. */
export function refuseDetails(call: Call<TranscriptionRequest>): void {
  for (const [name, value] of Object.entries(call.request)) {
    // Forms write the members of an object as fields of their own.
    const field = name.replace(/\[.*$/, '')
    if (field === 'include' || field.startsWith('known_speaker_')) throw unsupported(call, field)
    if (field === 'chunking_strategy' && value !== 'auto') throw unsupportedValue(call, field, 'use "auto".')
  }
}

/** Throws a 400 for a transcript by speakers. */
export function refuseSpeakers(call: Call<TranscriptionRequest>): void {
  if (call.request.response_format !== 'diarized_json') return
  throw unsupportedValue(call, 'response_format', 'the model does not tell speakers apart.')
}
