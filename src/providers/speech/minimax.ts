/** MiniMax. Source: its API reference, Text to Speech (T2A) HTTP. */
import { isMediaType } from '../../http/media-type.ts'
import { countOf, fieldsOf } from '../../wire/json.ts'
import type { SpeechRequest } from '../../wire/speech.ts'
import { readJsonObject } from '../answer.ts'
import type { Client } from '../client.ts'
import type { Call, Provider, SpeechPiece } from '../contract.ts'
import { bearer } from '../credentials/key.ts'
import { readValues } from '../events.ts'
import { unreadable } from '../failure.ts'
import { minimaxStatus } from '../minimax-status.ts'
import { postJson, simpleVendor, type SimpleVendorOptions } from '../simple-vendor.ts'
import { unsupported, unsupportedValue } from '../unsupported.ts'
import { vendorError } from '../vendor-error.ts'

const formats: readonly unknown[] = ['mp3', 'pcm', 'flac']

/**
 * Creates the provider for the speech of MiniMax. `voice` is the id of one of its voices. Throws a `TypeError` for an unknown option
 * or an invalid URL.
 *
 * @example
 * minimaxSpeech({ apiKey: process.env.MINIMAX_API_KEY })
 */
export function minimaxSpeech(options: SimpleVendorOptions = {}): Provider {
  const defaults = { name: 'minimax', baseURL: 'https://api.minimax.io/v1' }
  return simpleVendor(defaults, options, bearer, (client) => ({ speak: (call) => speak(client, call) }))
}

async function* speak(client: Client, call: Call<SpeechRequest>): AsyncGenerator<SpeechPiece, void, void> {
  const { input, voice, instructions, response_format: format, speed } = call.request
  if (!formats.includes(format ?? 'mp3')) throw unsupportedValue(call, 'response_format', 'use "mp3", "flac" or "pcm".')
  if (instructions) throw unsupported(call, 'instructions')
  const voiceId = typeof voice === 'string' ? voice : voice.id
  const transfer = await postJson(client, call, '/t2a_v2', {
    model: call.model,
    text: input,
    stream: true,
    // Otherwise the last event repeats all of the audio.
    stream_options: { exclude_aggregated_audio: true },
    voice_setting: { voice_id: voiceId, speed: speed ?? undefined },
    audio_setting: { format: format ?? 'mp3', channel: 1, sample_rate: format === 'pcm' ? 24_000 : 32_000 },
  })
  // An error before the first audio is no event.
  if (isMediaType(transfer.contentType, 'application/json')) {
    const { value } = await readJsonObject(transfer, client.answerBytes)
    throw failureIn(value, call) ?? unreadable('the vendor did not stream its audio')
  }
  let complete = false
  for await (const values of readValues(transfer)) {
    for (const value of values) {
      if (value instanceof Error) throw value
      const failure = failureIn(value, call)
      if (failure !== undefined) throw failure
      const { data, extra_info: info } = fieldsOf(value)
      const { audio, status } = fieldsOf(data)
      const characters = countOf(fieldsOf(info)['usage_characters'])
      complete ||= status === 2
      if (status !== 2 && typeof audio === 'string' && audio !== '') yield Buffer.from(audio, 'hex')
      if (characters !== undefined) yield { characters }
    }
  }
  if (!complete) throw unreadable("the vendor's stream ended before the speech was complete")
}

function failureIn(value: unknown, { openModel, field }: Call<SpeechRequest>): Error | undefined {
  const status = minimaxStatus(value)
  return status === undefined ? undefined : vendorError({ status, openModel, sent: field })
}
