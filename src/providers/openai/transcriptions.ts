/** Transcriptions, in whatever form the vendor gives them. */
import { readBounded, readObject } from '../answer.ts'
import { isMediaType } from '../client.ts'
import { Verbatim, type Call, type TranscriptAnswer } from '../contract.ts'
import { retrySame } from '../failure.ts'
import { invalid } from '../../errors.ts'
import { amendForm } from '../../http/form.ts'
import type { Transcript, TranscriptEvent, TranscriptionRequest } from '../../wire/transcriptions.ts'
import { readTyped } from './typed-events.ts'
import type { Begun, Vendor } from './vendor.ts'

export async function transcribe(vendor: Vendor, call: Call<TranscriptionRequest>): Promise<TranscriptAnswer> {
  if (call.form === undefined) throw invalid('Missing required parameter: "file".', 'file')
  const begun = await vendor.postForm('/audio/transcriptions', call, amendForm(call.form, countable))
  const maxBytes = vendor.client.answerBytes
  if (isMediaType(begun.transfer.contentType, 'text/event-stream')) {
    return renamed(
      readTyped<TranscriptEvent>(begun, maxBytes, ({ type }) => /^transcript(?:\.text|ion)\.done$/.test(type)),
    )
  }
  // Only now is all of the form known.
  const { response_format: format = 'json' } = call.request
  const bytes = await readBounded(begun.transfer, maxBytes)
  const plain = format === 'text' || format === 'srt' || format === 'vtt'
  if (plain && !isMediaType(begun.transfer.contentType, 'application/json')) return bytes.toString('utf8')
  return transcriptIn(bytes, plain, begun)
}

/** Mistral has other names for the same events. */
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

/** Plain text says nothing of what it cost. It is made of JSON here, which does. */
function countable(name: string, value: string): string {
  return name === 'response_format' && value === 'text' ? 'json' : value
}

/** Some vendors answer with JSON whatever was asked for: then the gateway makes the format of it. */
function transcriptIn(bytes: Buffer, plain: boolean, { failure }: Begun): Transcript | Verbatim<Transcript> {
  const value = readObject(bytes) as { error?: unknown; text?: unknown }
  if (value.error) throw failure(value.error)
  if (typeof value.text !== 'string') throw retrySame(new Error('the vendor answered without a text'))
  return plain ? (value as Transcript) : new Verbatim(value as Transcript, bytes)
}
