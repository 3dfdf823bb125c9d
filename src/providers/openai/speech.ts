/** Speech, in each of the forms that vendors return: bytes, events or JSON. */
import { isMediaType } from '../../http/media-type.ts'
import { readTokenUsage } from '../../wire/counts.ts'
import { textOf } from '../../wire/json.ts'
import type { SpeechRequest } from '../../wire/speech.ts'
import { spokenUsage } from '../../wire/usage.ts'
import { readJsonObject, requireFile } from '../answer.ts'
import type { Call, SpeechPiece } from '../contract.ts'
import { unreadable } from '../failure.ts'
import type { OpenAIOptions } from './options.ts'
import { readTyped } from './typed-events.ts'
import type { Vendor } from './vendor.ts'

interface SpeechEvent {
  readonly type: string
  readonly audio?: unknown
  /** Mistral's name. */
  readonly audio_data?: unknown
  readonly usage?: unknown
}

/** `countsTokens`: the vendor reports the tokens of newer models in events alone. */
export async function* speak(
  vendor: Vendor,
  call: Call<SpeechRequest>,
  { preset }: OpenAIOptions,
  countsTokens: boolean,
): AsyncGenerator<SpeechPiece, void, void> {
  const asEvents = countsTokens && !vendor.modelOf(call).startsWith('tts-1')
  const changes =
    preset === 'mistral'
      ? { voice: undefined, voice_id: call.request.voice, stream_format: undefined, stream: true }
      : { stream_format: asEvents ? 'sse' : undefined }
  const started = await vendor.post('/audio/speech', call, changes)
  const { transfer, failure } = started
  const { contentType } = transfer
  if (isMediaType(contentType, 'text/event-stream')) {
    const isLast = ({ type }: SpeechEvent) => type === 'speech.audio.done'
    for await (const { value } of readTyped<SpeechEvent>(started, vendor.client.answerBytes, isLast))
      yield* piecesOf(value)
  } else if (isMediaType(contentType, 'application/json')) {
    const value = (await readJsonObject(transfer, vendor.client.answerBytes)).value as { readonly error?: unknown }
    if (value.error) throw failure(value.error)
    const pieces = [...piecesOf(value as SpeechEvent)]
    if (pieces.length === 0) throw unreadable("the vendor's response has no audio")
    yield* pieces
  } else {
    requireFile(transfer)
    if (contentType?.startsWith('audio/') === true) yield { mediaType: contentType }
    yield* transfer
  }
}

function* piecesOf({ audio, audio_data: data = audio, usage }: SpeechEvent): Generator<SpeechPiece> {
  const bytes = Buffer.from(textOf(data), 'base64')
  if (bytes.length > 0) yield bytes
  const counted = readTokenUsage(usage)
  if (counted !== undefined) yield { usage: spokenUsage(counted) }
}
