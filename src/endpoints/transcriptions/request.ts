/**
 * Validation of transcription requests, which are always forms. Source of the fields: OpenAI's
 * CreateTranscriptionRequest.
 */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Sizes } from '../../http/sizes.ts'
import { readForm } from '../../http/upload.ts'
import type { UploadedForm } from '../../http/uploaded-form.ts'
import type { TranscriptionRequest } from '../../wire/transcriptions.ts'
import { verify } from '../check.ts'
import type { Order } from '../endpoint.ts'
import { fieldsOf, formOrder, type FieldKinds } from '../form-order.ts'

const list = z.array(z.string()).optional()

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
  known_speaker_names: list,
  known_speaker_references: list,
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

/** Reads and validates a transcription request. */
export async function readTranscription(exchange: Exchange, sizes: Sizes): Promise<Order<TranscriptionRequest>> {
  // The model alone determines the routing; the cost is known only afterwards.
  const form = await readForm(exchange, sizes, { passOn: ({ fields }) => fields.has('model'), check: checkForm })
  return formOrder<TranscriptionRequest>(form, kinds)
}

function checkForm(form: UploadedForm, whole: boolean): void {
  verify(schema, fieldsOf(form, kinds))
  if (!whole) return
  const files = form.files.filter((name) => name === 'file').length
  if (files === 1) return
  if (files > 1) throw invalid('"file" must appear only once.', 'file')
  throw invalid(form.fields.has('file') ? '"file" must be a file.' : 'Missing required parameter: "file".', 'file')
}
