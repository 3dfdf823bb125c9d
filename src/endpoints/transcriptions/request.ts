/**
 * Validation of transcription and translation requests, which are always forms. Source of the fields: OpenAI's
 * CreateTranscriptionRequest and CreateTranslationRequest.
 */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Sizes } from '../../http/sizes.ts'
import { readForm } from '../../http/upload.ts'
import type { UploadedForm } from '../../http/uploaded-form.ts'
import type { TranscriptionRequest } from '../../wire/transcriptions.ts'
import { verify } from '../check.ts'
import type { ReadOrder } from '../json-reader.ts'
import { fieldsOf, formOrder, type FieldKinds } from '../form-order.ts'

const list = z.array(z.string()).optional()
const speakers = z.array(z.string()).max(4).optional()

const schema = z.looseObject({
  model: z.string().min(1),
  language: z.string().optional(),
  languages: list,
  keywords: list,
  prompt: z.string().optional(),
  response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']).optional(),
  temperature: z.number().min(0).max(1).optional(),
  include: list,
  timestamp_granularities: z.array(z.enum(['word', 'segment'])).optional(),
  stream: z.boolean().optional(),
  known_speaker_names: speakers,
  known_speaker_references: speakers,
})

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

const translationSchema = z.looseObject({
  ...schema.pick({ model: true, prompt: true, temperature: true }).shape,
  response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt']).optional(),
})

const translationKinds: FieldKinds = { temperature: 'number' }

/** Reads and validates a transcription request. */
export const readTranscription: ReadOrder<TranscriptionRequest> = (exchange, sizes) =>
  read(exchange, sizes, schema, kinds)

/** Reads and validates a translation request. */
export const readTranslation: ReadOrder<TranscriptionRequest> = (exchange, sizes) =>
  read(exchange, sizes, translationSchema, translationKinds)

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
