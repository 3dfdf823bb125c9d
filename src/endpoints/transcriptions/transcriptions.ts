/**
 * Transcriptions and translations, whose requests are always forms. Source of the fields: OpenAI's CreateTranscriptionRequest and
 * CreateTranslationRequest.
 */
import * as z from 'zod'
import { refusedValue, invalid } from '../../errors.ts'
import { dataFrame } from '../../http/sse.ts'
import type { Provider } from '../../providers/contract.ts'
import type { TranscriptionRequest } from '../../wire/transcriptions.ts'
import { defineEndpoint, type EndpointDefinition } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { overlaid } from '../order.ts'
import { openTranscript, transcriptFrames, transcriptReply, type OpenTranscript } from './answer.ts'
import { Recording } from './recording.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Sizes } from '../../http/sizes.ts'
import { readForm } from '../../http/upload.ts'
import type { UploadedForm } from '../../http/uploaded-form.ts'
import { verify } from '../check.ts'
import type { ReadOrder } from '../json-reader.ts'
import { fieldsOf, formOrder, type FieldKinds } from '../form-order.ts'
import { lazy } from '../../records/lazy.ts'

const list = lazy(() => z.array(z.string()).optional())
const speakers = lazy(() => z.array(z.string()).max(4).optional())

const schema = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    language: z.string().optional(),
    languages: list(),
    keywords: list(),
    prompt: z.string().optional(),
    response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']).optional(),
    temperature: z.number().min(0).max(1).optional(),
    include: list(),
    timestamp_granularities: z.array(z.enum(['word', 'segment'])).optional(),
    stream: z.boolean().optional(),
    known_speaker_names: speakers(),
    known_speaker_references: speakers(),
  }),
)

const kinds: FieldKinds = {
  languages: 'list',
  keywords: 'list',
  temperature: 'number',
  include: 'list',
  timestamp_granularities: 'list',
  stream: 'boolean',
  known_speaker_names: 'list',
  known_speaker_references: 'list',
}

const translationSchema = lazy(() =>
  z.looseObject({
    ...schema().pick({ model: true, prompt: true, temperature: true }).shape,
    response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt']).optional(),
  }),
)

const translationKinds: FieldKinds = { temperature: 'number' }

/** Reads and validates a transcription request. */
const readTranscription: ReadOrder<TranscriptionRequest> = (exchange, sizes) => read(exchange, sizes, schema(), kinds)

/** Reads and validates a translation request. */
const readTranslation: ReadOrder<TranscriptionRequest> = (exchange, sizes) =>
  read(exchange, sizes, translationSchema(), translationKinds)

async function read(exchange: Exchange, sizes: Sizes, fields: z.ZodType, types: FieldKinds) {
  // The model alone determines the routing; the cost is known only afterwards.
  const form = await readForm(exchange, sizes, {
    passOn: (arrived) => arrived.fields.has('model'),
    check(arrived, whole) {
      verify(fields, fieldsOf(arrived, types))
      if (whole) checkFile(arrived)
    },
  })
  return formOrder<TranscriptionRequest>(form, types)
}

function checkFile(form: UploadedForm): void {
  const files = form.files.filter((name) => name === 'file').length
  if (files === 1) return
  if (files > 1) throw invalid('"file" must appear only once.', 'file')
  throw invalid(form.fields.has('file') ? '"file" must be a file.' : 'Missing required parameter: "file".', 'file')
}

type Definition = EndpointDefinition<TranscriptionRequest, OpenTranscript>

/** `POST /v1/audio/transcriptions`. */
export const transcriptions: CallEndpoint<TranscriptionRequest, OpenTranscript> = defineEndpoint({
  ...listening('transcribe', 'This model cannot transcribe.'),
  path: '/v1/audio/transcriptions',
  name: 'audio.transcriptions',
  read: readTranscription,
  texts: ['prompt', 'keywords', 'known_speaker_names'],
  whole: (answer, context) => transcriptReply(answer, context, 'transcribe'),
  frames: transcriptFrames,
  idle: () => dataFrame({ type: 'transcript.text.delta', delta: '' }),
})

/** `POST /v1/audio/translations`: what is said, in English. */
export const translations: CallEndpoint<TranscriptionRequest, OpenTranscript> = defineEndpoint({
  ...listening('translateSpeech', 'This model cannot translate speech.'),
  path: '/v1/audio/translations',
  name: 'audio.translations',
  read: readTranslation,
  texts: ['prompt'],
  whole: (answer, context) => transcriptReply(answer, context, 'translate'),
})

/** What both endpoints have in common. `message`: of the refusal of a model that lacks the method. */
function listening(method: keyof Pick<Provider, 'transcribe' | 'translateSpeech'>, message: string) {
  return {
    method: 'POST',
    makes: 'transcripts',
    async fit(order, model) {
      // A form that is passed on as it arrives could not be sent to a second deployment.
      if (model.deployments.length > 1) await order.form?.keep()
    },
    async ask(provider, call, context) {
      const recording = new Recording()
      const answer = provider[method]?.(overlaid(call, { form: call.form && recording.tap(call.form) }))
      if (answer !== undefined) return openTranscript(await answer, context, recording)
      throw refusedValue(message, 'model')
    },
    discard(answer) {
      if (answer.kind === 'stream') answer.pieces.stop()
    },
  } satisfies Partial<Definition>
}
