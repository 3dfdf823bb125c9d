/** ElevenLabs. Source: its API reference, Stream speech. */
import type { SpeechRequest } from '../../wire/speech.ts'
import { requireFile } from '../answer.ts'
import type { Client } from '../client.ts'
import type { Call, Provider, SpeechPiece } from '../contract.ts'
import { postJson, simpleVendor, type SimpleVendorOptions } from '../simple-vendor.ts'
import { unsupported, unsupportedValue } from '../unsupported.ts'
import { wavHead } from '../wav-head.ts'

/** The vendor's formats. WAV is made of its samples. */
const formats: Readonly<Record<string, string>> = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_64',
  pcm: 'pcm_24000',
  wav: 'pcm_24000',
}

/**
 * Creates the provider for the speech of ElevenLabs. `voice` is the id of one of its voices. Throws a `TypeError` for an unknown
 * option or an invalid URL.
 *
 * @example
 * elevenlabs({ apiKey: process.env.ELEVENLABS_API_KEY })
 */
export function elevenlabs(options: SimpleVendorOptions = {}): Provider {
  const defaults = { name: 'elevenlabs', baseURL: 'https://api.elevenlabs.io/v1' }
  return simpleVendor(
    defaults,
    options,
    (key) => ({ 'xi-api-key': key }),
    (client) => ({ speak: (call) => speak(client, call) }),
  )
}

async function* speak(client: Client, call: Call<SpeechRequest>): AsyncGenerator<SpeechPiece, void, void> {
  const { input, voice, instructions, response_format: format, speed } = call.request
  const made = formats[format ?? 'mp3']
  if (made === undefined) throw unsupportedValue(call, 'response_format', 'use "mp3", "opus", "wav" or "pcm".')
  if (instructions) throw unsupported(call, 'instructions')
  const id = typeof voice === 'string' ? voice : voice.id
  const settings = typeof speed === 'number' && speed !== 1 ? { voice_settings: { speed } } : {}
  const path = `/text-to-speech/${encodeURIComponent(id)}/stream?output_format=${made}`
  const transfer = await postJson(client, call, path, { text: input, model_id: call.model, ...settings })
  requireFile(transfer)
  // Characters are weighted by the model.
  const characters = Number(transfer.header('character-cost') ?? NaN)
  if (characters >= 0) yield { characters }
  if (format === 'wav') yield wavHead(24_000)
  yield* transfer
}
