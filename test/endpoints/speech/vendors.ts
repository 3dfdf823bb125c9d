/** Vendors that speak, each over its own wire, as its documentation shows it. */
import { elevenlabs, gemini, minimaxSpeech, openai, type Provider } from '../../../src/providers/index.ts'
import type { VendorReply } from '../../../src/testing/vendor.ts'
import { wavHead } from '../../../src/providers/wav-head.ts'

/** Half a second of silence in each piece: 24,000 samples a second, of 16 bits. */
export const pieces: readonly Buffer[] = Array.from({ length: 4 }, (_, at) => Buffer.alloc(24_000, at))
export const samples: Buffer = Buffer.concat(pieces)
/** Its bytes as a file whose header says no length. */
export const wavFile: Buffer = Buffer.concat([wavHead(24_000), samples])

const usage = { input_tokens: 14, output_tokens: 42, total_tokens: 56 }

function events(values: readonly object[], named = true): VendorReply {
  const frames = values.map((value) => {
    const { type } = value as { type?: string }
    return `${named && type !== undefined ? `event: ${type}\n` : ''}data: ${JSON.stringify(value)}\n\n`
  })
  return (_, response) => void response.setHeader('content-type', 'text/event-stream').end(frames.join(''))
}

export interface SpeakingVendor {
  readonly make: (baseURL: string) => Provider
  readonly reply: VendorReply
  /** The part of the vendor's request that says what to speak, and how. */
  readonly received: object
  readonly path: string
  /** What the receipt has. */
  readonly used: object
}

const text = 'Hello, world'

/** All asked for `wav` in the voice `v`. */
export const vendors: Readonly<Record<string, SpeakingVendor>> = {
  'openai, in events with usage': {
    make: (baseURL) => openai({ baseURL: baseURL, preset: 'azure', apiKey: 'k' }),
    reply: events([
      { type: 'speech.audio.delta', audio: wavFile.toString('base64') },
      { type: 'speech.audio.done', usage },
    ]),
    received: { input: text, voice: 'v', response_format: 'wav', stream_format: 'sse' },
    path: '/v1/audio/speech',
    used: {
      usage: { prompt_tokens: 14, completion_tokens: 42, completion_tokens_details: { audio_tokens: 42 } },
      usageSource: 'reported',
      units: { characters: 12 },
    },
  },
  'groq, in bytes': {
    make: (baseURL) => openai({ baseURL, preset: 'groq', apiKey: 'k' }),
    reply: (_, response) => void response.setHeader('content-type', 'audio/wav').end(wavFile),
    received: { input: text, voice: 'v', response_format: 'wav' },
    path: '/v1/audio/speech',
    used: { usageSource: 'estimated', usage: { completion_tokens: 50 }, units: { characters: 12, seconds: 2 } },
  },
  'mistral, in events': {
    make: (baseURL) => openai({ baseURL, preset: 'mistral', apiKey: 'k' }),
    reply: events([
      { type: 'speech.audio.delta', audio_data: wavFile.toString('base64') },
      { type: 'speech.audio.done', usage: { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 } },
    ]),
    received: { input: text, voice_id: 'v', response_format: 'wav', stream: true },
    path: '/v1/audio/speech',
    used: { usageSource: 'reported', usage: { prompt_tokens: 5, completion_tokens: 9 }, units: { characters: 12 } },
  },
  gemini: {
    make: (baseURL) => gemini({ baseURL: baseURL.replace('/v1', ''), apiKey: 'k' }),
    reply: events([
      ...pieces.map((piece) => ({
        candidates: [
          {
            content: {
              role: 'model',
              parts: [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: piece.toString('base64') } }],
            },
          },
        ],
      })),
      {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: {
          promptTokenCount: 4,
          candidatesTokenCount: 50,
          totalTokenCount: 54,
          candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
        },
      },
    ]),
    received: {
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'v' } } },
      },
    },
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    used: {
      usageSource: 'reported',
      usage: { prompt_tokens: 4, completion_tokens: 50, completion_tokens_details: { audio_tokens: 50 } },
    },
  },
  'elevenlabs, with weighted characters': {
    make: (baseURL) => elevenlabs({ baseURL, apiKey: 'k' }),
    reply: (_, response) => void response.setHeader('character-cost', '6').end(samples),
    received: { text, model_id: 'm' },
    path: '/v1/text-to-speech/v/stream?output_format=pcm_24000',
    used: { usageSource: 'estimated', units: { characters: 6, seconds: 2 } },
  },
}

/** Answers in `mp3` or `pcm`, not in `wav`. */
export const minimax: SpeakingVendor = {
  make: (baseURL) => minimaxSpeech({ baseURL, apiKey: 'k' }),
  reply: events(
    [
      ...pieces.map((piece) => ({ data: { audio: piece.toString('hex'), status: 1 }, base_resp: { status_code: 0 } })),
      {
        data: { audio: '', status: 2 },
        extra_info: { usage_characters: 24, audio_length: 2_000 },
        base_resp: { status_code: 0 },
      },
    ],
    false,
  ),
  received: {
    text,
    stream: true,
    voice_setting: { voice_id: 'v' },
    audio_setting: { format: 'pcm', sample_rate: 24_000, channel: 1 },
  },
  path: '/v1/t2a_v2',
  used: { usageSource: 'estimated', units: { characters: 24, seconds: 2 } },
}
