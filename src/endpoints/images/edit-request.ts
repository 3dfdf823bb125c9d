/**
 * Validation of image edits, a form with files or JSON with references, and of variations, a form with a file. Source of the
 * fields: OpenAI's CreateImageEditRequest, EditImageBodyJsonParam and CreateImageVariationRequest.
 */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Sizes } from '../../http/sizes.ts'
import { isForm, readForm } from '../../http/upload.ts'
import type { UploadedForm } from '../../http/uploaded-form.ts'
import type { ImageEditRequest, ImageVariationRequest } from '../../wire/images.ts'
import { verify } from '../check.ts'
import type { Order } from '../endpoint.ts'
import { fieldsOf, formOrder, type FieldKinds } from '../form-order.ts'
import { jsonReader, type ReadOrder } from '../json-reader.ts'
import { imageFields } from './request.ts'
import { lazy } from '../../records/lazy.ts'

const formSchema = lazy(() => z.looseObject({ ...imageFields(), input_fidelity: z.string().nullish() }))

const reference = lazy(() =>
  z
    .looseObject({ image_url: z.string().min(1).optional(), file_id: z.string().min(1).optional() })
    .refine(
      ({ image_url: url, file_id: id }) => (url === undefined) !== (id === undefined),
      'must have either "image_url" or "file_id"',
    ),
)

const jsonSchema = lazy(() =>
  formSchema().extend({ images: z.array(reference()).min(1).max(16), mask: reference().nullish() }),
)

const kinds: FieldKinds = {
  n: 'number',
  output_compression: 'number',
  partial_images: 'number',
  stream: 'boolean',
}

interface ImageForm {
  readonly schema: () => z.ZodType
  readonly kinds: FieldKinds
  /** The fields that determine routing and cost. A form with all of them before its files need not be kept. */
  readonly routing: readonly string[]
  readonly maxImages: number
}

const edit: ImageForm = {
  schema: formSchema,
  kinds,
  routing: ['model', 'prompt', 'n', 'size', 'quality'],
  maxImages: 16,
}

const variation: ImageForm = {
  schema: lazy(() => {
    const { model, n, size, response_format: format, user } = imageFields()
    return z.looseObject({ model, n, size, response_format: format, user } as Record<string, z.ZodType>)
  }),
  kinds: { n: 'number' },
  routing: ['model', 'n', 'size'],
  maxImages: 1,
}

const readReferences: ReadOrder<ImageEditRequest> = jsonReader(jsonSchema)

/** Reads and validates an image edit. */
export const readEdit: ReadOrder<ImageEditRequest> = (exchange, sizes) =>
  isForm(exchange) ? readImageForm(exchange, sizes, edit) : readReferences(exchange, sizes)

/** Reads and validates a request for variations of an image. */
export const readVariation: ReadOrder<ImageVariationRequest> = (exchange, sizes) =>
  readImageForm(exchange, sizes, variation)

async function readImageForm<Request>(exchange: Exchange, sizes: Sizes, rules: ImageForm): Promise<Order<Request>> {
  const form = await readForm(exchange, sizes, {
    passOn: ({ fields }) => rules.routing.every((name) => fields.has(name)),
    check: (arrived, whole) => checkForm(arrived, whole, rules),
  })
  return formOrder<Request>(form, rules.kinds)
}

function checkForm(form: UploadedForm, whole: boolean, { schema, kinds: types, maxImages }: ImageForm): void {
  verify(schema(), fieldsOf(form, types))
  if (!whole) return
  const images = form.files.filter((name) => /^image(?:\[\d*\])?$/.test(name))
  if (images.length > maxImages) {
    throw invalid(`"image" must have at most ${maxImages} ${maxImages === 1 ? 'file' : 'files'}.`, 'image')
  }
  if (images.length > 0) return
  const asText = form.fields.has('image') || form.fields.has('image[]')
  throw invalid(asText ? '"image" must be a file.' : 'Missing required parameter: "image".', 'image')
}
