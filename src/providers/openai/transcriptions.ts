/** Transcriptions, in each of the forms that vendors return: events, JSON or plain text. */
import { readBounded, readObject } from '../answer.ts'
import { isMediaType } from '../../http/media-type.ts'
import { Verbatim, type Call, type TranscriptAnswer } from '../contract.ts'
import { unreadable } from '../failure.ts'
import { invalid } from '../../errors.ts'
import { amendForm } from '../../http/form.ts'
import type { Transcript, TranscriptEvent, TranscriptionRequest } from '../../wire/transcriptions.ts'
import { readTyped } from './typed-events.ts'
import type { StartedResponse, Vendor } from './vendor.ts'

export async function transcribe(
  vendor: Vendor,
  call: Call<TranscriptionRequest>,
  path: '/audio/transcriptions' | '/audio/translations',
): Promise<TranscriptAnswer> {
  if (call.form === undefined) throw invalid('Missing required parameter: "file".', 'file')
  const started = await vendor.postForm(path, call, amendForm(call.form, countable))
  const maxBytes = vendor.client.answerBytes
  if (isMediaType(started.transfer.contentType, 'text/event-stream')) {
    return renamed(
      readTyped<TranscriptEvent>(started, maxBytes, ({ type }) => /^transcript(?:\.text|ion)\.done$/.test(type)),
    )
  }
  // Read only now: `call.request` is complete once the form has been uploaded.
  const { response_format: format = 'json' } = call.request
  const bytes = await readBounded(started.transfer, maxBytes)
  const plain = format === 'text' || format === 'srt' || format === 'vtt'
  if (plain && !isMediaType(started.transfer.contentType, 'application/json')) return bytes.toString('utf8')
  return transcriptIn(bytes, plain, started)
}

/** Renames the events of Mistral to OpenAI's. */
async function* renamed(
  events: AsyncIterable<Verbatim<TranscriptEvent>>,
): AsyncGenerator<TranscriptEvent | Verbatim<TranscriptEvent>, void, void> {
  for await (const event of events) {
    const { type, text, ...rest } = event.value
    const words = text ?? ''
    if (type === 'transcription.text.delta') yield { type: 'transcript.text.delta', delta: words }
    else if (type === 'transcription.done') yield { ...rest, type: 'transcript.text.done', text: words }
    else if (type === 'transcription.segment') {
      const { speaker_id: speaker, ...times } = rest
      yield { ...times, type: 'transcript.text.segment', text: words, ...(typeof speaker === 'string' && { speaker }) }
    } else if (type !== 'transcription.language') yield event
  }
}

/** Requests JSON instead of plain text, because only JSON has usage. The gateway converts it. */
function countable(name: string, value: string): string {
  return name === 'response_format' && value === 'text' ? 'json' : value
}

/** Some vendors return JSON for every format; the gateway then converts it. */
function transcriptIn(bytes: Buffer, plain: boolean, { failure }: StartedResponse): Transcript | Verbatim<Transcript> {
  const value = readObject(bytes) as { error?: unknown; text?: unknown }
  if (value.error) throw failure(value.error)
  if (typeof value.text !== 'string') throw unreadable("the vendor's response has no text")
  return plain ? (value as Transcript) : new Verbatim(value as Transcript, bytes)
}
