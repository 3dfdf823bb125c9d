/** Transcriptions, in each of the forms that vendors return: events, JSON or plain text. */
import { readBounded, readObject } from '../answer.ts'
import { isMediaType } from '../../http/media-type.ts'
import { Verbatim, type Call, type TranscriptAnswer } from '../contract.ts'
import { unreadable } from '../failure.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import { invalid } from '../../errors.ts'
import { amendForm } from '../../http/form.ts'
import type { Fields } from '../../wire/json.ts'
import type { Transcript, TranscriptEvent, TranscriptionRequest, TranscriptSegment } from '../../wire/transcriptions.ts'
import type { OpenAIOptions } from './options.ts'
import { transcriptionForm } from './transcription-form.ts'
import { readTyped } from './typed-events.ts'
import type { StartedResponse, Vendor } from './vendor.ts'

export async function transcribe(
  vendor: Vendor,
  call: Call<TranscriptionRequest>,
  path: '/audio/transcriptions' | '/audio/translations',
  { preset }: OpenAIOptions,
): Promise<TranscriptAnswer> {
  if (call.form === undefined) throw invalid('Missing required parameter: "file".', 'file')
  const form = amendForm(transcriptionForm(call.form, call, preset), countable)
  const started = await vendor.postForm(path, call, form)
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
  const { contentType } = started.transfer
  // No format is HTML: a proxy has answered.
  const isText = !isMediaType(contentType, 'application/json') && !isMediaType(contentType, 'text/html')
  if (plain && isText) return bytes.toString('utf8')
  const answer = transcriptIn(bytes, plain, started)
  return preset === 'mistral' ? namedAsOpenAI(answer, call.request) : answer
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
      yield { ...withSpeaker(rest), type: 'transcript.text.segment', text: words }
    } else if (type !== 'transcription.language') yield event
  }
}

/** Mistral has words in the place of segments if their times were requested. */
function namedAsOpenAI(answer: Transcript | Verbatim<Transcript>, request: TranscriptionRequest): Transcript {
  const { segments = [], ...rest } = answer instanceof Verbatim ? answer.value : answer
  const { response_format: format, timestamp_granularities: asked = [] } = request
  if (format === 'verbose_json' && asked.includes('word')) {
    return { ...rest, words: segments.map(({ text, start, end }) => ({ word: text.trim(), start, end })) }
  }
  return { ...rest, segments: segments.map((segment) => withSpeaker(segment) as unknown as TranscriptSegment) }
}

function withSpeaker(given: Fields): Fields {
  const { speaker_id: speaker, type: _, ...segment } = given
  return { ...segment, ...(typeof speaker === 'string' && { speaker }) }
}

/** Requests JSON instead of plain text, because only JSON has usage. The gateway converts it. */
function countable(name: string, value: string): string {
  return name === 'response_format' && value === 'text' ? 'json' : value
}

/** Some vendors return JSON for every format; the gateway then converts it. */
function transcriptIn(
  bytes: Buffer,
  plain: boolean,
  { failure, costs }: StartedResponse,
): Transcript | Verbatim<Transcript> {
  const value = readObject(bytes) as { error?: unknown; text?: unknown }
  if (value.error) throw failure(value.error)
  if (typeof value.text !== 'string') throw unreadable("the vendor's response has no text")
  const shown = withoutOwnCosts(value as Transcript, costs)
  return plain || shown !== value ? shown : new Verbatim(shown, bytes)
}
