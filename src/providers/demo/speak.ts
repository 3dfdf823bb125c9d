/** Speaks without a voice: each word is a tone, higher the longer it is. */
import type { SpeechRequest } from '../../wire/speech.ts'
import { spokenUsage, usageOf } from '../../wire/usage.ts'
import type { Call, SpeechPiece } from '../contract.ts'
import { refuseUnless } from '../unsupported.ts'
import { wavHead } from '../wav-head.ts'
import { pace } from './breaks.ts'
import { countTokens } from './tokens.ts'

const rate = 24_000
/** Seconds of a word, of which the last quarter is silent. */
const wordSeconds = 0.4
const tokensPerSecond = 20

/** `paceMs`: milliseconds between two words. */
export async function* speak(call: Call<SpeechRequest>, paceMs: number): AsyncGenerator<SpeechPiece, void, void> {
  const { input, speed, response_format: format } = call.request
  refuseUnless(call, 'response_format', ['wav', 'pcm'], 'the model makes "wav" and "pcm".')
  const words = input.match(/\S+/g) ?? ['']
  const samples = Math.round((rate * wordSeconds) / (speed ?? 1))
  const bytes = words.length * samples * 2
  if (format !== 'pcm') {
    yield { mediaType: 'audio/wav' }
    yield wavHead(rate, bytes)
  }
  for (const word of words) {
    await pace(call, paceMs)
    yield tone(200 + 20 * Math.min(word.length, 30), samples)
  }
  const tokens = Math.ceil((bytes / 2 / rate) * tokensPerSecond)
  yield { usage: spokenUsage(usageOf(countTokens(input), tokens)) }
}

function tone(hertz: number, samples: number): Buffer {
  const bytes = Buffer.alloc(samples * 2)
  for (let at = 0; at < samples * 0.75; at++)
    bytes.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * hertz * at) / rate)), at * 2)
  return bytes
}
