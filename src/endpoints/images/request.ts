/** Validation of image requests. Source of the fields: OpenAI's CreateImageRequest. */
import * as z from 'zod'
import type { ImageRequest } from '../../wire/images.ts'
import { jsonReader, type ReadOrder } from '../json-reader.ts'
import { lazy } from '../../records/lazy.ts'

/** The fields that generations and edits have in common. */
export const imageFields: () => Readonly<Record<string, z.ZodType>> = lazy(() => ({
  model: z.string().min(1),
  prompt: z.string().min(1),
  n: z.int().min(1).nullish(),
  size: z.string().nullish(),
  quality: z.string().nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
  output_format: z.string().nullish(),
  output_compression: z.int().min(0).max(100).nullish(),
  background: z.string().nullish(),
  stream: z.boolean().nullish(),
  partial_images: z.int().min(0).max(3).nullish(),
  user: z.string().nullish(),
}))

const schema = lazy(() =>
  z.looseObject({ ...imageFields(), moderation: z.string().nullish(), style: z.string().nullish() }),
)

/** Reads and validates an image generation. */
export const readGeneration: ReadOrder<ImageRequest> = jsonReader(schema)
