/**
 * Validation of image edits: a form with files, or JSON with references. Source of the fields: OpenAI's
 * CreateImageEditRequest and EditImageBodyJsonParam.
 */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Sizes } from '../../http/sizes.ts'
import { isForm, readForm } from '../../http/upload.ts'
import type { UploadedForm } from '../../http/uploaded-form.ts'
import type { ImageEditRequest } from '../../wire/images.ts'
import { check, verify } from '../check.ts'
import type { Order } from '../endpoint.ts'
import { fieldsOf, formOrder, type FieldKinds } from '../form-order.ts'
import { jsonOrder } from '../order.ts'
import { imageFields } from './request.ts'

const formSchema = z.looseObject({ ...imageFields, input_fidelity: z.string().nullish() })

const reference = z
  .looseObject({ image_url: z.string().min(1).optional(), file_id: z.string().min(1).optional() })
  .refine(
    ({ image_url: url, file_id: id }) => (url === undefined) !== (id === undefined),
    'must have either "image_url" or "file_id"',
  )

const jsonSchema = formSchema.extend({ images: z.array(reference).min(1).max(16), mask: reference.nullish() })

const kinds: FieldKinds = {
  n: 'number',
  output_compression: 'number',
  partial_images: 'number',
  stream: 'boolean',
}

/** The fields that determine routing and cost. A form with all of them before its files need not be kept. */
const routingFields = ['model', 'prompt', 'n', 'size', 'quality']

/** Reads and validates an image edit. */
export async function readEdit(exchange: Exchange, sizes: Sizes): Promise<Order<ImageEditRequest>> {
  if (!isForm(exchange)) {
    const body = await readJson(exchange, sizes)
    check(jsonSchema, body)
    return jsonOrder<ImageEditRequest>(body)
  }
  const form = await readForm(exchange, sizes, {
    passOn: ({ fields }) => routingFields.every((name) => fields.has(name)),
    check: checkForm,
  })
  return formOrder<ImageEditRequest>(form, kinds)
}

function checkForm(form: UploadedForm, whole: boolean): void {
  verify(formSchema, fieldsOf(form, kinds))
  if (!whole) return
  const images = form.files.filter((name) => /^image(?:\[\d*\])?$/.test(name))
  if (images.length > 16) throw invalid('"image" must have at most 16 files.', 'image')
  if (images.length > 0) return
  const asText = form.fields.has('image') || form.fields.has('image[]')
  throw invalid(asText ? '"image" must be a file.' : 'Missing required parameter: "image".', 'image')
}
