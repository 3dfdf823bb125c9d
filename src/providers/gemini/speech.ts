/** Speech: raw samples from generateContent. Source: the Gemini API guide to speech generation. */
import { fieldsOf, isRecord } from '../../wire/json.ts'
import type { SpeechRequest } from '../../wire/speech.ts'
import { spokenUsage, type Usage } from '../../wire/usage.ts'
import type { Call, SpeechPiece } from '../contract.ts'
import { usageOf } from '../content/usage.ts'
import { readValues } from '../events.ts'
import { billed, ProviderError, unreadable } from '../failure.ts'
import { refuseUnless, unsupportedValue } from '../unsupported.ts'
import { wavHead } from '../wav-head.ts'
import { candidateIn } from './candidate.ts'
import type { Vendor } from './vendor.ts'

export async function* speak(vendor: Vendor, call: Call<SpeechRequest>): AsyncGenerator<SpeechPiece, void, void> {
  const { input, voice, instructions, speed } = call.request
  refuseUnless(call, 'response_format', ['wav', 'pcm'], 'the model makes "wav" and "pcm".')
  if ((speed ?? 1) !== 1) throw unsupportedValue(call, 'speed', 'say it in "instructions".')
  if (typeof voice !== 'string') throw unsupportedValue(call, 'voice', 'name a voice of the vendor, such as "Kore".')
  const transfer = await vendor.post(call, 'streamGenerateContent?alt=sse', {
    contents: [{ role: 'user', parts: [{ text: instructions ? `${instructions}:\n${input}` : input }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
    },
  })
  const isWav = call.request.response_format !== 'pcm'
  let usage: Usage | undefined
  let begun = false
  let reason: unknown
  for await (const values of readValues(transfer)) {
    for (const value of values) {
      if (value instanceof Error) throw value
      if (!isRecord(value)) continue
      if (value['error'] !== undefined) throw vendor.failure(value['error'], call)
      const counted = usageOf(value['usageMetadata'])
      if (counted !== undefined) usage = spokenUsage(counted)
      const { files, finishReason } = candidateIn(value)
      reason = finishReason ?? fieldsOf(value['promptFeedback'])['blockReason'] ?? reason
      for (const { data, type } of files) {
        const rate = Number(/rate=(\d{1,9})/.exec(type)?.[1] ?? 24_000)
        if (!begun) yield { mediaType: isWav ? 'audio/wav' : `audio/pcm;rate=${rate}` }
        if (!begun && isWav) yield wavHead(rate)
        begun = true
        yield Buffer.from(data, 'base64')
      }
    }
  }
  if (!begun && typeof reason === 'string' && !/^(?:STOP|OTHER)$/.test(reason))
    throw billed(new ProviderError('content_policy_violation', { retry: 'never' }), usage)
  if (!begun || reason === undefined) throw billed(unreadable("the vendor's response has no complete audio"), usage)
  if (usage !== undefined) yield { usage }
}
