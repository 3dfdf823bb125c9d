/** Speech, whose audio is always sent as it is made. Source of the fields: OpenAI's CreateSpeechRequest. */
import * as z from 'zod'
import { refusedValue } from '../../errors.ts'
import type { Flow } from '../../http/flow.ts'
import { dataFrame } from '../../http/sse.ts'
import type { Provider, SpeechPiece } from '../../providers/contract.ts'
import { tokenUsage } from '../../wire/counts.ts'
import { speechTypes, type SpeechFormat, type SpeechRequest } from '../../wire/speech.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint, Context } from '../endpoint.ts'
import { jsonReader } from '../json-reader.ts'
import { afterFirstContent } from '../first-content.ts'
import { charactersOf, isAudio, mostAudioTokens, SpeechCounter } from './counter.ts'
import { lazy } from '../../records/lazy.ts'

/** OpenAI takes 4,096, others more. */
const maxCharacters = 40_000

const schema = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    input: z.string().min(1).max(maxCharacters),
    voice: z.union([z.string().min(1), z.looseObject({ id: z.string() })]),
    instructions: z.string().nullish(),
    response_format: z.enum(Object.keys(speechTypes) as SpeechFormat[]).nullish(),
    speed: z.number().min(0.25).max(4).nullish(),
    stream_format: z.enum(['sse', 'audio']).nullish(),
  }),
)

/** A speech whose first audio has arrived. */
interface OpenSpeech {
  readonly pieces: Flow<SpeechPiece>
  readonly mediaType: string
  readonly counter: SpeechCounter
  readonly asEvents: boolean
}

/** `POST /v1/audio/speech`. */
export const speech: CallEndpoint<SpeechRequest, OpenSpeech> = defineEndpoint({
  method: 'POST',
  path: '/v1/audio/speech',
  name: 'audio.speech',
  makes: 'speech',
  units: ({ field }) => ({ characters: charactersOf(field('input')) }),
  outputTokens: mostAudioTokens,
  read: jsonReader<SpeechRequest>(schema, { stream: true }),
  texts: ['input', 'instructions'],
  async ask(provider, call, context) {
    const { input, response_format: requested, stream_format: form } = call.request
    const format: SpeechFormat = requested ?? 'mp3'
    const counter = new SpeechCounter(context.meter, { input, format, promptTokens: context.order.promptTokens })
    const pieces = await afterFirstContent(spoken(provider, call), (piece) => counter.sees(piece), isAudio)
    counter.begin()
    return { pieces, counter, mediaType: counter.mediaType ?? speechTypes[format], asEvents: form === 'sse' }
  },
  discard: ({ pieces }) => pieces.stop(),
  frames: (answer, context) => (answer.asEvents ? events(answer, context) : bytes(answer)),
  isFile: ({ field }) => field('stream_format') !== 'sse',
  streamType: (_, answer) => (answer === undefined || answer.asEvents ? undefined : answer.mediaType),
  readsLater: [],
  idle: () => dataFrame({ type: 'speech.audio.delta', audio: '' }),
})

function spoken(provider: Provider, call: Parameters<NonNullable<Provider['speak']>>[0]): AsyncIterable<SpeechPiece> {
  const pieces = provider.speak?.(call)
  if (pieces !== undefined) return pieces
  throw refusedValue('This model cannot speak.', 'model')
}

async function* bytes({ pieces, counter }: OpenSpeech): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    counter.take(piece)
    if (isAudio(piece)) yield piece
  }
}

async function* events({ pieces, counter }: OpenSpeech, { meter }: Context<SpeechRequest>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    counter.take(piece)
    if (!isAudio(piece)) continue
    const { buffer, byteOffset, byteLength } = piece
    yield dataFrame({
      type: 'speech.audio.delta',
      audio: Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
    })
  }
  yield dataFrame({ type: 'speech.audio.done', usage: tokenUsage(meter.usage ?? counter.estimate()) })
}
